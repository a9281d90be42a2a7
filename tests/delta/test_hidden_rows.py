"""Merges that hide rows of a large file: what is counted and read without Spark, and how many files are left."""

import hashlib

import pytest
from pyspark.sql import SparkSession

from tidemark.delta.commit_info import Transaction
from tidemark.delta.delta_rs_table import first_rows, read_rows, read_table, table_metrics
from tidemark.delta.merge import merge_changes
from tidemark.delta.merge_report import MergeReport
from tidemark.delta.merge_strategy import SMALL_BYTES, Strategy
from tidemark.delta.merge_target import MergeTarget
from tidemark.quoting.spark import path_table
from tidemark.system.table_location import TableLocation

ROWS = 3_000
SCHEMA = "id BIGINT, part STRING, v STRING, _offset BIGINT"

pytestmark = pytest.mark.spark


@pytest.fixture
def target(spark: SparkSession, lake: TableLocation) -> MergeTarget:
    """A table with deletion vectors and one file that is not small."""
    path = lake
    spark.sql(
        f"CREATE TABLE {path_table(path)} ({SCHEMA}) USING delta PARTITIONED BY (part) "
        "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    )
    target = MergeTarget(path, ("id", "part", "v", "_offset"), ("id",), "_offset", "part", "STRING")
    merged(spark, target, 1, [("c", number) for number in range(ROWS)])
    assert table_metrics(path).size_bytes > SMALL_BYTES
    return target


def merged(spark: SparkSession, target: MergeTarget, number: int, changes: list[tuple[str, int]]) -> MergeReport:
    rows = [(op, key, "x", hashlib.sha256(f"{key}".encode()).hexdigest(), number) for op, key in changes]
    frame = spark.newSession().createDataFrame(rows, f"_op STRING, {SCHEMA}").coalesce(1)
    return merge_changes(frame, target, frozenset({"x"}), Transaction("hidden", number, "{}"))


def test_hidden_rows_are_neither_counted_nor_read(spark: SparkSession, target: MergeTarget) -> None:
    report = merged(spark, target, 2, [("u", 7), ("u", 8), ("d", 9), ("c", ROWS)])
    assert [decision.strategy for decision in report.decisions] == [Strategy.DELETION_VECTORS]
    assert table_metrics(target.path).rows == read_rows(target.path).num_rows == ROWS
    assert sorted(read_rows(target.path, columns=["id"])["id"].to_pylist()) == [*range(9), *range(10, ROWS + 1)]
    assert read_rows(target.path, version=report.version - 1).num_rows == ROWS
    assert first_rows(target.path, 5).num_rows == 5
    assert read_table(spark, target.path).count() == ROWS


@pytest.mark.long
def test_small_files_are_folded_into_the_next_one(spark: SparkSession, target: MergeTarget) -> None:
    for number in range(2, 8):
        report = merged(spark, target, number, [("u", number), ("u", number + 100), ("c", ROWS + number)])
        assert (report.updated, report.inserted) == (2, 1)
    assert table_metrics(target.path).files == 2
    assert table_metrics(target.path).rows == ROWS + 6
    offsets = {row["id"]: row["_offset"] for row in read_rows(target.path).to_pylist()}
    assert len(offsets) == ROWS + 6
    assert {offsets[number] for number in range(2, 8)} == {2, 3, 4, 5, 6, 7}
