"""The texts of a pass that come to this process are bounded, one by one and in their sum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tidemark.capture.schema.ddl.recorded_statement import RecordedStatement
from tidemark.capture.schema.ddl.statement import undeclared
from tidemark.capture.schema.ddl.unlogged_row_effects import Unproven
from tidemark.capture.source import scan_summary
from tidemark.capture.source.scan_summary import Summary, _bounded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GROUP = "instance STRING, first_offset BIGINT, physical STRING, ddl STRING, changes STRING, requested STRING"


@pytest.mark.spark
def test_texts_beyond_the_sum_are_cut_in_order_and_for_each_instance(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_summary, "MOST_TEXT", 10_000)
    long = "TRUNCATE t" + " " * 3_990
    rows = [
        ("a", 1, "s.t", long, None, None),
        ("a", 2, "s.t", None, "x" * 4_000, "y" * 1_000),
        ("a", 3, "s.u", long, "x" * 4_000, "y" * 1_000),
        ("a", 4, None, "DROP TABLE t", None, None),
        ("a", 5, None, None, None, None),
        ("b", 9, None, long, None, None),
    ]
    bounded = {
        (row["instance"], row["first_offset"]): row for row in _bounded(spark.createDataFrame(rows, GROUP)).collect()
    }
    assert {place for place, row in bounded.items() if row["is_cut"]} == {("a", 3), ("a", 4), ("a", 5)}
    kept = {place: row for place, row in bounded.items() if not row["is_cut"]}
    assert all(tuple(row)[:6] in rows for row in kept.values())
    cut = bounded["a", 3]
    assert len(cut["ddl"]) == 1_000
    assert (cut["changes"], cut["requested"]) == ("?s.u", "y")
    assert tuple(bounded["a", 5])[:6] == rows[4]


def test_a_statement_that_was_cut_may_have_changed_every_table_of_its_database() -> None:
    group = {"instance": "a", "first_offset": 7, "ddl": "TRUNCATE t", "ddl_database": "school", "is_cut": True}
    (statement,) = Summary([group], {}).statements
    assert statement == RecordedStatement("a", 7, "TRUNCATE t", "school", is_cut=True)
    assert statement.effects(undeclared, undeclared) == [
        Unproven("school.*", "the statements of one pass are too long")
    ]
