"""The rows that are shown of a written slice are rows of the table, as other readers see them."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pytest

from tidemark.delta import file_rows
from tidemark.delta.delta_rs_table import first_rows, read_table
from tidemark.delta.file_rows import first_rows_of, first_rows_written
from tidemark.delta.open_table import open_table
from tidemark.delta.replace_partition import replace_partition, replace_partitions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidemark.delta.delta_rs_table import Partition
    from tidemark.delta.partition_overwrite import Replaced
    from tidemark.system.table_location import TableLocation

pytestmark = pytest.mark.spark
DAY: Final = {"dt": date(2026, 3, 23)}
NEXT: Final = {"dt": date(2026, 3, 24)}
TYPES: Final = """
    SELECT id, CAST(id AS tinyint) AS tiny, CAST(id AS smallint) AS small, CAST(id AS int) AS number, id / 2 AS half,
           CAST(id AS float) AS single, CAST(id AS decimal(38, 18)) AS exact, CAST(id AS string) AS text,
           CAST(CAST(id AS string) AS binary) AS bytes, id % 2 = 0 AS is_even, DATE'1582-10-04' AS day,
           TIMESTAMP'0001-01-01 00:00:00' AS early, timestamp_micros(id) AS at,
           TIMESTAMP_NTZ'2026-03-29 02:30:00' AS wall,
           array(id, NULL) AS list, map('k', struct(id AS v)) AS nested, CAST(NULL AS string) AS nothing
    FROM range(20)
"""


def shown(path: TableLocation, written: Replaced, partition: Partition = DAY, count: int = 8) -> pa.Table:
    (rows,) = first_rows_written(path, [partition], written, count)
    assert rows is not None
    return rows


def test_every_type_is_delta_rs_own_and_every_value_is_sparks(spark: SparkSession, lake: TableLocation) -> None:
    written = replace_partition(spark.sql(TYPES).coalesce(1), lake, DAY)
    rows = shown(lake, written, count=20)
    assert rows.schema == pa.schema(open_table(lake).schema().to_arrow())
    assert rows.to_pylist() == first_rows_of(read_table(spark, lake), DAY, 20).to_pylist()
    assert shown(lake, written).to_pylist() == rows.to_pylist()[:8]


def read_table_schema(path: TableLocation) -> pa.Schema:
    from tidemark.delta.open_table import open_table

    return open_table(path).schema().to_arrow()


@pytest.mark.parametrize("at_once", [0, 1 << 20])
def test_rows_of_several_files_are_put_together(
    spark: SparkSession, lake: TableLocation, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(file_rows, "_READ_AT_ONCE", at_once)
    written = replace_partition(spark.range(6).repartitionByRange(6, "id"), lake, DAY)
    assert written.files is not None
    assert len(written.files[0]) == 6
    assert shown(lake, written, count=5).num_rows == 5
    assert sorted(shown(lake, written)["id"].to_pylist()) == [*range(6)]


def test_columns_are_those_of_the_table_at_that_time(spark: SparkSession, lake: TableLocation) -> None:
    replace_partition(spark.range(2), lake, DAY)
    written = replace_partition(spark.sql("SELECT id, 'new' AS what FROM range(2)"), lake, NEXT)
    assert shown(lake, written, NEXT).to_pylist() == [{"id": at, "what": "new", "dt": NEXT["dt"]} for at in (0, 1)]
    assert first_rows_of(read_table(spark, lake), DAY, 8)["what"].to_pylist() == [None, None]


def test_rows_of_a_refused_slice_are_not_shown(spark: SparkSession, lake: TableLocation) -> None:
    parts = [(DAY, spark.range(2)), (NEXT, spark.range(3))]
    written = replace_partitions(parts, lake, lambda _: [False, True])
    refused, published = first_rows_written(lake, [DAY, NEXT], written, 8)
    assert refused is None
    assert published is not None
    assert published["id"].to_pylist() == [0, 1, 2]
    assert published["dt"].to_pylist() == [NEXT["dt"]] * 3


@pytest.mark.long
def test_files_with_other_names_for_columns_and_hidden_rows(spark: SparkSession, lake: TableLocation) -> None:
    replace_partition(spark.range(1), lake, DAY)
    properties = "'delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true'"
    spark.sql(f"ALTER TABLE delta.`{lake}` SET TBLPROPERTIES ({properties})")
    spark.sql(f"ALTER TABLE delta.`{lake}` RENAME COLUMN id TO number")
    written = replace_partition(spark.sql("SELECT id AS number FROM range(4)"), lake, NEXT)
    assert sorted(shown(lake, written, NEXT)["number"].to_pylist()) == [0, 1, 2, 3]
    spark.sql(f"DELETE FROM delta.`{lake}` WHERE number = 2")  # noqa: S608
    rows = first_rows_of(read_table(spark, lake), NEXT, 8)
    assert sorted(rows["number"].to_pylist()) == [0, 1, 3]


def test_the_whole_table_as_a_slice(spark: SparkSession, lake: TableLocation) -> None:
    written = replace_partition(spark.range(3), lake, {})
    assert shown(lake, written, {}).to_pylist() == [{"id": 0}, {"id": 1}, {"id": 2}]
    assert first_rows(lake, 8).num_rows == 3


def test_no_rows(spark: SparkSession, lake: TableLocation) -> None:
    replace_partition(spark.range(1), lake, DAY)
    assert shown(lake, replace_partition(spark.range(0), lake, NEXT), NEXT).to_pylist() == []
