"""Input as it should not be: a clear message that names the place, and nothing lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.capture.streams import ORDERS, USERS, Stream, at, order, write
from tidemark.capture.errors import CorruptFileError, MalformedLineError, OffsetGapError
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.source_table import SourceTable
from tidemark.delta.delta_rs_table import read_table
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.capture.operations.ingestion_report import IngestReport

pytestmark = pytest.mark.spark

TABLES = (
    SourceTable(
        name="ods_orders",
        table="school.orders_*",
        instances=("a", "b"),
        key=("order_id",),
        partition_by="order_date",
        snapshot_series=(("ods_orders", "day", "2026-03-23"),),
    ),
    SourceTable("ods_users", "school.users", ("a",), ("user_id",), None, (("ods_users", "day", "2026-03-23"),)),
)


@dataclass
class Capture:
    """A warehouse and what captures into it."""

    spark: SparkSession
    settings: Settings
    registry: SnapshotRegistry

    def step(self) -> IngestReport:
        """A step of a process that was just started: nothing but the tables is remembered."""
        return Ingestion(self.spark, self.settings, TABLES, self.registry).step()

    def orders(self, version: int | None = None) -> set[tuple[str, int, str]]:
        rows = read_table(self.spark, self.settings.warehouse / "ods_orders", version).collect()
        return {(row["_shard"], row["order_id"], str(row["amount"])) for row in rows}


@pytest.fixture
def capture(tmp_path: Path, spark: SparkSession) -> Capture:
    settings = Settings.at(tmp_path / "data")
    return Capture(spark, settings, SnapshotRegistry.at(settings.state_db))


@pytest.fixture
def streams() -> tuple[Stream, Stream]:
    """Two instances with one order each at 10:00 and heartbeats at noon."""
    a, b = Stream("a"), Stream("b")
    for stream, shard, order_id in ((a, "orders_0", 1), (b, "orders_1", 2)):
        stream.declare(shard, ORDERS, at("2026-03-23 09:00"))
        stream.change(shard, None, order(order_id, "10.00", 23), at("2026-03-23 10:00"))
        stream.heartbeat(at("2026-03-23 12:00"))
    return a, b


@pytest.mark.long
def test_a_truncated_file_is_named_and_a_whole_copy_goes_on(capture: Capture, streams: tuple[Stream, Stream]) -> None:
    a, b = streams
    a.land(capture.settings.landing, 0)
    b.land(capture.settings.landing, 0)
    start = len(a.lines)
    for number in range(50):
        a.change("orders_0", None, order(100 + number, "1.00", 23), at("2026-03-23 13:00"))
    bad = a.land(capture.settings.landing, start)
    whole = bad.read_bytes()
    bad.write_bytes(whole[: len(whole) // 2])

    with pytest.raises(CorruptFileError) as caught:
        capture.step()
    assert str(bad) in str(caught.value)
    assert "replace it with a complete copy" in str(caught.value)
    assert capture.orders() == {("a.school.orders_0", 1, "10.00"), ("b.school.orders_1", 2, "10.00")}

    bad.write_bytes(whole)
    assert capture.step().changes["ods_orders"] == 50
    assert len(capture.orders()) == 52


@pytest.mark.long
def test_a_file_that_is_not_an_archive_is_named(capture: Capture, streams: tuple[Stream, Stream]) -> None:
    bad = streams[0].land(capture.settings.landing, 0)
    bad.write_bytes(b"this is no gzip file at all")
    with pytest.raises(CorruptFileError, match=bad.name):
        capture.step()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"topic":"cdc.a","partition":0,"offset":1,"key":{"id":\n', "column"),
        pytest.param('["not", "a", "record"]\n', "", marks=pytest.mark.long),
        pytest.param(
            '{"topic":"cdc.b","partition":0,"offset":1,"key":{},"value":null}\n', "cdc.b", marks=pytest.mark.long
        ),
    ],
)
def test_a_malformed_line_is_named_with_its_file(
    capture: Capture, streams: tuple[Stream, Stream], line: str, problem: str
) -> None:
    bad = streams[0].land(capture.settings.landing, 0)
    write(bad, [streams[0].lines[0], line, *streams[0].lines[2:]])
    with pytest.raises(MalformedLineError) as caught:
        capture.step()
    assert caught.value.where == f"{bad}:2"
    assert problem in str(caught.value)
    write(bad, streams[0].lines)
    assert capture.step().changes["ods_orders"] == 1


@pytest.mark.long
def test_changes_of_an_undeclared_table_are_kept_and_said(capture: Capture, streams: tuple[Stream, Stream]) -> None:
    a, b = streams
    offset = a.change("coupons", None, {"coupon_id": 7}, at("2026-03-23 12:30"))
    path = a.land(capture.settings.landing, 0)
    b.land(capture.settings.landing, 0)
    report = capture.step()
    (warning,) = [text for text in report.warnings if "coupons" in text]
    assert f"{path}:{offset + 1}" in warning
    assert "source: {table: school.coupons, instances: [a]}" in warning
    kept = read_table(capture.spark, capture.settings.warehouse / "_unrouted").collect()
    assert [(row["topic"], row["offset"]) for row in kept] == [("cdc.a", offset)]
    assert '"coupon_id":7' in kept[0]["raw"]
    assert len(capture.orders()) == 2
    assert not [text for text in capture.step().warnings if "coupons" in text]


@pytest.mark.long
def test_a_late_event_is_in_the_next_snapshot_counted_and_said(
    capture: Capture, streams: tuple[Stream, Stream]
) -> None:
    a, b = streams
    for stream in streams:
        stream.heartbeat(at("2026-03-23 23:01"))
        stream.land(capture.settings.landing, 0)
    assert [snapshot.slice for snapshot in capture.step().closed if snapshot.entity == "ods_orders"] == ["2026-03-23"]
    first = capture.registry.get("ods_orders", "day", "2026-03-23")
    assert first is not None

    start = len(a.lines)
    late = a.change("orders_0", None, order(3, "5.00", 23), at("2026-03-23 22:59"))
    for stream in streams:
        stream.heartbeat(at("2026-03-24 23:01"))
    path = a.land(capture.settings.landing, start)
    b.land(capture.settings.landing, len(b.lines) - 1)
    report = capture.step()

    assert report.late == {"ods_orders": 1}
    (warning,) = report.warnings
    assert f"{path}:{late - start + 1}" in warning
    assert "the next one has the change" in warning
    second = capture.registry.get("ods_orders", "day", "2026-03-24")
    assert second is not None
    assert capture.registry.get("ods_orders", "day", "2026-03-23") == first
    new = ("a.school.orders_0", 3, "5.00")
    assert new not in capture.orders(first.version)
    assert new in capture.orders(second.version)


@pytest.mark.long
def test_missing_offsets_hold_the_instance_and_say_which(capture: Capture, streams: tuple[Stream, Stream]) -> None:
    a, b = streams
    a.land(capture.settings.landing, 0)
    b.land(capture.settings.landing, 0)
    gap = len(a.lines)
    a.change("orders_0", None, order(3, "5.00", 23), at("2026-03-23 13:00"))
    a.change("orders_0", None, order(4, "6.00", 23), at("2026-03-23 13:01"))
    a.land(capture.settings.landing, gap + 1)
    with pytest.raises(OffsetGapError, match=f"expected offset {gap}"):
        capture.step()
    assert len(capture.orders()) == 2
    a.land(capture.settings.landing, gap, gap + 1)
    assert capture.step().changes["ods_orders"] == 2
    assert len(capture.orders()) == 4


@pytest.mark.long
def test_a_record_delivered_twice_counts_once(capture: Capture, streams: tuple[Stream, Stream]) -> None:
    a, b = streams
    b.land(capture.settings.landing, 0)
    a.land(capture.settings.landing, 0, 2)
    capture.step()
    a.change("orders_0", order(1, "10.00", 23), None, at("2026-03-23 13:00"))
    a.land(capture.settings.landing, 1)
    capture.step()
    assert capture.orders() == {("b.school.orders_1", 2, "10.00")}


@pytest.mark.long
def test_a_silent_shard_does_not_hold_the_snapshot_but_a_silent_instance_does(
    capture: Capture, streams: tuple[Stream, Stream]
) -> None:
    a, b = streams
    a.declare("users", USERS, at("2026-03-23 12:30"))
    a.heartbeat(at("2026-03-23 23:00"))
    a.land(capture.settings.landing, 0)
    b.land(capture.settings.landing, 0)
    report = capture.step()
    assert not [snapshot for snapshot in report.closed if snapshot.entity == "ods_orders"]
    (line,) = [str(slice_waiting) for slice_waiting in report.waiting if slice_waiting.entity == "ods_orders"]
    assert "instance b is at 2026-03-23 12:00:00" in line

    b.heartbeat(at("2026-03-23 23:00"))
    b.land(capture.settings.landing, len(b.lines) - 1)
    assert [(snapshot.entity, snapshot.slice) for snapshot in capture.step().closed] == [("ods_orders", "2026-03-23")]
