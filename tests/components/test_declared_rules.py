"""What a declaration says, on the real chain: zones, keys, starts, and a TRUNCATE as a record of its own."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from textwrap import dedent
from typing import TYPE_CHECKING, Final

import pytest

from tests.capture.distribution.reading import messages_of
from tests.components.availability import MARIADB, require
from tests.components.chain.story_clock import CLOCK, DATED, LOADER, clock
from tests.components.chain.tables import DATABASE
from tests.lake_folder import lake_folder
from tidemark.capture.heartbeat.source_databases import HeartbeatDatabase
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.operations.preflight.database import database
from tidemark.capture.source.kafka.intake import KafkaIntake
from tidemark.capture.source_table import topic_of
from tidemark.console.servers.jars import jars
from tidemark.console.servers.kafka_connect import connect
from tidemark.console.servers.mariadb import MariaDb, mariadb
from tidemark.delta.delta_rs_table import read_rows
from tidemark.errors import TidemarkError
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.free_port import LOOPBACK
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.capture.source_table import SourceTable
    from tidemark.console.servers.kafka import Kafka

pytestmark = [pytest.mark.spark, pytest.mark.components, pytest.mark.long]

SECONDS: Final = 300.0
INSTANCE: Final = "rules"
DECLARED: Final = {
    "ods_orders": "kind: Snapshot\nperiod: day\nstart: '2026-03-23'\nkey: [id]\n"
    f"source: {{table: {DATABASE}.orders, instances: [{INSTANCE}], start: now}}\n",
    "ods_orders_tokyo": "kind: Snapshot\nperiod: day\nstart: '2026-03-23'\ntime_zone: Asia/Tokyo\n"
    "snapshot_of: ods_orders\n",
    "ods_emptied": "kind: Snapshot\nperiod: day\nstart: '2026-03-23'\nkey: [id]\n"
    f"source: {{table: {DATABASE}.emptied, instances: [{INSTANCE}], start: now}}\n",
    "ods_lessons": "kind: Snapshot\nperiod: day\nstart: '2026-03-23'\nkey: [lesson_id]\n"
    f"source: {{table: {DATABASE}.lessons, instances: [{INSTANCE}]}}\n",
}
MADE: Final = (
    "CREATE TABLE heartbeat (id INT PRIMARY KEY, beat_at TIMESTAMP(3) NULL)",
    "CREATE TABLE orders (id BIGINT PRIMARY KEY)",
    "CREATE TABLE emptied (id BIGINT PRIMARY KEY)",
    "CREATE TABLE lessons (lesson_id BIGINT, user_id BIGINT, PRIMARY KEY (lesson_id, user_id))",
    "INSERT INTO orders VALUES (1), (2)",
    "INSERT INTO emptied VALUES (1), (2), (3)",
)


@dataclass
class RulesWorld:
    """One instance with rows that no binlog has any more, and the capture of what is declared."""

    server: MariaDb
    spark: SparkSession
    settings: Settings
    sources: tuple[SourceTable, ...]
    registry: SnapshotRegistry

    def execute(self, when: str, *statements: str) -> None:
        seconds = int(datetime.fromisoformat(f"{when}:00+00:00").timestamp())
        with self.server.connect(DATABASE) as session, session.cursor() as cursor:
            dated = (f"REPLACE INTO {CLOCK} VALUES (1, {seconds})", f"SET TIMESTAMP = {seconds}")  # noqa: S608 - a number
            for statement in (*dated, *statements):
                cursor.execute(statement)

    def beat(self, when: str) -> None:
        self.execute(when, f"REPLACE INTO heartbeat VALUES (1, '{when}:00')")  # noqa: S608 - a time

    def step_until(self, holds: Callable[[], bool]) -> set[str]:
        """What stopped meanwhile."""
        problems: set[str] = set()
        deadline = time.monotonic() + SECONDS
        while not holds():
            assert time.monotonic() < deadline, problems
            intake = KafkaIntake.of(self.settings)
            try:
                Ingestion(self.spark, self.settings, self.sources, self.registry, intake).step()
            except TidemarkError as problem:
                problems.add(f"{type(problem).__name__} {problem.where}")
        return problems

    def rows(self, table: str, version: int | None = None) -> list[int]:
        return sorted(read_rows(self.settings.warehouse / table, version)["id"].to_pylist())

    def tagged(self, entity: str, table: str) -> list[int] | None:
        tag = self.registry.get(entity, "day", "2026-03-23")
        return None if tag is None else self.rows(table, tag.version)

    def has(self, table: str, *ids: int) -> bool:
        return lake_folder(self.settings.warehouse / table).exists() and self.rows(table) == [*ids]


@pytest.fixture
def world(spark: SparkSession, kafka_server: Kafka, tmp_path: Path) -> Iterator[RulesWorld]:
    require(MARIADB)
    with ExitStack() as stack:
        server = stack.enter_context(mariadb(INSTANCE, 43, tmp_path / INSTANCE, DATED))
        address = f"{INSTANCE}=mysql://{LOADER}:{server.password}@{LOOPBACK}:{server.port}/{DATABASE}"
        kafka = kafka_server.bootstrap_servers
        settings = Settings.at(tmp_path / "data", kafka=kafka, time_zone="UTC", databases=address)
        declared = tmp_path / "declared" / "ods"
        declared.mkdir(parents=True)
        for name, text in DECLARED.items():
            (declared / f"{name}.yaml").write_text(dedent(text))
        sources = load_warehouse(settings, declared.parent).source_tables()
        registry = SnapshotRegistry.at(settings.state_db)
        made = RulesWorld(server, spark, settings, sources, registry)
        begun = int(datetime(2026, 3, 23, 9, tzinfo=UTC).timestamp())
        with server.connect() as session, session.cursor() as cursor:
            for statement in (f"CREATE DATABASE {DATABASE}", f"USE {DATABASE}", f"SET TIMESTAMP = {begun}"):
                cursor.execute(statement)
            for statement in (*clock(begun, server.password), *MADE, "FLUSH BINARY LOGS"):
                cursor.execute(statement)
            cursor.execute(f"PURGE BINARY LOGS TO '{server.binlogs()[-1].name}'")
        stack.enter_context(
            connect(jars(), kafka_server, [server], DATABASE, tmp_path / "connect", snapshot_mode="no_data")
        )
        yield made


def test_zones_keys_starts_and_truncates_are_as_declared(world: RulesWorld) -> None:
    world.beat("2026-03-23 10:00")
    problems = world.step_until(lambda: world.has("ods_orders", 1, 2) and world.has("ods_emptied", 1, 2, 3))
    # Of three users of one lesson one row would be left.
    assert problems == {f"DeclaredKeyError {DATABASE}.lessons"}
    assert not lake_folder(world.settings.warehouse / "ods_lessons").exists()
    address = HeartbeatDatabase(INSTANCE, LOOPBACK, world.server.port, DATABASE, LOADER, world.server.password)
    refused = [entry.subject for entry in database(address, world.sources) if entry.is_in_the_way]
    assert f"table {INSTANCE}.{DATABASE}.lessons" in refused

    world.execute("2026-03-23 14:00", "INSERT INTO orders VALUES (3)")
    world.beat("2026-03-23 15:01")
    world.execute("2026-03-23 16:00", "INSERT INTO orders VALUES (4)", "TRUNCATE TABLE emptied")
    world.execute("2026-03-23 16:30", "INSERT INTO emptied VALUES (9)")
    world.beat("2026-03-24 00:01")
    world.step_until(
        lambda: (
            world.tagged("ods_emptied", "ods_emptied") is not None
            and world.tagged("ods_orders", "ods_orders") is not None
        )
    )
    # The day ends at 15:00 UTC in Tokyo.
    assert world.tagged("ods_orders_tokyo", "ods_orders") == [1, 2, 3]
    assert world.tagged("ods_orders", "ods_orders") == [1, 2, 3, 4]
    assert world.tagged("ods_emptied", "ods_emptied") == [9]
    sent = [message.value() or b"" for message in messages_of(world.settings.kafka, topic_of(INSTANCE), 1)]
    assert any(b'"op":"t"' in value for value in sent)
