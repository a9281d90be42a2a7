"""Other engines: manifests are current after every kind of commit; DuckDB and delta-rs read what Spark reads."""

from datetime import date
from pathlib import Path

import duckdb
import pytest
from pyspark.sql import SparkSession

from tests.lake_folder import lake_folder
from tidemark.delta.commit_info import Transaction
from tidemark.delta.delta_rs_table import current_version, read_rows, read_table
from tidemark.delta.errors import NotADeltaTableError, TableFeatureError
from tidemark.delta.merge import merge_changes
from tidemark.delta.merge_target import MergeTarget
from tidemark.delta.repair import repair_partition
from tidemark.delta.repair_plan import plan_repair
from tidemark.delta.replace_partition import replace_partition
from tidemark.delta.symlink_manifest import keep_manifest, manifest_files
from tidemark.quoting.spark import path_table
from tidemark.state_store.database import Database
from tidemark.system.table_location import TableLocation

pytestmark = pytest.mark.spark

MONDAY, TUESDAY = {"dt": date(2026, 3, 23)}, {"dt": date(2026, 3, 24)}
Rows = list[tuple[int, int, date]]


@pytest.fixture
def table(spark: SparkSession, lake: TableLocation) -> TableLocation:
    path = lake
    spark.sql(f"CREATE TABLE {path_table(path)} (id BIGINT, _offset BIGINT, dt DATE) USING delta PARTITIONED BY (dt)")
    return path


def write(spark: SparkSession, table: TableLocation, day: dict[str, date], ids: list[int]) -> None:
    rows = spark.createDataFrame([(id_, 0) for id_ in ids], "id BIGINT, _offset BIGINT").coalesce(1)
    replace_partition(rows, table, day)


def merge(spark: SparkSession, table: TableLocation, *changes: tuple[str, int, int, date]) -> None:
    target = MergeTarget(table, ("id", "_offset", "dt"), ("id",), "_offset", "dt", "DATE")
    frame = spark.newSession().createDataFrame(list(changes), "_op STRING, id BIGINT, _offset BIGINT, dt DATE")
    merge_changes(frame, target, None, Transaction("test", changes[0][2], "{}"))


def by_manifest(table: TableLocation) -> Rows:
    """As an engine reads it that knows manifests and Parquet, and nothing of the log."""
    rows: Rows = []
    for folder, files in manifest_files(table).items():
        day = date.fromisoformat(folder.removeprefix("dt="))
        query = "SELECT id, _offset FROM read_parquet($files, hive_partitioning = false)"
        there = [file.replace(str(table), str(lake_folder(table))) for file in files]
        read = duckdb.execute(query, {"files": there}).fetchall() if files else []
        rows += [(id_, offset, day) for id_, offset in read]
    return sorted(rows)


def by_spark(spark: SparkSession, table: TableLocation, version: int | None = None) -> Rows:
    return sorted((row["id"], row["_offset"], row["dt"]) for row in read_table(spark, table, version).collect())


def by_duckdb(table: TableLocation, version: int | None = None) -> Rows:
    connection = duckdb.connect().register("read", read_rows(table, version))
    return sorted(connection.execute("SELECT id, _offset, dt FROM read").fetchall())


def test_manifests_are_current_after_every_kind_of_commit(
    spark: SparkSession, table: TableLocation, tmp_path: Path
) -> None:
    write(spark, table, MONDAY, [1, 2])
    keep_manifest(spark, table)
    assert len(by_manifest(table)) == 2
    write(spark, table, TUESDAY, [3])
    assert by_manifest(table) == by_spark(spark, table)
    right = current_version(table)
    merge(spark, table, ("u", 1, 5, TUESDAY["dt"]), ("d", 2, 5, MONDAY["dt"]), ("c", 4, 5, MONDAY["dt"]))
    assert by_manifest(table) == by_spark(spark, table)
    repair_partition(spark, plan_repair(spark, table, MONDAY, right), Database.at(tmp_path / "state.db"))
    assert [row[0] for row in by_manifest(table)] == [1, 1, 2, 3]
    assert by_manifest(table) == by_spark(spark, table)


@pytest.mark.long
@pytest.mark.parametrize("vectors", ["false", "true"])
def test_every_version_is_the_same_for_every_engine(spark: SparkSession, table: TableLocation, vectors: str) -> None:
    spark.sql(f"ALTER TABLE {path_table(table)} SET TBLPROPERTIES ('delta.enableDeletionVectors' = '{vectors}')")
    write(spark, table, MONDAY, list(range(50)))
    merge(spark, table, ("u", 1, 5, TUESDAY["dt"]), ("d", 2, 5, MONDAY["dt"]))
    spark.sql(f"DELETE FROM {path_table(table)} WHERE id = 7")  # noqa: S608 - our own path
    newest = current_version(table)
    assert newest is not None
    for version in range(2, newest + 1):
        assert by_duckdb(table, version) == by_spark(spark, table, version)
    assert len(by_duckdb(table)) == 48


def test_what_cannot_have_a_manifest(spark: SparkSession, table: TableLocation) -> None:
    spark.sql(f"ALTER TABLE {path_table(table)} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    before = current_version(table)
    with pytest.raises(TableFeatureError, match="deletion vectors"):
        keep_manifest(spark, table)
    assert current_version(table) == before
    with pytest.raises(NotADeltaTableError):
        keep_manifest(spark, table.parent)
