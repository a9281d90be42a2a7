"""Types that become wider while rows come: the lake's do too, and no value is another one for it."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from deltalake import DeltaTable

from tests.capture.operations.test_crash import Killed
from tests.capture.streams import Stream, at
from tests.lake_folder import lake_folder
from tidemark.capture.apply import table_ingest
from tidemark.capture.errors import ColumnTypeError
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.source_table import SourceTable
from tidemark.delta.delta_rs_table import current_version, read_rows, read_table
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.capture.operations.ingestion_report import IngestReport
    from tidemark.system.table_location import TableLocation

pytestmark = [pytest.mark.spark, pytest.mark.long]

Row = dict[str, Any]
NARROW = {"id": "INT", "amount": "DECIMAL", "day": "DATE", "ratio": "FLOAT", "flag": "BOOLEAN"}
WIDE = {
    "id": "BIGINT",
    "amount": "DECIMAL(14,4)",
    "day": "DATETIME",
    "ratio": "DOUBLE",
    "flag": "TINYINT",
    "paid": "DATETIME",
}
ORDERS = SourceTable("ods_orders", "school.orders_*", ("a", "b"), ("id",), None, (("ods_orders", "day", "2026-03-23"),))
MILLIS = 1_774_224_000_000 + 1500
MIDNIGHT = datetime(2026, 3, 23)  # noqa: DTZ001 - a DATETIME has no zone


def narrow(order_id: int, amount: str) -> Row:
    return {"id": order_id, "amount": amount, "day": 20_535, "ratio": 0.1, "flag": True}


def wide(order_id: int, amount: str) -> Row:
    return {"id": order_id, "amount": amount, "day": MILLIS, "ratio": 0.1, "flag": 7, "paid": MILLIS}


class TypeWorld:
    """Instance `a` with two shards, `b` with one."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.settings = Settings.at(folder / "data")
        self.registry = SnapshotRegistry.at(self.settings.state_db)
        self.a, self.b = Stream("a"), Stream("b")
        self._landed = {"a": 0, "b": 0}
        for number, (stream, shard) in enumerate([(self.a, "orders_0"), (self.a, "orders_1"), (self.b, "orders_2")]):
            stream.declare(shard, NARROW, at("2026-03-23 09:00"))
            stream.change(shard, None, narrow(1, f"{number}.25"), at("2026-03-23 10:00"))

    @property
    def location(self) -> TableLocation:
        return self.settings.warehouse / "ods_orders"

    @property
    def path(self) -> Path:
        return lake_folder(self.location)

    def step(self) -> IngestReport:
        """What came since the last step, by a process that was just started."""
        for stream in (self.a, self.b):
            start = self._landed[stream.instance]
            if len(stream.lines) > start:
                stream.land(self.settings.landing, start)
                self._landed[stream.instance] = len(stream.lines)
        return Ingestion(self.spark, self.settings, [ORDERS], self.registry).step()

    def rows(self, version: int | None = None) -> dict[tuple[str, int], tuple[Any, ...]]:
        types_read = read_table(self.spark, self.path, version).collect()
        return {
            (row["_shard"][-1], row["id"]): (row["amount"], row["day"], row["ratio"], row["flag"]) for row in types_read
        }


@pytest.fixture
def world(spark: SparkSession, tmp_path: Path) -> TypeWorld:
    return TypeWorld(spark, tmp_path)


SINGLE = 0.10000000149011612  # what a server makes of a FLOAT 0.1 that becomes DOUBLE
OLD = {
    ("0", 1): (Decimal("0.2500"), MIDNIGHT, SINGLE, 1),
    ("1", 1): (Decimal("1.2500"), MIDNIGHT, SINGLE, 1),
    ("2", 1): (Decimal("2.2500"), MIDNIGHT, SINGLE, 1),
}
LATER = datetime(2026, 3, 23, 0, 0, 1, 500_000)  # noqa: DTZ001 - as above


def alter_first(world: TypeWorld) -> None:
    """The first of three shards is altered; the second one's rows go on in the old types behind it."""
    when = at("2026-03-23 12:00")
    world.a.change("orders_0", None, narrow(2, "3.00"), when)
    world.a.declare("orders_0", WIDE, when)
    world.a.change("orders_0", None, wide(2**40, "1234567890.1234"), when)
    world.a.change("orders_1", None, narrow(2, "4.00"), when)


ALTERED = {
    **OLD,
    ("0", 2): (Decimal("3.0000"), MIDNIGHT, SINGLE, 1),
    ("0", 2**40): (Decimal("1234567890.1234"), LATER, 0.1, 7),
    ("1", 2): (Decimal("4.0000"), MIDNIGHT, SINGLE, 1),
}


def test_shards_are_altered_one_after_the_other(world: TypeWorld) -> None:
    world.step()
    before = current_version(world.path)
    alter_first(world)
    world.step()
    assert world.rows() == ALTERED

    late = at("2026-03-23 13:00")
    world.b.change("orders_2", narrow(1, "2.25"), narrow(1, "5.00"), late)
    world.a.change("orders_1", narrow(2, "4.00"), None, late)
    world.a.declare("orders_1", WIDE, late)
    world.a.change("orders_1", None, wide(3, "6.5"), late)
    world.step()
    ends = {**ALTERED, ("2", 1): (Decimal("5.0000"), MIDNIGHT, SINGLE, 1), ("1", 3): (Decimal("6.5"), LATER, 0.1, 7)}
    del ends["1", 2]
    assert world.rows() == ends
    check_other_readers(world, len(ends))

    assert world.rows(before) == {
        ("0", 1): (Decimal("0.25"), date(2026, 3, 23), pytest.approx(0.1), True),
        ("1", 1): (Decimal("1.25"), date(2026, 3, 23), pytest.approx(0.1), True),
        ("2", 1): (Decimal("2.25"), date(2026, 3, 23), pytest.approx(0.1), True),
    }


def check_other_readers(world: TypeWorld, count: int) -> None:
    """delta-rs by the log; DuckDB by the list of files, which knows nothing of it."""
    by_log = {row["id"]: row for row in read_rows(world.path).to_pylist()}
    assert by_log[2**40]["amount"] == Decimal("1234567890.1234")
    assert by_log[2]["day"] == MIDNIGHT
    assert (by_log[2**40]["paid"], by_log[2]["paid"]) == (LATER, None)
    files = DeltaTable(str(world.path)).file_uris()
    types_read = duckdb.execute("SELECT typeof(id), typeof(day) FROM read_parquet($files)", {"files": files}).fetchall()
    assert types_read == [("BIGINT", "TIMESTAMP")] * count


def test_one_step_takes_in_rows_from_before_and_after(world: TypeWorld) -> None:
    alter_first(world)
    world.step()
    assert world.rows() == ALTERED


def test_the_snapshot_before_a_change_has_the_types_of_then(world: TypeWorld) -> None:
    """The midnight between is in the same step: what is merged before it is not made wider."""
    world.step()
    for stream in (world.a, world.b):
        stream.heartbeat(at("2026-03-23 23:30"))
    world.a.declare("orders_0", WIDE, at("2026-03-24 08:00"))
    world.a.change("orders_0", None, wide(5, "1.0001"), at("2026-03-24 08:00"))
    (tagged,) = world.step().closed
    assert tagged.slice == "2026-03-23"
    assert {row[0] for row in world.rows(tagged.version).values()} == {
        Decimal("0.25"),
        Decimal("1.25"),
        Decimal("2.25"),
    }
    assert world.rows()["0", 5] == (Decimal("1.0001"), LATER, 0.1, 7)


@pytest.mark.parametrize("point", ["ingest.before_widening", "ingest.after_widening", "ingest.before_commit"])
def test_a_widening_that_a_crash_interrupted_is_completed(
    world: TypeWorld, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    world.step()
    alter_first(world)

    def die(name: str) -> None:
        if name == point:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(table_ingest, "crash_point", die)
        with pytest.raises(Killed):
            world.step()
    report = world.step()
    assert report.changes == {"ods_orders": 3}
    assert world.rows() == ALTERED


def test_the_connector_sends_all_of_it_again(world: TypeWorld) -> None:
    """The declarations too, those of the old types with them: nothing of that is a change back."""
    world.step()
    alter_first(world)
    world.step()
    world.a.again(0, len(world.a.lines))
    world.a.change("orders_1", None, narrow(9, "9.00"), at("2026-03-23 14:00"))
    report = world.step()
    assert report.changes == {"ods_orders": 1}
    assert world.rows() == {**ALTERED, ("1", 9): (Decimal("9.0000"), MIDNIGHT, SINGLE, 1)}


def test_a_narrower_type_stops_before_its_first_row(world: TypeWorld) -> None:
    world.step()
    alter_first(world)
    world.step()
    world.a.declare("orders_0", WIDE | {"id": "INT"}, at("2026-03-23 14:00"))
    world.a.change("orders_0", None, wide(6, "1.0"), at("2026-03-23 14:00"))
    for _ in range(2):
        with pytest.raises(ColumnTypeError, match=r"school\.orders_0.*expected id BIGINT.*found INT"):
            world.step()
    assert world.rows() == ALTERED
