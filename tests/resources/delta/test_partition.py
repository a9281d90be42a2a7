"""Overwriting partitions: what is in them afterwards, and which writes are refused before anything happens."""

from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from resources.delta.partition import replace_partition, replace_partitions
from resources.delta.table import current_version, read_partition, read_table, table_exists, table_metrics
from resources.errors import SchemaChangedError

pytestmark = pytest.mark.spark

MONDAY, TUESDAY = {"dt": date(2026, 3, 23)}, {"dt": date(2026, 3, 24)}


def rows(spark: SparkSession, *values: int) -> DataFrame:
    return spark.createDataFrame([(value, f"n{value}") for value in values], "id BIGINT, name STRING")


def ids(path: Path, partition: dict[str, date]) -> list[int]:
    return sorted(read_partition(path, partition)["id"].to_pylist())


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("delta") / "t"
    replace_partitions([(MONDAY, rows(spark, 1, 2)), (TUESDAY, rows(spark, 3))], path)
    return path


def test_a_partition_is_replaced_as_a_whole_and_others_stay(spark: SparkSession, table: Path) -> None:
    before = current_version(table)
    written = replace_partition(rows(spark, 7, 8, 9), table, MONDAY)
    assert (written.metrics.rows, written.metrics.version) == (3, (before or 0) + 1)
    assert written.metrics == table_metrics(table, MONDAY)
    assert ids(table, MONDAY) == [7, 8, 9]
    assert ids(table, TUESDAY) == [3]


def test_writing_the_same_again_changes_no_row(spark: SparkSession, table: Path) -> None:
    replace_partition(rows(spark, 5, 6), table, MONDAY)
    replace_partition(rows(spark, 5, 6), table, MONDAY)
    assert ids(table, MONDAY) == [5, 6]


def test_no_rows_empty_the_partition(spark: SparkSession, table: Path) -> None:
    written = replace_partition(rows(spark), table, {"dt": date(2026, 3, 30)})
    assert written.metrics.rows == 0
    assert ids(table, {"dt": date(2026, 3, 30)}) == []


def test_a_new_column_is_added_and_null_in_older_rows(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    replace_partition(rows(spark, 1), path, {"dt": date(2026, 3, 23), "hour": "07"})
    wider = rows(spark, 2).selectExpr("*", "CAST(1.5 AS DECIMAL(4,2)) AS rate")
    replace_partition(wider, path, {"dt": date(2026, 3, 23), "hour": "08"})
    found = {row["id"]: (row["rate"], row["hour"], row["dt"]) for row in read_table(spark, path).collect()}
    assert found[1] == (None, "07", date(2026, 3, 23))
    assert str(found[2][0]) == "1.50"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("id", "no column name"),
        ("id, CAST(name AS BINARY) AS name", "another type: name string -> binary"),
        ("id, name, DATE'2026-03-23' AS dt", "columns dt in the rows"),
    ],
)
def test_rows_that_do_not_fit_are_refused_before_anything_is_written(
    spark: SparkSession, table: Path, query: str, message: str
) -> None:
    before = current_version(table)
    with pytest.raises(SchemaChangedError, match=message):
        replace_partition(rows(spark, 1).selectExpr(*query.split(", ")), table, MONDAY)
    assert current_version(table) == before


def test_a_path_without_table(tmp_path: Path) -> None:
    assert not table_exists(tmp_path)
    assert current_version(tmp_path) is None
    with pytest.raises(FileNotFoundError, match="no Delta table at"):
        table_metrics(tmp_path)
