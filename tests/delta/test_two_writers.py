"""Two writers at once: each tries again until its batch is in, and nothing of either is lost."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from pyspark.sql import SparkSession

from tidemark.delta.commit_conflict import BackOff
from tidemark.delta.commit_info import Transaction
from tidemark.delta.delta_rs_table import read_table
from tidemark.delta.merge import merge_changes
from tidemark.delta.merge_report import MergeReport
from tidemark.delta.merge_target import MergeTarget
from tidemark.quoting.spark import path_table
from tidemark.system.table_location import TableLocation

pytestmark = pytest.mark.spark

SCHEMA = "id BIGINT, part STRING, v STRING, _offset BIGINT"
BATCHES = 2
SHARED = 1


def write(spark: SparkSession, target: MergeTarget, writer: int) -> list[MergeReport]:
    """`BATCHES` batches, each with a new key and the one that both writers change."""
    session, reports = spark.newSession(), []
    for number in range(BATCHES):
        changes = [
            ("u", 100 * writer + number, "x", f"{writer}.{number}", 1),
            ("u", SHARED, "x", f"{writer}.{number}", 10 * number + writer),
        ]
        frame = session.createDataFrame(changes, f"_op STRING, {SCHEMA}").localCheckpoint()
        transaction = Transaction(f"writer{writer}", number, "{}")
        back_off = BackOff(attempts=50, first_seconds=0.02, most_seconds=0.5)
        reports.append(merge_changes(frame, target, frozenset("x"), transaction, back_off))
    return reports


@pytest.mark.long
def test_nothing_is_lost(spark: SparkSession, lake: TableLocation) -> None:
    target = MergeTarget(lake, ("id", "part", "v", "_offset"), ("id",), "_offset", "part", "STRING")
    spark.sql(f"CREATE TABLE {path_table(target.path)} ({SCHEMA}) USING delta PARTITIONED BY (part)")
    with ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(lambda writer: write(spark, target, writer), (1, 2)))
    rows = {row["id"]: (row["v"], row["_offset"]) for row in read_table(spark, target.path).collect()}
    expected = {100 * writer + number: (f"{writer}.{number}", 1) for writer in (1, 2) for number in range(BATCHES)}
    newest = 10 * (BATCHES - 1) + 2
    assert rows == {**expected, SHARED: (f"2.{BATCHES - 1}", newest)}
    versions = [report.version for writer in reports for report in writer]
    assert sorted(versions) == list(range(1, 2 * BATCHES + 1))
