"""The newest rows, read from the files that a checksum lists, are those of Spark's own frame."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest

from tidemark.delta.delta_rs_table import read_table
from tidemark.delta.internals.listed_table import ListedTable
from tidemark.delta.logged_partition import may_be_in
from tidemark.delta.newest_table import NewestTable
from tidemark.delta.replace_partition import replace_partition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

    from tidemark.delta.delta_rs_table import Partition
    from tidemark.system.table_location import TableLocation

pytestmark = pytest.mark.spark
DAYS = [{"dt": date(2026, 3, day)} for day in (23, 24, 25)]


def filled(spark: SparkSession, path: TableLocation, partitions: Sequence[Partition]) -> None:
    for number, partition in enumerate(partitions):
        rows = spark.sql(f"SELECT id, 'of {number}' AS what, timestamp_micros(id) AS at FROM range({number + 1})")  # noqa: S608
        replace_partition(rows, path, partition)


def newest(spark: SparkSession, path: TableLocation) -> NewestTable:
    table = NewestTable.if_there(spark, path)
    assert table is not None
    return table


def listed(spark: SparkSession, path: TableLocation) -> ListedTable:
    table = ListedTable.newest(spark, path)
    assert table is not None
    return table


def content(rows: DataFrame) -> list[str]:
    return sorted(map(str, rows.collect()))


def test_the_rows_are_those_of_sparks_own_frame(spark: SparkSession, lake: TableLocation) -> None:
    filled(spark, lake, DAYS)
    own = read_table(spark, lake)
    for some in (None, DAYS[:1], DAYS[1:]):
        rows = newest(spark, lake).rows(some)
        assert rows.schema == own.schema
        wanted = own if some is None else own.where(own["dt"].isin([partition["dt"] for partition in some]))
        assert content(rows) == content(wanted)


def test_a_frame_stays_at_its_version(spark: SparkSession, lake: TableLocation) -> None:
    filled(spark, lake, DAYS[:1])
    before = newest(spark, lake).rows(DAYS[:1])
    replace_partition(spark.sql("SELECT 7L AS id, 'later' AS what, timestamp_micros(7) AS at"), lake, DAYS[0])
    assert [row["what"] for row in before.collect()] == ["of 0"]
    assert [row["what"] for row in newest(spark, lake).rows(DAYS[:1]).collect()] == ["later"]


@pytest.mark.long
def test_hidden_rows_stay_hidden(spark: SparkSession, lake: TableLocation) -> None:
    filled(spark, lake, DAYS)
    spark.sql(f"ALTER TABLE delta.`{lake}` SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    spark.sql(f"DELETE FROM delta.`{lake}` WHERE dt = DATE'2026-03-25' AND id = 1")  # noqa: S608
    assert content(newest(spark, lake).rows(DAYS[2:])) == content(read_table(spark, lake).where("dt = '2026-03-25'"))


def test_a_condition_that_no_partition_tells_leaves_no_row_out(spark: SparkSession, lake: TableLocation) -> None:
    """Of a table that is partitioned otherwise, or that has other names for its columns in its files."""
    filled(spark, lake, DAYS)
    assert listed(spark, lake).rows([{"id": 1}]) is None
    assert listed(spark, lake).rows([{"DT": DAYS[0]["dt"]}]) is None
    assert newest(spark, lake).rows([{"DT": DAYS[0]["dt"]}]).count() == 6


def test_many_files_are_left_to_spark(spark: SparkSession, lake: TableLocation) -> None:
    filled(spark, lake, DAYS)
    many = spark.range(40).repartition(20).selectExpr("id", "'many' AS what", "timestamp_micros(id) AS at")
    many.selectExpr("*", "DATE'2026-03-26' AS dt").write.format("delta").mode("append").save(str(lake))
    assert listed(spark, lake).rows([{"dt": date(2026, 3, 26)}]) is None
    assert listed(spark, lake).rows(None) is None
    assert listed(spark, lake).rows(DAYS) is not None


@pytest.mark.parametrize(
    ("text", "value", "may_be"),
    [
        ("2026-03-23", date(2026, 3, 23), True),
        ("2026-03-24", date(2026, 3, 23), False),
        ("23 March", date(2026, 3, 23), True),
        ("07", 7, True),
        ("8", 7, False),
        ("07", "7", False),
        ("eu", "eu", True),
        (None, 7, False),
    ],
)
def test_partition_values_are_compared_by_meaning(text: str | None, value: date | int | str, may_be: bool) -> None:
    assert may_be_in({"p": text}, [{"p": value}]) is may_be
