"""What a merge refuses before it writes anything, what it reports, and what is left of one that is killed."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.lake_folder import table_of_others
from tidemark.delta.commit_info import Transaction
from tidemark.delta.delta_rs_table import current_version, read_table
from tidemark.delta.errors import ColumnsDifferError, KeyNotUniqueError, NotADeltaTableError
from tidemark.delta.merge import merge_changes
from tidemark.delta.merge_report import MergeReport
from tidemark.delta.merge_strategy import Strategy
from tidemark.delta.merge_target import MergeTarget
from tidemark.system.crash_points import ENV_NAME
from tidemark.system.table_location import TableLocation

pytestmark = pytest.mark.spark

SCHEMA = "id BIGINT, part STRING, v STRING, _offset BIGINT"
ROWS = [(1, "x", "a", 1), (2, "x", "b", 1), (3, "y", "c", 1), (4, "y", "c", 1), (4, "y", "d", 1)]


@pytest.fixture
def target(spark: SparkSession, lake: TableLocation) -> MergeTarget:
    """Key 4 is there twice."""
    path = lake
    spark.createDataFrame(ROWS, SCHEMA).coalesce(1).write.format("delta").partitionBy("part").save(str(path))
    return MergeTarget(path, ("id", "part", "v", "_offset"), ("id",), "_offset", "part", "STRING")


def changes(spark: SparkSession, *rows: tuple[str, int | None, str, str, int]) -> DataFrame:
    return spark.newSession().createDataFrame(list(rows), f"_op STRING, {SCHEMA}")


def merge(frame: DataFrame, target: MergeTarget, number: int = 1) -> MergeReport:
    return merge_changes(frame, target, frozenset({"x", "y", "z"}), Transaction("test", number, "{}"))


def values(spark: SparkSession, target: MergeTarget) -> set[tuple[int, str]]:
    return {(row["id"], row["v"]) for row in read_table(spark, target.path).collect()}


def test_a_key_that_is_there_twice(spark: SparkSession, target: MergeTarget) -> None:
    with pytest.raises(KeyNotUniqueError, match="several rows of the table have the same key") as caught:
        merge(changes(spark, ("u", 4, "y", "new", 2)), target)
    assert caught.value.found == "(4) more than once; 1 such key in this batch"
    assert current_version(target.path) == 0


def test_a_change_without_key(spark: SparkSession, target: MergeTarget) -> None:
    with pytest.raises(KeyNotUniqueError, match="has no key"):
        merge(changes(spark, ("u", None, "y", "new", 2)), target)
    assert current_version(target.path) == 0


def test_columns_that_the_table_has_not_or_has_since(spark: SparkSession, target: MergeTarget) -> None:
    unknown = MergeTarget(target.path, (*target.columns, "coupon"), ("id",), "_offset", "part", "STRING")
    with pytest.raises(ColumnsDifferError) as caught:
        merge(changes(spark, ("u", 1, "x", "new", 2)), unknown)
    assert caught.value.found == "no column coupon in the table"
    spark.sql(f"ALTER TABLE delta.`{target.path}` ADD COLUMNS (note STRING)")
    with pytest.raises(ColumnsDifferError) as since:
        merge(changes(spark, ("u", 1, "x", "new", 2)), target)
    assert since.value.found == "column note of the table is missing"
    assert current_version(target.path) == 1


def test_no_table(spark: SparkSession, lake: TableLocation) -> None:
    nowhere = MergeTarget(lake, ("id", "part", "v", "_offset"), ("id",), "_offset", "part", "STRING")
    with pytest.raises(NotADeltaTableError):
        merge(changes(spark, ("u", 1, "x", "new", 2)), nowhere)


def test_each_partition_has_its_strategy_in_one_commit(spark: SparkSession, target: MergeTarget) -> None:
    frame = changes(spark, ("u", 1, "x", "new", 2), ("c", 9, "z", "new", 2), ("d", 2, "x", "", 1), ("d", 3, "y", "", 2))
    report = merge(frame, target)
    assert {decision.partition: decision.strategy for decision in report.decisions} == {
        "x": Strategy.REWRITE,
        "y": Strategy.REWRITE,
        "z": Strategy.APPEND,
    }
    assert (report.inserted, report.updated, report.deleted, report.stale) == (1, 1, 1, 1)
    assert (report.rows_copied, report.files_read, report.files_removed) == (3, 2, 2)
    assert values(spark, target) == {(1, "new"), (2, "b"), (4, "c"), (4, "d"), (9, "new")}
    last = table_of_others(target.path).history(1)[0]
    assert last["version"] == report.version == 1
    assert last["operation"] == "MERGE"
    said = json.loads(last["userMetadata"])["merge"]
    assert said["strategy"]["append"] == ["z: no file can have a key of the batch"]
    assert merge(frame, target).replayed
    assert current_version(target.path) == 1


@pytest.mark.parametrize(
    ("point", "version"), [pytest.param("merge.files_written", 0, marks=pytest.mark.long), ("merge.committed", 1)]
)
def test_killed_it_is_in_or_not(
    spark: SparkSession, target: MergeTarget, tmp_path: Path, point: str, version: int
) -> None:
    program = (
        "from pathlib import Path; import sys\n"
        "from tidemark.system.settings import Settings; from tidemark.spark.session import spark_session\n"
        "from tidemark.system.table_location import table_location\n"
        "from tests.delta.test_merge_input import *\n"
        "path = table_location(sys.argv[1])\n"
        "target = MergeTarget(path, ('id', 'part', 'v', '_offset'), ('id',), '_offset', 'part', 'STRING')\n"
        "spark = spark_session(Settings.at(Path(sys.argv[2]), warehouse=path.parent))\n"
        "merge(changes(spark, ('u', 1, 'x', 'new', 2)), target)\n"
    )
    env = {**os.environ, ENV_NAME: point}
    command = [sys.executable, "-c", program, str(target.path), str(tmp_path)]
    killed = subprocess.run(command, env=env, check=False, timeout=300)
    assert killed.returncode == -signal.SIGKILL
    assert current_version(target.path) == version
    assert values(spark, target) == {(1, "new" if version else "a"), (2, "b"), (3, "c"), (4, "c"), (4, "d")}
    assert merge(changes(spark, ("u", 1, "x", "new", 2)), target).replayed == (version == 1)
    assert (1, "new") in values(spark, target)
