"""A query, its rules and what is shown of it go by the clock of its entity."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING

import pytest

from tests.compute.small_warehouse import small_warehouse
from tests.compute.test_slice_computer import computer, rows
from tidemark.compute import slice_clock
from tidemark.compute.errors import ZoneRulesError
from tidemark.compute.read_slice_rows import slice_rows
from tidemark.compute.runtime import Runtime
from tidemark.delta.replace_partition import replace_partition
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.compute.slice_computer import ComputedSlice
    from tidemark.warehouse.warehouse import Warehouse

pytestmark = pytest.mark.spark

DAY = date(2026, 3, 23)
ROWS = """SELECT id, TIMESTAMP'2026-03-22 23:30:00Z' AS paid_at, TIMESTAMP_NTZ'2026-03-23 23:30:00' AS seen_at,
  DOUBLE('NaN') AS v, id = 1 AS flag, CAST(10 AS DECIMAL(10, 2)) AS money FROM range(1, 3)"""


def computed(spark: SparkSession, folder: Path, query: str, yaml: str = "") -> tuple[Warehouse, ComputedSlice]:
    declared = f"period: day\ndepends_on: [{{entity: sales, offset: Set 0}}]\n{yaml}"
    warehouse = small_warehouse(folder, {"sales": ("period: day\n", ROWS + "\n"), "totals": (declared, query + "\n")})
    replace_partition(spark.sql(ROWS), warehouse.table_path("sales"), {"dt": DAY})
    (done,) = computer(spark, warehouse).compute([Slice("totals", str(DAY))])
    return warehouse, done


QUERY = """SELECT to_date(paid_at) AS day, hour(paid_at) AS hour, to_date(:period_start) AS start,
  CAST(seen_at AS TIMESTAMP) = TIMESTAMP'2026-03-23 22:30:00Z' AS is_same FROM sales WHERE dt = :biz_date LIMIT 1"""


def test_dates_of_instants_are_those_of_the_entitys_zone(spark: SparkSession, tmp_path: Path) -> None:
    paris, _ = computed(spark, tmp_path / "paris", QUERY)
    assert rows(paris, "totals", DAY) == [(DAY, 0, DAY, True)]
    utc, _ = computed(spark, tmp_path / "utc", QUERY, "time_zone: UTC\n")
    assert rows(utc, "totals", DAY) == [(date(2026, 3, 22), 23, DAY, False)]


def test_only_queries_and_rules_that_use_the_clock_need_javas_rules(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slice_clock, "differences", lambda *_: ((0, 4_000_000_000),))
    plain = "SELECT id, v, dt + INTERVAL 1 DAY AS next_day FROM sales WHERE dt = :biz_date"
    _, done = computed(spark, tmp_path / "plain", plain, "quality: [{not_null: [id]}]\n")
    assert done.is_published
    clock = "SELECT id, to_date(paid_at) AS day FROM sales WHERE dt = :biz_date"
    for number, (query, rules) in enumerate(
        [(clock, ""), (plain, "quality: [{not_null: {columns: [id], where: v > 1}}]\n")]
    ):
        with pytest.raises(ZoneRulesError, match="Java's clock of Europe/Paris"):
            computed(spark, tmp_path / str(number), query, rules)


RULES = """quality:
  - freshness: {column: seen_at, within: 45m}
  - freshness: {column: seen_at, within: 15m, severity: warn}
  - accepted_values: {column: flag, values: [true, false]}
  - accepted_values: {column: money, values: [10]}
  - accepted_values: {column: id, values: [1.0, 2.0]}
  - range: {column: seen_at, min: '2026-03-23 00:00:00', max: '2026-03-23 23:59:59'}
  - reconcile: {value: sum(v), equals: "SELECT sum(v) FROM sales"}
  - reconcile: {value: max(money), equals: "SELECT 10"}
  - reconcile: {value: max(seen_at), equals: "SELECT max(seen_at) FROM sales"}
  - reconcile: {value: max(paid_at), equals: "SELECT max(paid_at) FROM sales"}
  - reconcile: {value: max(money), equals: "SELECT 11", severity: warn}
  - unique: [id, v]
  - unique: [v]
"""


def test_rules_have_sparks_meaning(spark: SparkSession, tmp_path: Path) -> None:
    _, done = computed(spark, tmp_path, "SELECT * EXCEPT (dt) FROM sales WHERE dt = :biz_date", RULES)
    assert [check.name for check in done.audit.checks if not check.passed] == ["freshness_2", "reconcile_5", "unique_2"]


@pytest.mark.long
def test_profiles_and_spans_are_in_utc(spark: SparkSession, tmp_path: Path) -> None:
    _, done = computed(spark, tmp_path, "SELECT paid_at, seen_at FROM sales WHERE dt = :biz_date", "quality: []\n")
    assert done.audit.event_times == ("2026-03-22 23:30:00", "2026-03-23 23:30:00")
    assert done.audit.figures is not None
    assert {name: figures.minimum for name, figures in done.audit.figures.columns.items()} == {
        "paid_at": "2026-03-22 23:30:00",
        "seen_at": "2026-03-23 23:30:00",
    }


def test_a_condition_is_on_the_same_clock(spark: SparkSession, tmp_path: Path) -> None:
    warehouse, _ = computed(spark, tmp_path, "SELECT paid_at FROM sales WHERE dt = :biz_date")
    shown = slice_rows(Runtime(warehouse), Slice("totals", str(DAY)), "to_date(paid_at) = DATE'2026-03-23'", 5)
    assert [at.replace(tzinfo=None) for at in shown["paid_at"].to_pylist()] == [datetime(2026, 3, 22, 23, 30)] * 2  # noqa: DTZ001
