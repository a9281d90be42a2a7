"""A stopped database, an idle one and a broken connector, told apart on the real chain.

Heartbeats are the sensor's own, at a time that the test gives: an hour passes in a second.
"""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.components.availability import MARIADB, require
from tidemark.capture.commits.commit_state import commits
from tidemark.capture.heartbeat.errors import DatabaseDownError
from tidemark.capture.heartbeat.idle_or_broken import Health
from tidemark.capture.heartbeat.newest_heartbeats import NewestBeats
from tidemark.capture.heartbeat.source_databases import HeartbeatDatabase
from tidemark.capture.heartbeat.writer import write_heartbeats
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.operations.table_status import Around, table_status
from tidemark.capture.source.kafka.intake import KafkaIntake
from tidemark.capture.source_table import SourceTable, topic_of
from tidemark.console.servers.jars import jars
from tidemark.console.servers.kafka_connect import Connect, connect
from tidemark.console.servers.mariadb import USER, MariaDb, mariadb
from tidemark.delta.delta_rs_table import read_rows
from tidemark.state_store.database import Database
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.free_port import LOOPBACK
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.capture.heartbeat.idle_or_broken import Diagnosis
    from tidemark.capture.operations.ingestion_report import IngestReport
    from tidemark.console.servers.kafka import Kafka

pytestmark = [pytest.mark.spark, pytest.mark.components, pytest.mark.long]

BUSY, QUIET = "busy", "quiet"
ORDERS = SourceTable(
    "ods_orders", "health.orders", (BUSY, QUIET), ("id",), None, (("ods_orders", "hour", "2026-03-23T10"),)
)
SECONDS = 300.0


def at(time_of_day: str) -> datetime:
    return datetime.fromisoformat(f"2026-03-23T{time_of_day}:00+00:00")


@dataclass
class World:
    servers: dict[str, MariaDb]
    connect: Connect
    ingestion: Ingestion
    settings: Settings
    registry: SnapshotRegistry
    written: int = 0
    problems: dict[str, Any] = field(default_factory=dict)

    def change(self, instance: str, when: str) -> None:
        self.written += 1
        with self.servers[instance].connect("health") as session, session.cursor() as cursor:
            cursor.execute(f"SET TIMESTAMP = {at(when).timestamp():.0f}")
            cursor.execute("INSERT INTO orders VALUES (%s)", (self.written,))

    def beat(self, start: str, end: str) -> None:
        """Every five minutes up to and with `end`, on all instances; what the last one's problems were is kept."""
        now = at(start)
        addresses = [
            HeartbeatDatabase(name, LOOPBACK, server.port, "health", USER, server.password)
            for name, server in self.servers.items()
        ]
        while now <= at(end):
            self.problems = {written.instance: written.problem for written in write_heartbeats(addresses, now)}
            now += timedelta(minutes=5)

    def take_in(self, holds: Callable[[IngestReport], bool]) -> IngestReport:
        deadline = time.monotonic() + SECONDS
        while True:
            report = self.ingestion.step()
            if holds(report):
                return report
            assert time.monotonic() < deadline, report

    def take_in_until(self, key: str) -> None:
        """Until that hour is tagged."""
        self.take_in(lambda _: self.registry.get("ods_orders", "hour", key) is not None)

    def halted(self, until: str) -> str:
        """Take in all that the busy instance has up to then; what the report says of the snapshot that waits."""
        self.take_in(lambda _: self._newest(BUSY) >= at(until))
        (waiting,) = self.ingestion.step().waiting
        return str(waiting)

    def diagnosis(self, instance: str, now: str) -> Diagnosis:
        around = Around({}, (), at(now), NewestBeats(Database.of(self.settings)).read())
        status = table_status(ORDERS, commits(self.settings.warehouse / "ods_orders"), around)
        return status.streams[instance].diagnosis

    def rows(self, key: str) -> list[int]:
        tagged = self.registry.get("ods_orders", "hour", key)
        assert tagged is not None
        ids: list[int] = read_rows(self.settings.warehouse / "ods_orders", tagged.version)["id"].to_pylist()
        return sorted(ids)

    def _newest(self, instance: str) -> datetime:
        """The newest event of an instance that the table has."""
        newest = next(commits(self.settings.warehouse / "ods_orders")).state.watermarks[f"{instance}.health.orders"]
        return datetime.fromtimestamp(newest / 1000, UTC)


@contextmanager
def start_world(spark: SparkSession, kafka: Kafka, folder: Path) -> Iterator[World]:
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(mariadb(name, number, folder / name))
            for number, name in enumerate((BUSY, QUIET), 31)
        }
        for server in servers.values():
            with server.connect() as session, session.cursor() as cursor:
                cursor.execute(f"SET TIMESTAMP = {at('09:00').timestamp():.0f}")
                cursor.execute("CREATE DATABASE health")
                cursor.execute("CREATE TABLE health.orders (id BIGINT PRIMARY KEY)")
                # Made here, as the writer would make it at the real time.
                cursor.execute("CREATE TABLE health.heartbeat (id INT PRIMARY KEY, beat_at TIMESTAMP(3) NULL)")
        captured = connect(jars(), kafka, list(servers.values()), "health", folder / "connect")
        worker = stack.enter_context(captured)
        settings = Settings.at(folder / "data", kafka=kafka.bootstrap_servers, time_zone="UTC")
        registry = SnapshotRegistry.at(settings.state_db)
        ingestion = Ingestion(spark, settings, [ORDERS], registry, KafkaIntake.of(settings))
        yield World(servers, worker, ingestion, settings, registry)


def test_idle_is_tagged_on_time_and_broken_or_stopped_is_held(
    spark: SparkSession, kafka_server: Kafka, tmp_path: Path
) -> None:
    require(MARIADB)
    with start_world(spark, kafka_server, tmp_path) as world:
        idle_is_tagged(world)
        broken_connector_is_held(world)
        stopped_database_is_held(world)


def idle_is_tagged(world: World) -> None:
    """Nothing but heartbeats comes of the quiet one."""
    world.beat("10:00", "10:00")
    world.change(QUIET, "10:01")
    world.beat("10:05", "10:55")
    world.change(BUSY, "10:58")
    world.beat("11:00", "11:00")
    world.take_in_until("2026-03-23T10")
    assert world.rows("2026-03-23T10") == [1, 2]
    assert world.diagnosis(BUSY, "11:01").health is Health.LIVE
    quiet = world.diagnosis(QUIET, "11:01")
    assert (quiet.health, quiet.since) == (Health.IDLE, at("10:01"))


def broken_connector_is_held(world: World) -> None:
    """The database takes heartbeats, and nothing of them arrives."""
    connector = topic_of(QUIET)
    world.connect.ask("PUT", f"{connector}/stop")
    world.connect.wait_until("STOPPED", connector)
    world.beat("11:05", "11:30")
    world.change(QUIET, "11:31")
    world.beat("11:35", "11:55")
    world.change(BUSY, "11:58")
    world.beat("12:00", "12:05")
    said = world.halted("11:58")
    assert "instance quiet is at 2026-03-23 11:00:00" in said
    assert "busy" not in said
    quiet = world.diagnosis(QUIET, "12:05")
    assert (quiet.health, quiet.since) == (Health.BROKEN, at("11:00"))
    assert "the last heartbeat of quiet is 65 min old (2026-03-23 11:00:00+00:00)" in quiet.reason
    assert world.diagnosis(BUSY, "12:05").health is Health.LIVE
    # That the connector is to blame: the heartbeats themselves were written.
    assert world.problems == {BUSY: None, QUIET: None}
    world.connect.ask("PUT", f"{connector}/resume")
    world.take_in_until("2026-03-23T11")
    assert world.rows("2026-03-23T11") == [1, 2, 3, 4]


def stopped_database_is_held(world: World) -> None:
    """The database takes no heartbeats."""
    world.servers[QUIET].server.stop()
    world.beat("12:10", "12:55")
    world.change(BUSY, "12:58")
    world.beat("13:00", "13:20")
    said = world.halted("12:58")
    assert "instance quiet is at 2026-03-23 12:05:00" in said
    # The busy one waits at 13:00 for the other, and is none the less alive.
    busy, quiet = (world.diagnosis(name, "13:20") for name in (BUSY, QUIET))
    assert (busy.health, busy.since) == (Health.IDLE, at("12:58"))
    assert (quiet.health, quiet.since) == (Health.BROKEN, at("12:05"))
    assert isinstance(world.problems[QUIET], DatabaseDownError)
    assert world.problems[BUSY] is None
    world.servers[QUIET].start_again()
    world.connect.wait_until("RUNNING")
    world.beat("13:25", "13:25")
    world.take_in_until("2026-03-23T12")
    assert world.rows("2026-03-23T12") == [1, 2, 3, 4, 5]
