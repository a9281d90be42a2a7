"""Rows that change without row events: the table is the source's after each statement, or its slice is not tagged."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.capture.streams import ORDERS, Stream, at, order
from tidemark.capture.binlog.accepted_findings import AcceptedFindings
from tidemark.capture.binlog.finding import FindingKind
from tidemark.capture.binlog.halted_sources import HaltedSources
from tidemark.capture.commits.commit_state import last_commit
from tidemark.capture.heartbeat.heartbeat_record import KNOWN
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.source_table import SourceTable
from tidemark.delta.delta_rs_table import read_rows
from tidemark.state_store.database import Database
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.capture.operations.ingestion_report import IngestReport

pytestmark = pytest.mark.spark

SOURCE = SourceTable(
    "ods_orders", "school.orders_*", ("a",), ("order_id",), None, (("ods_orders", "day", "2026-03-23"),)
)
MILLISECONDS = int(at("2026-03-23 10:00").timestamp() * 1000)
TEN, NOON, NEXT = at("2026-03-23 10:00"), at("2026-03-23 12:00"), at("2026-03-24 10:00")


class StatementWorld:
    """One instance with two shards of two rows each; every step is a process of its own."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.settings, self.stream = spark, Settings.at(folder / "data"), Stream("a")
        self.registry = SnapshotRegistry.at(self.settings.state_db)
        self._landed = 0
        for shard in ("orders_0", "orders_1"):
            self.stream.declare(shard, ORDERS, TEN)
            for number in (1, 2):
                self.stream.change(shard, None, order(number, f"{number}.00", 23), TEN)

    def step(self) -> IngestReport:
        if len(self.stream.lines) > self._landed:
            self.stream.land(self.settings.landing, self._landed)
            self._landed = len(self.stream.lines)
        return Ingestion(self.spark, self.settings, [SOURCE], self.registry).step()

    def rows(self, *columns: str, version: int | None = None) -> set[tuple[object, ...]]:
        """Shard's number, key and what else is asked for."""
        read = read_rows(self.settings.warehouse / "ods_orders", version).to_pylist()
        return {(row["_shard"][-1], row["order_id"], *(row[name] for name in columns)) for row in read}

    def tagged(self) -> list[str]:
        return [snapshot.slice for snapshot in self.registry.of("ods_orders")]

    def held(self) -> list[tuple[str | None, int]]:
        commit = last_commit(self.settings.warehouse / "ods_orders")
        assert commit is not None
        return [(hold.shard, hold.offset) for hold in commit.state.holds.open]


@pytest.fixture
def world(spark: SparkSession, tmp_path: Path) -> StatementWorld:
    return StatementWorld(spark, tmp_path)


def test_truncate_keeps_later_rows_and_other_shards(world: StatementWorld) -> None:
    stream = world.stream
    stream.change("orders_0", None, order(3, "3.00", 23), NOON)
    stream.execute("TRUNCATE TABLE orders_0", NOON)
    stream.change("orders_0", None, order(2, "2.50", 23), NOON)
    assert world.step().warnings == ()
    assert world.rows() == {("0", 2), ("1", 1), ("1", 2)}
    again = len(stream.lines)
    stream.change("orders_0", None, order(4, "4.00", 23), NOON)
    # The connector sends the statement once more: it was carried out then.
    stream.again(again - 2, again + 1)
    stream.heartbeat(NEXT)
    world.step()
    assert world.rows() == {("0", 2), ("0", 4), ("1", 1), ("1", 2)}
    assert world.tagged() == ["2026-03-23"]


@pytest.mark.long
def test_old_rows_get_the_default_and_a_dropped_columns_values_do_not_come_back(world: StatementWorld) -> None:
    stream = world.stream
    world.step()
    with_seats = {**ORDERS, "seats": "INT"}
    stream.execute("ALTER TABLE orders_0 ADD COLUMN seats INT NOT NULL DEFAULT 7", NOON, with_seats)
    stream.change("orders_0", None, {**order(3, "3.00", 23), "seats": 1}, NOON)
    world.step()
    assert world.rows("seats") == {("0", 1, 7), ("0", 2, 7), ("0", 3, 1), ("1", 1, None), ("1", 2, None)}
    stream.execute("ALTER TABLE orders_0 DROP COLUMN seats", NOON, ORDERS)
    stream.execute("ALTER TABLE orders_0 ADD seats INT", NOON, with_seats)
    stream.change("orders_0", None, {**order(4, "4.00", 23), "seats": 5}, NOON)
    world.step()
    assert {row for row in world.rows("seats") if row[2] is not None} == {("0", 4, 5)}


def test_a_swap_holds_tags_until_a_load_which_removes_rows_that_it_did_not_read(world: StatementWorld) -> None:
    stream = world.stream
    place = stream.execute("RENAME TABLE orders_0 TO o_old, o_new TO orders_0", NOON)
    stream.change("orders_0", None, order(50, "5.00", 23), NOON)
    stream.heartbeat(NEXT)
    report = world.step()
    assert report.closed == ()
    assert world.held() == [("a.school.orders_0", place)]
    (finding,) = HaltedSources(Database.of(world.settings)).read()
    assert (finding.offset, finding.shard) == (place, "a.school.orders_0")
    assert "RENAME TABLE orders_0 TO o_old" in finding.detail
    assert any("2026-03-23: not tagged, held: shard a.school.orders_0" in text for text in report.warnings)
    # What the table under this name held is read anew: 49 came with it, 1 and 2 are gone.
    stream.ask("orders_0", NEXT)
    for number in (49, 50):
        stream.read("orders_0", order(number, "9.00", 23), NEXT)
    stream.loaded("orders_0")
    stream.heartbeat(at("2026-03-25 10:00"))
    world.step()
    assert world.held() == []
    assert world.rows() == {("0", 49), ("0", 50), ("1", 1), ("1", 2)}
    assert world.tagged() == ["2026-03-24"]
    assert HaltedSources(Database.of(world.settings)).read() == ()


@pytest.mark.long
def test_accepting_a_statement_releases_the_held_tags(world: StatementWorld) -> None:
    stream = world.stream
    place = stream.execute("ALTER TABLE orders_1 DROP PARTITION p0", NOON)
    stream.heartbeat(NEXT)
    world.step()
    assert world.tagged() == []
    AcceptedFindings(Database.of(world.settings)).add("a", place, datetime.now(UTC), "lena", "p0 was empty")
    world.step()
    assert world.tagged() == ["2026-03-23"]
    stream.heartbeat(at("2026-03-25 10:00"))
    world.step()
    assert world.tagged() == ["2026-03-23", "2026-03-24"]
    assert world.held() == []


def test_statements_of_other_tables_and_harmless_ones_hold_nothing(world: StatementWorld) -> None:
    stream = world.stream
    for sql in (
        "CREATE INDEX i ON orders_0 (amount)",
        "RENAME TABLE users TO people",
        "TRUNCATE other.orders_0",
        "nonsense about users",
    ):
        stream.execute(sql, NOON)
    stream.heartbeat(NEXT)
    assert world.step().warnings == ()
    assert world.tagged() == ["2026-03-23"]
    assert len(world.rows()) == 4


def test_a_heartbeat_with_other_values_than_were_written_holds_the_tags_and_names_the_setting(
    world: StatementWorld,
) -> None:
    """Of Debezium's and of Canal's forms of the right values none is one; an older table has no such columns."""
    for number in (0, 1):
        right = {known.name: known.sent[number] if known.sent else None for known in KNOWN if len(known.sent) != 1}
        world.stream.heartbeat_row(NOON, right)
    world.stream.heartbeat_row(NOON, {})
    world.step()
    assert world.held() == []
    place = world.stream.heartbeat_row(NOON, {"known_decimal": 1234567890123456.8, "known_time": 36000000})
    world.step()
    assert world.held() == [(f"a.school.orders_{shard}", place) for shard in (0, 1)]
    finding = HaltedSources(Database.of(world.settings)).read()[0]
    assert finding.kind is FindingKind.VALUES_ALTERED
    assert "known_decimal, known_time" in finding.detail
    assert "decimal.handling.mode=string, time.precision.mode=adaptive_time_microseconds" in finding.detail


@pytest.mark.parametrize(
    ("column", "sent"),
    [
        pytest.param("amount", 12.5, marks=pytest.mark.long, id="a decimal as a number"),
        pytest.param("paid_at", MILLISECONDS - 3_600_000, id="milliseconds of an hour before"),
    ],
)
def test_a_value_in_the_form_of_another_setting_holds_the_tags_of_its_shard(
    world: StatementWorld, column: str, sent: object
) -> None:
    """A time of microseconds in January 1970 is one, but for the seconds that are the change's own time."""
    world.stream.declare("orders_0", {**ORDERS, "paid_at": "DATETIME(6)"}, TEN)
    world.stream.change("orders_0", None, {**order(6, "9.00", 23), "paid_at": MILLISECONDS - 200_000_000}, TEN)
    world.step()
    assert ("0", 6, datetime(1970, 1, 21, 12, 47, 40)) in world.rows("paid_at")  # noqa: DTZ001 - a wall clock's
    world.stream.change("orders_0", None, {**order(7, "9.00", 23), column: sent}, TEN)
    world.stream.heartbeat(NEXT)
    world.stream.heartbeat(at("2026-03-24 11:00"))
    world.step()
    assert world.held() == [("a.school.orders_0", len(world.stream.lines) - 3)]
    assert world.tagged() == []
    assert "tidemark capture reload" in HaltedSources(Database.of(world.settings)).read()[0].detail


@pytest.mark.long
def test_a_connector_that_sends_defaults_for_nulls_holds_the_tags_until_a_load(world: StatementWorld) -> None:
    stream = world.stream
    stream.heartbeat_row(NOON, {"always_null": None})
    world.step()
    assert world.held() == []
    stream.heartbeat_row(NOON, {"always_null": 1})
    place = stream.heartbeat_row(NOON, {"always_null": 1})
    world.step()
    both = [(f"a.school.orders_{shard}", place) for shard in (0, 1)]
    assert world.held() == both
    stream.heartbeat_row(NEXT, {"always_null": 1})
    world.step()
    assert world.held() == both
    assert world.tagged() == []
    finding = HaltedSources(Database.of(world.settings)).read()[0]
    assert "replace.null.with.default=false" in finding.detail
    for shard in ("orders_0", "orders_1"):
        stream.ask(shard, NEXT)
        stream.read(shard, order(1, "9.00", 23), NEXT)
        stream.loaded(shard)
    stream.heartbeat_row(at("2026-03-25 10:00"), {"always_null": None})
    world.step()
    assert world.held() == []
    assert world.rows() == {("0", 1), ("1", 1)}
    assert world.tagged() == ["2026-03-24"]


@pytest.mark.long
def test_shards_that_vanish_in_the_midst_of_a_minute_halt_the_table_until_each_is_accepted(
    world: StatementWorld,
) -> None:
    """What came behind them in the same minute is read then."""
    with world.stream.one_statement():
        gone = [world.stream.drop(shard, TEN) for shard in ("orders_0", "orders_1")]
    world.stream.declare("orders_2", ORDERS, TEN)
    world.stream.change("orders_2", None, order(1, "1.00", 23), TEN)
    accepted = AcceptedFindings(Database.of(world.settings))
    for offset in gone:
        for _ in range(2):
            assert [finding.offset for finding in world.step().halted] == [offset]
            world.stream.heartbeat(NOON)
        accepted.add("a", offset, datetime.now(UTC), "somebody", "nobody needs it")
    assert world.step().halted == ()
    assert world.rows() == {("2", 1)}


@pytest.mark.long
def test_a_shard_that_is_dropped_and_made_again_has_the_rows_that_came_after_it(world: StatementWorld) -> None:
    dropped = world.stream.drop("orders_0", TEN)
    world.stream.declare("orders_0", ORDERS, TEN)
    world.stream.change("orders_0", None, order(3, "3.00", 23), TEN)
    world.stream.heartbeat(NEXT)
    (halted,) = world.step().halted
    assert "accept" in halted.detail
    assert world.tagged() == []
    AcceptedFindings(Database.of(world.settings)).add("a", dropped, datetime.now(UTC), "lena", "it is made again")
    for _ in range(2):
        world.step()
        assert world.rows() == {("0", 3), ("1", 1), ("1", 2)}
    assert world.tagged() == ["2026-03-23"]


def test_each_table_of_a_statement_is_examined(world: StatementWorld) -> None:
    with world.stream.one_statement():
        world.stream.execute("RENAME TABLE archive_8 TO archive_9", NOON)
        renamed = world.stream.execute("RENAME TABLE staging TO orders_1", NOON)
    world.stream.heartbeat(NEXT)
    world.step()
    assert world.held() == [("a.school.orders_1", renamed)]
    assert world.tagged() == []


def test_a_load_of_rows_that_are_not_there_sweeps_nothing(world: StatementWorld) -> None:
    """The connector reports the end of the load before the request."""
    world.stream.execute("ALTER TABLE orders_0 DROP PARTITION p9", NOON, ORDERS)
    world.step()
    world.stream.loaded("orders_0", "EMPTY")
    world.stream.ask("orders_0", NOON, in_part=True)
    world.stream.heartbeat(NEXT)
    world.step()
    assert world.rows() == {("0", 1), ("0", 2), ("1", 1), ("1", 2)}
    assert world.tagged() == []
    world.stream.ask("orders_0", NEXT)
    world.stream.read("orders_0", order(2, "2.00", 23), NEXT)
    world.stream.loaded("orders_0")
    world.step()
    assert world.held() == []
    assert world.rows() == {("0", 2), ("1", 1), ("1", 2)}
