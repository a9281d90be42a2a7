"""The comparison itself: it has to be able to fail."""

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from tidemark.console.demo.source_database_answers import (
    OracleMetric,
    OracleSnapshot,
    compare_metrics,
    compare_snapshots,
    load_oracle,
)
from tidemark.console.project_files import SAMPLE
from tidemark.errors import TidemarkError
from tidemark.olap import open_store
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import Warehouse, load_warehouse

DAY = "2026-03-24"
EXPECTED = {"course_id": 1, "orders": 2, "gmv": "12.50", "gmv_previous_day": None, "day_over_day": None}


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return load_warehouse(Settings.at(tmp_path / "data"))


def publish(warehouse: Warehouse, rows: list[dict[str, object]]) -> None:
    schema = pa.schema(
        [
            ("course_id", pa.int32()),
            ("orders", pa.int64()),
            ("gmv", pa.decimal128(20, 2)),
            ("gmv_previous_day", pa.decimal128(20, 2)),
            ("day_over_day", pa.decimal128(18, 4)),
        ]
    )
    store = open_store("duckdb", warehouse.settings.data)
    store.publish("ads_gmv_course", pa.Table.from_pylist(rows, schema), {"dt": dt.date.fromisoformat(DAY)})


@pytest.mark.parametrize(
    ("rows", "equal", "words"),
    [
        ([{"course_id": 1, "orders": 2, "gmv": Decimal("12.50")}], 5, None),
        ([{"course_id": 1, "orders": 2, "gmv": Decimal("12.51")}], 0, "missing row"),
        ([{"course_id": 1, "orders": 2, "gmv": Decimal("12.50"), "gmv_previous_day": Decimal(0)}], 0, "missing row"),
        ([], 0, "missing row"),
        (
            [{"course_id": 1, "orders": 2, "gmv": Decimal("12.50")}, {"course_id": 9, "orders": 1, "gmv": Decimal(1)}],
            5,
            "unexpected rows",
        ),
    ],
)
def test_figures_are_compared_by_value(
    warehouse: Warehouse, rows: list[dict[str, object]], equal: int, words: str | None
) -> None:
    publish(warehouse, rows)
    store = open_store("duckdb", warehouse.settings.data)
    comparison = compare_metrics([OracleMetric("ads_gmv_course", DAY, (EXPECTED,))], warehouse, store)
    assert comparison.equal == equal
    assert (comparison.checked == comparison.equal) is (words is None)
    assert words is None or any(words in text for text in comparison.differences)


def test_a_snapshot_without_a_name_is_a_difference(warehouse: Warehouse) -> None:
    registry = SnapshotRegistry.at(warehouse.settings.state_db)
    expected = OracleSnapshot("orders", "day", DAY, 3, "17", ("order_id",))
    comparison = compare_snapshots([expected], warehouse, registry)
    assert (comparison.checked, comparison.equal) == (1, 0)
    assert comparison.differences == [
        "ods_orders@2026-03-24: expected (3, '17') by the database's own answers, the lake has None"
    ]


def test_the_sample_has_every_answer() -> None:
    oracle = load_oracle(SAMPLE)
    assert {snapshot.period for snapshot in oracle.snapshots} == {"day", "hour"}
    assert len(oracle.snapshots) == 5 * 9 + 2 * 48
    assert len({(snapshot.table, snapshot.period, snapshot.slice) for snapshot in oracle.snapshots}) == len(
        oracle.snapshots
    )
    assert all(metric.rows for metric in oracle.metrics)


def test_a_missing_oracle_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(TidemarkError, match=r"oracle\.json\.xz"):
        load_oracle(tmp_path)
