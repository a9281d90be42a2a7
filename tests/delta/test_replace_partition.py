"""Overwriting partitions: what is in them afterwards, and which writes are refused before anything happens."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from threading import Barrier

import pytest
from pyspark.errors import SparkRuntimeException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from tidemark.delta.delta_rs_table import (
    Partition,
    current_version,
    read_partition,
    read_table,
    table_exists,
    table_metrics,
)
from tidemark.delta.replace_partition import replace_partition, replace_partitions
from tidemark.quoting.spark import path_table
from tidemark.system.errors import SchemaChangedError
from tidemark.system.table_location import TableLocation

pytestmark = pytest.mark.spark

MONDAY, TUESDAY = {"dt": date(2026, 3, 23)}, {"dt": date(2026, 3, 24)}


def rows(spark: SparkSession, *values: int) -> DataFrame:
    return spark.createDataFrame([(value, f"n{value}") for value in values], "id BIGINT, name STRING")


def ids(path: TableLocation, partition: dict[str, date]) -> list[int]:
    return sorted(read_partition(path, partition)["id"].to_pylist())


@pytest.fixture(scope="module")
def table(spark: SparkSession, warehouse_location: TableLocation) -> TableLocation:
    path = warehouse_location / "replaced"
    replace_partitions([(MONDAY, rows(spark, 1, 2)), (TUESDAY, rows(spark, 3))], path)
    return path


def test_a_partition_is_replaced_as_a_whole_and_others_stay(spark: SparkSession, table: TableLocation) -> None:
    before = current_version(table)
    written = replace_partition(rows(spark, 7, 8, 9), table, MONDAY)
    assert (written.metrics[0].rows, written.version) == (3, (before or 0) + 1)
    assert written.metrics == (table_metrics(table, MONDAY),)
    assert ids(table, MONDAY) == [7, 8, 9]
    assert ids(table, TUESDAY) == [3]


def test_writing_the_same_again_changes_no_row(spark: SparkSession, table: TableLocation) -> None:
    replace_partition(rows(spark, 5, 6), table, MONDAY)
    replace_partition(rows(spark, 5, 6), table, MONDAY)
    assert ids(table, MONDAY) == [5, 6]


def test_no_rows_empty_the_partition(spark: SparkSession, table: TableLocation) -> None:
    written = replace_partition(rows(spark), table, {"dt": date(2026, 3, 30)})
    assert written.metrics[0].rows == 0
    assert ids(table, {"dt": date(2026, 3, 30)}) == []


def test_a_new_column_is_added_and_null_in_older_rows(spark: SparkSession, lake: TableLocation) -> None:
    path = lake / "t"
    replace_partition(rows(spark, 1), path, {"dt": date(2026, 3, 23), "hour": "07"})
    wider = rows(spark, 2).selectExpr("*", "CAST(1.5 AS DECIMAL(4,2)) AS rate")
    replace_partition(wider, path, {"dt": date(2026, 3, 23), "hour": "08"})
    by_id = {row["id"]: (row["rate"], row["hour"], row["dt"]) for row in read_table(spark, path).collect()}
    assert by_id[1] == (None, "07", date(2026, 3, 23))
    assert str(by_id[2][0]) == "1.50"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("id", "no column name"),
        ("id, CAST(name AS BINARY) AS name", "another type: name string -> binary"),
        ("id, name, DATE'2026-03-23' AS dt, '2026-03-23' AS DT", "more than once.*found dt"),
    ],
)
def test_rows_that_do_not_fit_are_refused_before_anything_is_written(
    spark: SparkSession, table: TableLocation, query: str, message: str
) -> None:
    before = current_version(table)
    with pytest.raises(SchemaChangedError, match=message):
        replace_partition(rows(spark, 1).selectExpr(*query.split(", ")), table, MONDAY)
    assert current_version(table) == before


@pytest.mark.parametrize("value", ["DATE'2026-03-23'", "'2026-03-23'", "TIMESTAMP'2026-03-23 00:00:00'"])
def test_a_partition_column_of_the_own_slice_is_taken_away(
    spark: SparkSession, lake: TableLocation, value: str
) -> None:
    replace_partition(spark.sql(f"SELECT 4 AS id, {value} AS DT"), lake / "own", MONDAY)
    assert read_table(spark, lake / "own").columns == ["id", "dt"]
    assert ids(lake / "own", MONDAY) == [4]


@pytest.mark.parametrize("value", ["DATE'2026-03-24'", "'20260323'", "NULL", "'none'"])
def test_a_row_of_another_slice_fails_the_write(spark: SparkSession, table: TableLocation, value: str) -> None:
    before = current_version(table)
    other = rows(spark, 4, 5).selectExpr("*", f"{value} AS dt")
    with pytest.raises(
        SparkRuntimeException, match="only removed if its value is the slice's own, 2026-03-23; found in a row"
    ):
        replace_partition(other, table, MONDAY)
    assert current_version(table) == before


STRANGE = ["07", "a b", "x=y/z", "50%", "O'Brien", "\u00e9\U0001f600", "2026-03-23"]


def test_partitions_of_any_name_are_replaced_and_nothing_else_is(spark: SparkSession, lake: TableLocation) -> None:
    """Against a dictionary: every commit leaves exactly the rows that were last written to each partition."""
    path, chance, model = lake / "t", random.Random(5), dict[tuple[date, str], list[int]]()
    keys = [(date(2026, 3, day), hour) for day in (23, 24) for hour in STRANGE]
    for number in range(6):
        chosen = chance.sample(keys, 1 + number % 3)
        contents = [[number * 100 + row for row in range(chance.choice([0, 1, 3]))] for _ in chosen]
        parts: list[tuple[Partition, DataFrame]] = [
            ({"dt": dt, "hour": hour}, rows(spark, *ids)) for (dt, hour), ids in zip(chosen, contents, strict=True)
        ]
        replaced = replace_partitions(parts, path)
        model.update(zip(chosen, contents, strict=True))
        assert [metric.rows for metric in replaced.metrics] == [len(ids) for ids in contents]
        assert replaced.metrics == tuple(table_metrics(path, part, replaced.version) for part, _ in parts)
        expected = Counter((dt, hour, row) for (dt, hour), ids in model.items() for row in ids)
        assert count_rows(read_table(spark, path)) == expected
        written = Counter((dt, hour, row) for (dt, hour), ids in zip(chosen, contents, strict=True) for row in ids)
        assert count_rows(replaced.rows) == written


def count_rows(frame: DataFrame) -> Counter[tuple[date, str, int]]:
    return Counter((row["dt"], row["hour"], row["id"]) for row in frame.collect())


@pytest.mark.long
def test_the_rows_given_back_have_their_partition_last_also_when_a_column_came_later(
    spark: SparkSession, lake: TableLocation
) -> None:
    replace_partition(rows(spark, 1), lake, MONDAY)
    wider = rows(spark, 2).withColumn("rate", sf.lit(1.5))
    for _ in range(2):
        replaced = replace_partition(wider, lake, MONDAY)
        assert replaced.rows.columns == ["id", "name", "rate", "dt"]
        assert [tuple(row) for row in replaced.rows.collect()] == [(2, "n2", 1.5, MONDAY["dt"])]


def test_the_history_shows_the_replaced_partition(spark: SparkSession, table: TableLocation) -> None:
    version = replace_partition(rows(spark, 1, 2), table, MONDAY).version
    told = spark.sql(f"DESCRIBE HISTORY {path_table(table)}").where(f"version = {version}").collect()[0]
    assert (told["operation"], told["readVersion"], told["isBlindAppend"]) == ("WRITE", version - 1, False)
    assert told["operationParameters"]["mode"] == "Overwrite"
    assert "2026-03-23" in told["operationParameters"]["predicate"]
    assert told["operationMetrics"]["numOutputRows"] == "2"


def test_a_table_partitioned_by_something_else_is_refused(spark: SparkSession, table: TableLocation) -> None:
    """As when an entity's period is changed from a day to an hour."""
    before = current_version(table)
    with pytest.raises(SchemaChangedError, match=r"partitioned by something else.*partitions by dt, hour.*found dt"):
        replace_partition(rows(spark, 1), table, {**MONDAY, "hour": "07"})
    assert current_version(table) == before


def test_writers_of_one_partition_come_one_after_the_other(spark: SparkSession, lake: TableLocation) -> None:
    """Whole contents of one of them stay, never a mixture; writers of other partitions are in nobody's way."""
    parts = {"mine": MONDAY, "theirs": MONDAY, "other": TUESDAY}
    replace_partitions([(MONDAY, rows(spark, 0)), (TUESDAY, rows(spark, 0))], lake)
    begin = Barrier(len(parts))

    def write(number: int, partition: dict[str, date]) -> int:
        begin.wait()
        return replace_partition(rows(spark.newSession(), 10 * number, 10 * number + 1), lake, partition).version

    with ThreadPoolExecutor(len(parts)) as pool:
        versions = list(pool.map(write, range(1, 4), parts.values()))
    assert sorted(versions) == [1, 2, 3]
    last = max((0, 1), key=versions.__getitem__) + 1
    assert ids(lake, MONDAY) == [10 * last, 10 * last + 1]
    assert ids(lake, TUESDAY) == [30, 31]


def test_a_path_without_table(lake: TableLocation) -> None:
    assert not table_exists(lake)
    assert current_version(lake) is None
    with pytest.raises(FileNotFoundError, match="no Delta table at"):
        table_metrics(lake)
