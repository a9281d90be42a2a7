"""The audit beside a capture: what was planted is found, held and released; what only flows is never called wrong."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import CommitProperties, write_deltalake

from tests.capture.streams import Stream
from tests.lake_folder import table_of_others
from tidemark.capture.audit.audit import SourceAudit
from tidemark.capture.audit.findings import AuditFindings
from tidemark.capture.audit.pace import AuditPace
from tidemark.capture.audit.row_comparison import DifferenceKind
from tidemark.capture.audit.source_mark import SourceMark
from tidemark.capture.audit.source_reader import GroupReading, RowReading, SourceReader
from tidemark.capture.binlog.finding import FindingKind
from tidemark.capture.commits.commit_state import last_commit
from tidemark.capture.heartbeat.source_databases import HeartbeatDatabase
from tidemark.capture.initial_load.reload_requests import ReloadRequest, ReloadRequests
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.source.file_intake import FileIntake
from tidemark.capture.source_table import SourceTable
from tidemark.console.servers.mariadb import USER
from tidemark.delta.delta_rs_table import read_rows
from tidemark.state_store.database import Database
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.free_port import LOOPBACK
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.capture.audit.audited_range import Patch
    from tidemark.capture.audit.compared_shard import ComparedShard
    from tidemark.capture.audit.cycle_run import CycleReport
    from tidemark.console.servers.mariadb import MariaDb

pytestmark = [pytest.mark.spark, pytest.mark.components]

COLUMNS = {"order_id": "BIGINT", "amount": "DECIMAL", "note": "VARCHAR"}
SHARDS, ROWS = ("orders_0", "orders_1"), 200
YESTERDAY = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()
SOURCE = SourceTable("ods_orders", "school.orders_*", ("a",), ("order_id",), None, (("ods_orders", "day", YESTERDAY),))


class ByTime(SourceReader):
    """The server's log is not the one that the capture of these tests reads."""

    asked: list[Patch]
    """The patches whose rows were read."""
    was_read: threading.Event
    """Set by each look at the source, which waits for capture from then on."""

    def groups(self, patch: Patch, shard: ComparedShard) -> GroupReading:
        reading = super().groups(patch, shard)
        self.was_read.set()
        return reading._replace(mark=SourceMark(reading.mark.at_ms))

    def rows(self, patch: Patch, shard: ComparedShard) -> RowReading:
        self.asked.append(patch)
        reading = super().rows(patch, shard)
        self.was_read.set()
        return reading._replace(mark=SourceMark(reading.mark.at_ms))


class AuditWorld:
    """A database whose changes are recorded at once, their capture, and an audit of both."""

    def __init__(self, spark: SparkSession, server: MariaDb, folder: Path) -> None:
        self.settings, self.stream = Settings.at(folder / "data"), Stream("a")
        self._spark, self._lock, self._landed = spark, threading.Lock(), 0
        self._sql = server.connect("school").cursor()
        self._registry = SnapshotRegistry.at(self.settings.state_db)
        self.ingestion = Ingestion(spark, self.settings, [SOURCE], self._registry)
        address = HeartbeatDatabase("a", LOOPBACK, server.port, "school", USER, server.password)
        self.reader = ByTime(address)
        self.reader.asked, self.reader.was_read = [], threading.Event()
        for shard in SHARDS:
            self.stream.declare(shard, COLUMNS, datetime.now(UTC))
            for key in range(ROWS):
                self.put(shard, key, "1.00", f"note {key}")

    def put(self, shard: str, key: int, amount: str, note: str) -> None:
        """One row, in the database and in the record of its changes."""
        with self._lock:
            self._sql.execute(f"SELECT amount, note FROM {shard} WHERE order_id = {key}")  # noqa: S608 - a number
            before = self._sql.fetchone()
            self._sql.execute(f"REPLACE INTO {shard} VALUES (%s, %s, %s)", (key, amount, note))  # noqa: S608 - our name
            old = None if before is None else {"order_id": key, "amount": str(before[0]), "note": before[1]}
            row = {"order_id": key, "amount": amount, "note": note}
            self.stream.change(shard, old, row, datetime.now(UTC))

    def delete(self, shard: str, key: int) -> None:
        with self._lock:
            if self._sql.execute(f"DELETE FROM {shard} WHERE order_id = {key}"):  # noqa: S608 - a number
                self.stream.change(shard, {"order_id": key, "amount": "1.00", "note": ""}, None, datetime.now(UTC))

    def step(self) -> None:
        """A heartbeat, and one step of the capture."""
        with self._lock:
            self.stream.heartbeat(datetime.now(UTC))
            if len(self.stream.lines) > self._landed:
                self.stream.land(self.settings.landing, self._landed)
                self._landed = len(self.stream.lines)
        self.ingestion.step()

    def cycle(self) -> CycleReport:
        """A cycle of the audit, while the capture goes on after each look at the source."""
        end = threading.Event()

        def capture() -> None:
            while not end.is_set():
                self.reader.was_read.clear()
                self.step()
                self.reader.was_read.wait(2.0)

        thread = threading.Thread(target=capture)
        thread.start()
        try:
            pace, intake = AuditPace(1.0, None, time.monotonic), FileIntake(self.settings.landing)
            readers = {"a": self.reader}
            return SourceAudit(
                self._spark, self.settings, [SOURCE], readers, intake, pace, self._registry.database, 64
            ).cycle()
        finally:
            end.set()
            self.reader.was_read.set()
            thread.join()

    def spoil(self) -> None:
        """Rows of the lake that no change made: one goes, one comes, one is there twice, one has another value."""
        path = self.settings.warehouse / SOURCE.name
        commit = last_commit(path)
        assert commit is not None
        ours = CommitProperties(custom_metadata={"userMetadata": replace(commit.state, follows=None).to_json()})
        rows = read_rows(path).to_pylist()
        mine = {row["order_id"]: row for row in rows if row["_shard"] == "a.school.orders_0"}
        table_of_others(path).delete("_shard = 'a.school.orders_0' AND order_id IN (5, 80)", commit_properties=ours)
        changed = {**mine[80], "amount": Decimal("9.99")}
        added = [mine[100], changed, {**mine[5], "order_id": 5_000}]
        schema = read_rows(path).schema
        write_deltalake(
            table_of_others(path), pa.Table.from_pylist(added, schema), mode="append", commit_properties=ours
        )

    def held(self) -> list[tuple[str, FindingKind]]:
        commit = last_commit(self.settings.warehouse / SOURCE.name)
        assert commit is not None
        return [(hold.shard, hold.kind) for hold in commit.state.holds.open]

    def reload(self, shard: str) -> None:
        """As tidemark capture reload asks for it, and a connector reads it."""
        name = f"a.school.{shard}"
        request = ReloadRequest("r1", SOURCE.name, "me", "now", (name,), {"a": len(self.stream.lines)}, is_whole=False)
        ReloadRequests(Database.of(self.settings)).add(request)
        self._sql.execute(f"SELECT order_id, amount, note FROM {shard}")  # noqa: S608 - our name
        for key, amount, note in self._sql.fetchall():
            row: dict[str, Any] = {"order_id": key, "amount": str(amount), "note": note}
            self.stream.read(shard, row, datetime.now(UTC))
        self.stream.loaded(shard)


@pytest.fixture
def world(spark: SparkSession, mariadb_server: MariaDb, tmp_path: Path) -> Iterator[AuditWorld]:
    with mariadb_server.connect() as session, session.cursor() as sql:
        sql.execute("CREATE DATABASE school")
        for shard in SHARDS:
            sql.execute(
                f"CREATE TABLE school.{shard} (order_id BIGINT PRIMARY KEY, amount DECIMAL(10,2), note VARCHAR(64))"
            )
        made = AuditWorld(spark, mariadb_server, tmp_path)
        yield made
        made.reader.close()
        sql.execute("DROP DATABASE school")


@pytest.mark.long
def test_planted_differences_are_found_held_and_released_by_a_reload(world: AuditWorld) -> None:
    world.step()
    world.spoil()
    report = world.cycle()
    rows = {key: kind for finding in report.found for key, kind in finding.rows.items()}
    assert rows == {
        "5": DifferenceKind.MISSING,
        "80": DifferenceKind.DIFFERS,
        "100": DifferenceKind.DOUBLED,
        "5000": DifferenceKind.EXTRA,
    }
    assert {finding.patch.shard for finding in report.found} == {"a.school.orders_0"}
    assert {column for finding in report.found for column in finding.columns} == {"amount"}
    assert (report.rows, report.passed_over) == (SHARDS_TIMES_ROWS, {})
    # What the first look at rows sees is confirmed by keys, and so is what becomes of it.
    seen = {5, 80, 100, 5_000}
    assert {key for patch in world.reader.asked for key in patch.first_values} == seen
    assert {key for finding in report.found for key in finding.patch.first_values} == seen
    world.step()
    assert world.held() == [("a.school.orders_0", FindingKind.DIFFERS)]
    # What is known is not found twice, and stays held.
    assert world.cycle().found == []
    assert world.held() == [("a.school.orders_0", FindingKind.DIFFERS)]
    world.reload("orders_0")
    world.step()
    again = world.cycle()
    assert (again.found, len(again.resolved)) == ([], len(report.found))
    assert AuditFindings(Database.of(world.settings)).open() == ()
    world.step()
    assert world.held() == []


SHARDS_TIMES_ROWS = len(SHARDS) * ROWS


@pytest.mark.long
def test_changes_in_flight_are_not_findings(world: AuditWorld) -> None:
    world.step()
    end, chance = threading.Event(), random.Random(7)

    def live() -> None:
        """Rows that go and come back as they were, and rows that have one of two values, all the time."""
        while not end.is_set():
            shard, key = chance.choice(SHARDS), chance.randrange(40)
            if chance.random() < 0.3:
                world.delete(shard, key)
            else:
                world.put(shard, key, chance.choice(["1.00", "2.00"]), f"note {key}")
            end.wait(0.002)

    thread = threading.Thread(target=live)
    thread.start()
    try:
        report = world.cycle()
    finally:
        end.set()
        thread.join()
    assert (report.found, report.passed_over) == ([], {})
    assert report.looks > report.ranges
    assert AuditFindings(Database.of(world.settings)).open() == ()
