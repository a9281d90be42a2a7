"""Ingestion and the binlog's order: what is redelivered is merged once, and a gap halts what it touches."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from tests.capture.operations.test_bad_input import TABLES
from tests.capture.streams import ORDERS, Stream, at, order
from tidemark.capture.binlog.accepted_findings import AcceptedFindings
from tidemark.capture.binlog.consecutive_records import Seen, runs_of
from tidemark.capture.binlog.finding import FindingKind
from tidemark.capture.binlog.gtid_policy import SPARSE
from tidemark.capture.binlog.position import BinlogFile, Gtid, Position
from tidemark.capture.errors import OffsetGapError
from tidemark.capture.heartbeat.newest_heartbeats import NewestBeats
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.source.change_files import landed_files
from tidemark.capture.source.file_scan import scan_files
from tidemark.delta.delta_rs_table import read_table
from tidemark.state_store.database import Database
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.capture.streams import Row
    from tidemark.capture.operations.ingestion_report import IngestReport

pytestmark = pytest.mark.spark

ACCEPTED_AT = datetime(2026, 3, 24, tzinfo=UTC)


@dataclass
class OrderCapture:
    spark: SparkSession
    settings: Settings
    registry: SnapshotRegistry

    def step(self, *streams: Stream) -> IngestReport:
        """Land what is new, and take it in with a process that was just started."""
        for stream in streams:
            landed = [file.first_offset for file in landed_files(self.settings.landing, stream.instance, 10**9)]
            stream.land(self.settings.landing, self._ends.get(stream.instance, 0) if landed else 0)
            self._ends[stream.instance] = len(stream.lines)
        return Ingestion(self.spark, self.settings, TABLES, self.registry).step()

    def __post_init__(self) -> None:
        self._ends: dict[str, int] = {}

    def orders(self, version: int | None = None) -> dict[int, str]:
        rows = read_table(self.spark, self.settings.warehouse / "ods_orders", version).collect()
        return {row["order_id"]: str(row["amount"]) for row in rows}


@pytest.fixture
def capture(tmp_path: Path, spark: SparkSession) -> OrderCapture:
    settings = Settings.at(tmp_path / "data")
    return OrderCapture(spark, settings, SnapshotRegistry.at(settings.state_db))


def paid(amount: str) -> Row:
    return order(1, amount, 23)


def start_stream(instance: str, shard: str) -> Stream:
    stream = Stream(instance)
    stream.declare(shard, ORDERS, at("2026-03-23 09:00"))
    return stream


@pytest.mark.long
def test_redelivered_records_change_nothing(capture: OrderCapture) -> None:
    a, b = start_stream("a", "orders_0"), start_stream("b", "orders_1")
    a.change("orders_0", None, paid("1.00"), at("2026-03-23 10:00"))
    a.change("orders_0", paid("1.00"), paid("2.00"), at("2026-03-23 10:01"))
    a.again(1, 2)
    assert capture.step(a, b).changes == {"ods_orders": 2}
    assert capture.orders() == {1: "2.00"}
    start = len(a.lines)
    a.again(1, 3)
    a.change("orders_0", paid("2.00"), paid("3.00"), at("2026-03-23 10:02"))
    a.again(1, start)
    assert capture.step(a).changes == {"ods_orders": 1}
    assert capture.orders() == {1: "3.00"}


@pytest.mark.long
def test_a_key_that_moves_is_a_delete_and_an_insert_at_one_position(capture: OrderCapture) -> None:
    a, b = start_stream("a", "orders_0"), start_stream("b", "orders_1")
    a.change("orders_0", None, paid("1.00"), at("2026-03-23 10:00"))
    a.move("orders_0", paid("1.00"), order(2, "1.00", 23), at("2026-03-23 10:01"))
    moved = len(a.lines)
    assert capture.step(a, b).changes == {"ods_orders": 3}
    assert capture.orders() == {2: "1.00"}
    # Sent again from within the move: the insert alone was read before, too.
    a.again(moved - 1, moved)
    a.move("orders_0", order(2, "1.00", 23), paid("1.00"), at("2026-03-23 10:02"))
    a.again(1, moved)
    assert capture.step(a).changes == {"ods_orders": 2}
    assert capture.orders() == {1: "1.00"}


def test_a_heartbeat_arrives_where_nothing_is_committed(capture: OrderCapture) -> None:
    a, b = start_stream("a", "orders_0"), start_stream("b", "orders_1")
    a.change("orders_0", None, paid("1.00"), at("2026-03-23 10:00"))
    for stream in (a, b):
        stream.heartbeat(at("2026-03-23 10:01"), beat_at=at("2026-03-23 10:01"))
    capture.step(a, b)
    a.heartbeat(at("2026-03-23 11:00"), beat_at=at("2026-03-23 11:00"))
    assert capture.step(a).commits == 0
    newest = NewestBeats(Database.of(capture.settings)).read()
    assert newest == {"a": at("2026-03-23 11:00").timestamp() * 1000, "b": at("2026-03-23 10:01").timestamp() * 1000}


@pytest.mark.long
def test_a_clock_that_runs_ahead_closes_nothing_before_the_next_heartbeat(capture: OrderCapture) -> None:
    """A step sees what came since the last one; there need not be a heartbeat in it."""
    a, b = start_stream("a", "orders_0"), start_stream("b", "orders_1")
    for stream in (a, b):
        stream.change("orders_0" if stream is a else "orders_1", None, paid("1.00"), at("2026-03-23 10:00"))
        stream.heartbeat(at("2026-03-23 10:01"), beat_at=at("2026-03-23 10:01"))
    capture.step(a, b)
    for stream in (a, b):
        stream.change("orders_0" if stream is a else "orders_1", None, order(2, "2.00", 23), at("2026-03-24 00:30"))
    assert capture.step(a, b).closed == ()
    for stream in (a, b):
        stream.heartbeat(at("2026-03-24 00:31"), beat_at=at("2026-03-23 22:30"))
    assert capture.step(a, b).closed == ()
    for stream in (a, b):
        stream.heartbeat(at("2026-03-24 00:01"), beat_at=at("2026-03-24 00:01"))
    closed = capture.step(a, b).closed
    assert ("ods_orders", "2026-03-23") in {(snapshot.entity, snapshot.slice) for snapshot in closed}
    (version,) = {snapshot.version for snapshot in closed if snapshot.entity == "ods_orders"}
    assert capture.orders(version) == {1: "1.00", 2: "2.00"}


def test_a_lost_binlog_file_holds_its_instance_until_someone_accepts_it(capture: OrderCapture) -> None:
    a, b = start_stream("a", "orders_0"), start_stream("b", "orders_1")
    a.change("orders_0", None, paid("1.00"), at("2026-03-23 10:00"))
    a.lose_file()
    gap = a.change("orders_0", paid("1.00"), paid("2.00"), at("2026-03-23 11:00"))
    for stream in (a, b):
        stream.heartbeat(at("2026-03-24 00:00"))
    report = capture.step(a, b)
    assert [(finding.instance, finding.offset, finding.kind) for finding in report.halted] == [
        ("a", gap, FindingKind.FILES_MISSING)
    ]
    assert report.closed == ()
    (line,) = [str(slice_waiting) for slice_waiting in report.waiting if slice_waiting.entity == "ods_orders"]
    assert "instance a is at 2026-03-23 10:00:00; halted, instance a: files missing before offset 2" in line
    assert capture.orders() == {1: "1.00"}

    AcceptedFindings(Database.of(capture.settings)).add("a", gap, ACCEPTED_AT, "somebody", "it is reloaded")
    report = capture.step()
    assert {finding.kind for finding in report.halted} == {FindingKind.CHANGES_MISSING}
    assert "ods_orders" not in {snapshot.entity for snapshot in report.closed}
    assert capture.orders() == {1: "2.00"}
    AcceptedFindings(Database.of(capture.settings)).add("a", gap + 1, ACCEPTED_AT, "somebody", "all rows are the same")
    assert {(snapshot.entity, snapshot.slice) for snapshot in capture.step().closed} >= {("ods_orders", "2026-03-23")}


@pytest.mark.long
def test_a_file_that_lands_late_is_taken_in_whole(capture: OrderCapture) -> None:
    """The records around the hole follow each other in one minute: nothing but the file says that some are missing."""
    a, b = start_stream("a", "orders_0"), start_stream("b", "orders_1")
    for number in range(1, 13):
        a.change("orders_0", None, order(number, "1.00", 23), at("2026-03-23 10:00"))
    a.land(capture.settings.landing, 0, 5)
    a.land(capture.settings.landing, 9)
    with pytest.raises(OffsetGapError):
        capture.step(b)
    assert sorted(capture.orders()) == [1, 2, 3, 4]
    a.land(capture.settings.landing, 5, 9)
    assert capture.step().changes == {"ods_orders": 8}
    assert sorted(capture.orders()) == list(range(1, 13))


def test_a_dropped_shard_holds_its_table_alone(capture: OrderCapture) -> None:
    a, b = start_stream("a", "orders_0"), start_stream("b", "orders_1")
    a.declare("users", {"user_id": "BIGINT"}, at("2026-03-23 09:00"))
    a.change("users", None, {"user_id": 5}, at("2026-03-23 10:00"))
    a.change("orders_0", None, paid("1.00"), at("2026-03-23 10:00"))
    dropped = a.drop("orders_0", at("2026-03-23 11:00"))
    for stream in (a, b):
        stream.heartbeat(at("2026-03-24 00:00"))
    report = capture.step(a, b)
    assert [(finding.shard, finding.offset) for finding in report.halted] == [("a.school.orders_0", dropped)]
    assert {snapshot.entity for snapshot in report.closed} == {"ods_users"}
    assert "shard a.school.orders_0: shard vanished" in " ".join(str(slice_waiting) for slice_waiting in report.waiting)


@pytest.mark.long
def test_a_drop_that_the_connector_sends_again_holds_nothing(capture: OrderCapture) -> None:
    a, b = start_stream("a", "orders_0"), start_stream("b", "orders_1")
    a.change("orders_0", None, paid("1.00"), at("2026-03-23 10:00"))
    dropped = a.drop("orders_0", at("2026-03-23 11:00"))
    assert [finding.offset for finding in capture.step(a, b).halted] == [dropped]
    AcceptedFindings(Database.of(capture.settings)).add("a", dropped, ACCEPTED_AT, "somebody", "its rows stay")
    b.change("orders_1", None, order(2, "1.00", 23), at("2026-03-23 11:30"))
    a.heartbeat(at("2026-03-23 11:30"))
    assert capture.step(a, b).halted == ()
    a.again(0, dropped + 1)
    a.heartbeat(at("2026-03-23 12:00"))
    assert capture.step(a).halted == ()
    a.declare("orders_0", ORDERS, at("2026-03-23 13:00"))
    a.change("orders_0", None, paid("2.00"), at("2026-03-23 13:01"))
    once_more = a.drop("orders_0", at("2026-03-23 14:00"))
    assert [finding.offset for finding in capture.step(a).halted] == [once_more]


@pytest.mark.long
def test_a_clock_that_runs_ahead_names_nothing_early(capture: OrderCapture) -> None:
    a, b = start_stream("a", "orders_0"), start_stream("b", "orders_1")
    b.heartbeat(at("2026-03-23 23:00"), at("2026-03-23 23:00"))
    a.change("orders_0", None, paid("1.00"), at("2026-03-23 22:10"))
    a.heartbeat(at("2026-03-23 22:10"), at("2026-03-23 22:10"))
    a.change("orders_0", paid("1.00"), paid("2.00"), at("2026-03-23 23:11"))
    assert capture.step(a, b).closed == ()
    a.heartbeat(at("2026-03-23 23:11"), at("2026-03-23 22:11"))
    a.change("orders_0", paid("2.00"), paid("3.00"), at("2026-03-23 22:30"))
    a.heartbeat(at("2026-03-23 23:00"), at("2026-03-23 23:00"))
    a.change("orders_0", paid("3.00"), paid("4.00"), at("2026-03-23 23:01"))
    assert {snapshot.slice for snapshot in capture.step(a).closed} == {"2026-03-23"}
    tagged = capture.registry.get("ods_orders", "day", "2026-03-23")
    assert tagged is not None
    assert capture.orders(tagged.version) == {1: "3.00"}


@pytest.mark.long
def test_a_heartbeat_writer_that_runs_ahead_names_nothing_early(capture: OrderCapture) -> None:
    a, b = start_stream("a", "orders_0"), start_stream("b", "orders_1")
    a.change("orders_0", None, paid("1.00"), at("2026-03-23 22:04"))
    for stream in (a, b):
        stream.heartbeat(at("2026-03-23 22:05"), beat_at=at("2026-03-23 23:05"))
    report = capture.step(a, b)
    assert report.closed == ()
    assert "the clock of the heartbeats' writer is 60 min ahead of a, b" in " ".join(report.warnings)
    a.change("orders_0", paid("1.00"), paid("2.00"), at("2026-03-23 22:30"))
    for stream in (a, b):
        stream.heartbeat(at("2026-03-23 23:01"), beat_at=at("2026-03-24 00:01"))
    assert {snapshot.slice for snapshot in capture.step(a, b).closed} == {"2026-03-23"}
    tagged = capture.registry.get("ods_orders", "day", "2026-03-23")
    assert tagged is not None
    assert capture.orders(tagged.version) == {1: "2.00"}


def test_runs_from_sparks_columns_are_the_same(spark: SparkSession, tmp_path: Path) -> None:
    stream = start_stream("a", "orders_0")
    for number in range(30):
        stream.change("orders_0", None if number % 4 else paid("1.00"), None if not number % 4 else paid("2.00"),
                      at(f"2026-03-23 10:{number // 7:02d}"))  # fmt: skip
        if number in {9, 20}:
            stream.again(number - 5, number)
        if number == 14:
            stream.lose_file()
    # The second file has the first one's last record once more.
    stream.land(tmp_path, 0, 13)
    stream.land(tmp_path, 12)
    scan = scan_files(spark, landed_files(tmp_path, "a", 0), TABLES, {"a": 3})
    try:
        assert scan.repeated
        records = scan.records.dropDuplicates(["offset"]).orderBy("offset").collect()
        expected = list(runs_of((entry for entry in seen(records) if entry.offset >= 3), SPARSE, {}))
        assert scan.summary.runs(SPARSE) == {"a": expected}
        assert len(expected) > 8
    finally:
        scan.close()


def seen(rows: Iterable[Any]) -> list[Seen]:
    return [
        Seen(
            row["offset"],
            file.base,
            Position(file.number, row["binlog_pos"], row["binlog_row"]),
            row["event_ms"],
            Gtid.parse(row["gtid"]),
        )
        for row in rows
        if (file := BinlogFile.parse(row["binlog_file"] or ""))
    ]
