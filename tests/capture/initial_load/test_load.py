"""Rows of an initial load come with the changes: the table is theirs together, and has no name before it is whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.capture.streams import ORDERS, Stream, at, order
from tidemark.capture.commits.commit_state import last_commit
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.source_table import SourceTable
from tidemark.delta.delta_rs_table import read_rows
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.capture.operations.ingestion_report import IngestReport

pytestmark = pytest.mark.spark

SOURCE = SourceTable(
    "ods_orders",
    "school.orders_*",
    ("a",),
    ("order_id",),
    "order_date",
    (("ods_orders", "day", "2026-03-21"), ("ods_orders_1h", "hour", "2026-03-23T08")),
)


class LoadWorld:
    """A warehouse into which one instance's topic lands piece by piece; every step is a process of its own."""

    def __init__(self, spark: SparkSession, path: Path) -> None:
        self.spark, self.settings, self.stream = spark, Settings.at(path / "data"), Stream("a")
        self.registry = SnapshotRegistry.at(self.settings.state_db)
        self._landed = 0

    def step(self) -> IngestReport:
        if len(self.stream.lines) > self._landed:
            self.stream.land(self.settings.landing, self._landed)
            self._landed = len(self.stream.lines)
        return Ingestion(self.spark, self.settings, [SOURCE], self.registry).step()

    def initial_load_pending(self) -> tuple[str, ...]:
        commit = last_commit(self.settings.warehouse / "ods_orders")
        assert commit is not None
        return commit.state.initial_load_pending

    def rows(self) -> dict[tuple[str, int], str]:
        rows = read_rows(self.settings.warehouse / "ods_orders").to_pylist()
        return {(row["_shard"], row["order_id"]): str(row["amount"]) for row in rows}


def beat(stream: Stream, when: datetime) -> None:
    stream.heartbeat(when, beat_at=when)


def test_no_snapshot_is_tagged_before_the_initial_load_is_complete(spark: SparkSession, tmp_path: Path) -> None:
    world = LoadWorld(spark, tmp_path)
    stream = world.stream
    for shard in ("orders_0", "orders_1"):
        # As a connector tells of them that begins with what it finds.
        stream.declare(shard, ORDERS, at("2026-03-23 08:30"), snapshot="true")
    beat(stream, at("2026-03-23 08:30"))
    stream.change("orders_0", order(1, "1.00", 23), order(1, "1.50", 23), at("2026-03-23 08:31"))
    # Rows are read at a later time than the changes have that come after them: those of 09:10 are not all there yet.
    stream.read("orders_0", order(1, "1.50", 23), at("2026-03-23 09:10"))
    stream.read("orders_0", order(2, "2.00", 23), at("2026-03-23 09:10"))
    stream.change("orders_0", order(2, "2.00", 23), order(2, "2.50", 23), at("2026-03-23 08:59"))
    first = world.step()
    assert first.closed == ()
    assert world.initial_load_pending() == ("a.school.orders_0", "a.school.orders_1")
    assert world.rows() == {("a.school.orders_0", 1): "1.50", ("a.school.orders_0", 2): "2.50"}
    assert [line.split(":")[0] for line in first.warnings] == [
        "ods_orders 2026-03-21 to 2026-03-22 (2 slices)",
        "ods_orders_1h 2026-03-23T08",
    ]
    assert "a.school.orders_0, a.school.orders_1" in first.warnings[0]

    stream.loaded("orders_0")
    beat(stream, at("2026-03-23 09:11"))
    second = world.step()
    assert second.closed == ()
    assert world.initial_load_pending() == ("a.school.orders_1",)
    stream.loaded("orders_1", status="EMPTY")
    stream.ask("orders_1", at("2026-03-23 09:29"))
    stream.change("orders_1", None, order(3, "3.00", 23), at("2026-03-23 09:30"))
    beat(stream, at("2026-03-23 10:00"))
    third = world.step()
    assert [(snapshot.entity, snapshot.slice) for snapshot in third.closed] == [("ods_orders_1h", "2026-03-23T10")]
    assert world.initial_load_pending() == ()
    assert world.rows()["a.school.orders_1", 3] == "3.00"


def test_a_failed_load_leaves_the_table_unchanged(spark: SparkSession, tmp_path: Path) -> None:
    world = LoadWorld(spark, tmp_path)
    world.stream.declare("orders_0", ORDERS, at("2026-03-23 08:30"), snapshot="true")
    world.stream.read("orders_0", order(1, "1.00", 23), at("2026-03-23 08:40"))
    world.stream.loaded("orders_0", status="SQL_EXCEPTION")
    beat(world.stream, at("2026-03-24 08:40"))
    report = world.step()
    assert report.closed == ()
    (warning,) = [text for text in report.warnings if "SQL_EXCEPTION" in text]
    assert warning == (
        "a.school.orders_0: its load in the connector ended with SQL_EXCEPTION (offset 2): see its log, restart it, "
        "then tidemark capture reload ods_orders --shard a.school.orders_0 --again"
    )
    assert world.initial_load_pending() == ("a.school.orders_0",)


def test_a_table_of_the_binlog_is_whole_and_stays_so_when_it_is_read_again(spark: SparkSession, tmp_path: Path) -> None:
    world = LoadWorld(spark, tmp_path)
    world.stream.declare("orders_0", ORDERS, at("2026-03-22 08:30"))
    world.stream.change("orders_0", None, order(1, "1.00", 23), at("2026-03-22 08:31"))
    world.stream.read("orders_0", order(1, "1.00", 23), at("2026-03-24 08:40"))
    beat(world.stream, at("2026-03-23 08:32"))
    closed = world.step().closed
    assert [snapshot.slice for snapshot in closed if snapshot.entity == "ods_orders"] == ["2026-03-22"]
    assert world.initial_load_pending() == ()


@pytest.mark.parametrize("is_in_one_pass", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_connector_with_a_new_schema_history_lacks_no_rows(
    spark: SparkSession, tmp_path: Path, *, is_in_one_pass: bool
) -> None:
    world = LoadWorld(spark, tmp_path)
    stream = world.stream
    stream.declare("orders_0", ORDERS, at("2026-03-23 08:00"))
    stream.declare("orders_1", ORDERS, at("2026-03-23 08:00"))
    stream.change("orders_0", None, order(1, "1.00", 23), at("2026-03-23 08:30"))
    beat(stream, at("2026-03-23 08:40"))
    if not is_in_one_pass:
        world.step()
    for shard in ("orders_0", "orders_1", "orders_2"):
        stream.recover(shard, ORDERS, at("2026-03-23 08:41"))
    stream.change("orders_0", order(1, "1.00", 23), order(1, "1.50", 23), at("2026-03-23 08:50"))
    beat(stream, at("2026-03-23 09:01"))
    world.step()
    # Nothing of the others was ever captured: they may have had rows all the time.
    assert world.initial_load_pending() == ("a.school.orders_1", "a.school.orders_2")
    assert world.rows() == {("a.school.orders_0", 1): "1.50"}


def test_a_new_connector_lacks_the_rows_that_it_did_not_read(spark: SparkSession, tmp_path: Path) -> None:
    world = LoadWorld(spark, tmp_path)
    stream = world.stream
    stream.declare("orders_0", ORDERS, at("2026-03-23 08:00"))
    stream.change("orders_0", None, order(1, "1.00", 23), at("2026-03-23 08:30"))
    beat(stream, at("2026-03-23 08:40"))
    world.step()
    stream.declare("orders_0", ORDERS, at("2026-03-23 08:45"), snapshot="true")
    beat(stream, at("2026-03-23 09:01"))
    assert world.step().closed == ()
    assert world.initial_load_pending() == ("a.school.orders_0",)
