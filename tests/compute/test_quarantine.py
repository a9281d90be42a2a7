"""Rows that break a rule are kept where the rule says so, until the slice keeps it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.compute.small_warehouse import small_warehouse
from tests.compute.test_slice_computer import MONDAY, TUESDAY, computer, fill
from tidemark.delta.delta_rs_table import read_rows
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.warehouse.warehouse import Warehouse

pytestmark = pytest.mark.spark

DECLARED = """
period: day
depends_on: [{entity: sales, offset: Set 0}]
quality:
  - unique: {columns: [region], quarantine: true, severity: warn}
  - range: {column: amount, min: 0, quarantine: true}
  - accepted_values: {column: region, values: [cn, eu]}
"""
QUERY = "SELECT id, amount, region FROM sales WHERE dt = :biz_date\n"


def kept(warehouse: Warehouse, place: str) -> dict[tuple[str, str], list[int]]:
    rows = read_rows(warehouse.settings.warehouse / "_quarantine" / "lines").to_pylist()
    by_rule: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        by_rule.setdefault((row["slice"], row["rule"]), []).append(json.loads(row["row"])["id"])
    assert place.endswith("_quarantine/lines")
    return {key: sorted(ids) for key, ids in by_rule.items()}


def test_rows_are_kept_with_the_rule_and_go_when_it_holds(tmp_path: Path, spark: SparkSession) -> None:
    warehouse = small_warehouse(tmp_path, {"lines": (DECLARED, QUERY)})
    monday, days = Slice("lines", "2026-03-23"), [Slice("lines", f"2026-03-{day}") for day in (23, 24)]
    fill(spark, warehouse, {MONDAY: [(1, -5, "cn"), (2, 5, "cn"), (3, 1, "eu")], TUESDAY: [(4, 7, "us")]})
    first, second = computer(spark, warehouse).compute(days)
    assert (list(first.audit.broken), list(second.audit.broken)) == (["range"], ["accepted_values"])
    place = str(first.audit.checks[0].figures["quarantine"])
    assert kept(warehouse, place) == {(str(monday), "unique"): [1, 2], (str(monday), "range"): [1]}
    fill(spark, warehouse, {MONDAY: [(1, 5, "cn"), (2, 5, "cn"), (3, 1, "eu")], TUESDAY: [(4, 7, "eu")]})
    done = computer(spark, warehouse).compute(days)
    assert all(result.is_published for result in done)
    assert [check.passed for check in done[0].audit.checks] == [False, True, True]
    assert kept(warehouse, place) == {(str(monday), "unique"): [1, 2]}
