"""Other engines: DuckDB and delta-rs read of every version what Spark reads."""

from datetime import date

import duckdb
import pytest
from pyspark.sql import SparkSession

from tidemark.delta.commit_info import Transaction
from tidemark.delta.delta_rs_table import current_version, read_rows, read_table
from tidemark.delta.merge import merge_changes
from tidemark.delta.merge_target import MergeTarget
from tidemark.delta.replace_partition import replace_partition
from tidemark.quoting.spark import path_table
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


def by_spark(spark: SparkSession, table: TableLocation, version: int | None = None) -> Rows:
    return sorted((row["id"], row["_offset"], row["dt"]) for row in read_table(spark, table, version).collect())


def by_duckdb(table: TableLocation, version: int | None = None) -> Rows:
    connection = duckdb.connect().register("read", read_rows(table, version))
    return sorted(connection.execute("SELECT id, _offset, dt FROM read").fetchall())


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
