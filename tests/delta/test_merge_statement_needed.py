"""Tables that only a MERGE statement treats right: it is chosen, says why, and its replay changes nothing."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.lake_folder import table_of_others
from tidemark.delta.commit_info import Transaction
from tidemark.delta.delta_rs_table import current_version, read_table
from tidemark.delta.merge import merge_changes
from tidemark.delta.merge_report import MergeReport
from tidemark.delta.merge_strategy import Strategy
from tidemark.delta.merge_target import MergeTarget
from tidemark.quoting.spark import path_table
from tidemark.system.table_location import TableLocation

pytestmark = pytest.mark.spark

CHANGES = "_op STRING, id BIGINT, part STRING, _offset BIGINT"


def target_at(path: TableLocation, *more: str) -> MergeTarget:
    return MergeTarget(path, ("id", "part", "_offset", *more), ("id",), "_offset", "part", "STRING")


def merge(frame: DataFrame, target: MergeTarget) -> MergeReport:
    return merge_changes(frame, target, frozenset({"x", "y"}), Transaction("test", 1, "{}"))


def reason(report: MergeReport) -> str:
    (decision,) = report.decisions
    assert decision.strategy is Strategy.MERGE
    return decision.reason


def test_a_change_feed(spark: SparkSession, lake: TableLocation) -> None:
    path = lake
    spark.createDataFrame([(1, "x", 1)], "id BIGINT, part STRING, _offset BIGINT").write.format("delta").save(str(path))
    spark.sql(f"ALTER TABLE {path_table(path)} SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
    frame = spark.newSession().createDataFrame([("u", 1, "y", 2)], CHANGES)
    report = merge(frame, target_at(path))
    assert (reason(report), report.version) == ("the table has delta.enableChangeDataFeed", 2)
    feed = spark.read.option("readChangeFeed", "true").option("startingVersion", 2).format("delta")
    assert feed.load(str(path)).count() == 2, "before- and after-image"
    said = json.loads(table_of_others(path).history(1)[0]["userMetadata"])["merge"]
    assert list(said["strategy"]) == ["merge"]
    again = merge(spark.newSession().createDataFrame([("u", 1, "x", 3)], CHANGES), target_at(path))
    assert (again.replayed, again.version, current_version(path)) == (True, 2, 2)


@pytest.mark.long
def test_a_generated_column(spark: SparkSession, lake: TableLocation) -> None:
    path = lake
    spark.sql(
        f"CREATE TABLE {path_table(path)} (id BIGINT, part STRING, _offset BIGINT, "
        "twice BIGINT GENERATED ALWAYS AS (id * 2)) USING delta"
    )
    frame = spark.newSession().createDataFrame([("c", 1, "x", 2, 2)], f"{CHANGES}, twice BIGINT")
    assert reason(merge(frame, target_at(path, "twice"))) == "the table has generated columns"
    assert [tuple(row) for row in read_table(spark, path).collect()] == [(1, "x", 2, 2)]


@pytest.mark.long
def test_files_of_the_same_name(spark: SparkSession, tmp_path: Path) -> None:
    """As Hive writes them: one file is told from the other by its folder alone."""
    path = tmp_path / "t"
    for part, id_ in (("x", 1), ("y", 2)):
        folder = path / f"part={part}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"id": [id_], "_offset": [1]}), folder / "000000_0.parquet")
    spark.sql(f"CONVERT TO DELTA parquet.`{path}` PARTITIONED BY (part STRING)")
    frame = spark.newSession().createDataFrame([("u", 1, "x", 2)], CHANGES)
    assert reason(merge(frame, target_at(path))) == "the table has files of the same name"
    rows = {(row["id"], row["part"], row["_offset"]) for row in read_table(spark, path).collect()}
    assert rows == {(1, "x", 2), (2, "y", 1)}
