"""Which changes of a table's columns are nothing, which are made, and which are refused: judged by Delta itself."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Row
from pyspark.sql.types import ArrayType, IntegerType, NullType, StructField, StructType

from tests.delta.internals.merged_schemas import by_delta
from tests.delta.random_schemas import later_struct, random_struct
from tidemark.delta.delta_rs_table import current_version, read_table
from tidemark.delta.replace_partition import replace_partition
from tidemark.delta.schema_evolution import grown_schema, is_same, leaf_types
from tidemark.system.errors import SchemaChangedError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidemark.system.table_location import TableLocation

MONDAY, TUESDAY = {"dt": date(2026, 3, 23)}, {"dt": date(2026, 3, 24)}
PAIRS, MANY = 150, 2_000

pytestmark = pytest.mark.spark


def ours(table: StructType, incoming: StructType) -> StructType | None:
    try:
        return grown_schema(Path("t"), table, incoming)
    except SchemaChangedError:
        return None


def has_nothing(schema: StructType) -> bool:
    """Whether VOID is in it, which inside of other types Delta merges, and then cannot write."""
    return any(isinstance(leaf, NullType) for leaf in leaf_types(schema))


def test_schemas_are_merged_as_delta_merges_them(spark: SparkSession) -> None:
    judged = {True: 0, False: 0}
    for seed in range(PAIRS):
        chance = Random(seed)
        table = random_struct(chance)
        incoming = later_struct(chance, table, is_table=True)
        expected, grown = by_delta(spark, table, incoming), ours(table, incoming)
        if grown is None and expected is not None and has_nothing(expected):
            continue
        assert (grown is None) == (expected is None), (seed, table.simpleString(), incoming.simpleString())
        assert grown is None or is_same(grown, expected or grown), (seed, table.simpleString(), incoming.simpleString())
        judged[grown is not None] += 1
    assert min(judged.values()) > PAIRS / 20


@pytest.mark.parametrize(
    ("monday", "tuesday", "value"),
    [
        ("collect_list(1) AS v", "collect_list(2) AS v", [2]),
        ("split('a b', ' ') AS v", "split('c', ' ') AS v", ["c"]),
        ("map('k', max(1)) AS v", "map('k', max(2)) AS v", {"k": 2}),
        ("named_struct('x', 1, 'y', 2) AS v", "named_struct('y', 20, 'x', 10) AS v", {"x": 10, "y": 20}),
        ("named_struct('x', 1) AS v", "named_struct('x', 10, 'z', 'q') AS v", {"x": 10, "z": "q"}),
        ("1 AS id, NULL AS v", "1 AS id, NULL AS v", None),
        ("1 AS id, NULL AS v", "1 AS id, 'later' AS v", "later"),
        ("'first' AS v", "NULL AS v", None),
        ("1S AS v", "70000 AS v", 70000),
        ("1 AS v", "2S AS V", 2),
        ("array(1) AS v", "array() AS v", []),
        ("1 AS v", "1 AS v, TIMESTAMP_NTZ'2026-03-24 10:00:00' AS at", 1),
        ("1 AS v", "1 AS v, array(TIMESTAMP_NTZ'2026-03-24 10:00:00') AS at", 1),
        ("1 AS v", "1 AS v, named_struct('n', NULL, 'm', 1) AS at", 1),
        ("1 AS v", "1 AS v, parse_json('{}') AS at", 1),
    ],
)
def test_a_second_slice_is_written_where_delta_would_append_it(
    spark: SparkSession, lake: TableLocation, monday: str, tuesday: str, value: Any
) -> None:
    replace_partition(spark.sql(f"SELECT {monday}"), lake, MONDAY)
    for _ in range(2):
        replace_partition(spark.sql(f"SELECT {tuesday}"), lake, TUESDAY)
    (row,) = read_table(spark, lake).where("dt = '2026-03-24'").collect()
    assert (row["v"].asDict() if isinstance(row["v"], Row) else row["v"]) == value


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("1L AS v", "another type: v int -> bigint"),
        ("named_struct('x', 1) AS v", "another type: v int -> struct"),
        ("1 AS v, named_struct('n', NULL) AS new", "does not store.*new struct<n:void>"),
        ("1 AS v, array() AS new", "does not store.*new array<void>"),
        ("1 AS v, INTERVAL '1' DAY AS new", "does not store.*new interval day"),
        ("1 AS v, 2 AS DT", "columns DT in the rows"),
    ],
)
def test_what_delta_does_not_take_is_refused_before_anything_is_written(
    spark: SparkSession, lake: TableLocation, query: str, message: str
) -> None:
    replace_partition(spark.sql("SELECT 1 AS v"), lake, MONDAY)
    with pytest.raises(SchemaChangedError, match=message):
        replace_partition(spark.sql(f"SELECT {query}"), lake, TUESDAY)
    assert current_version(lake) == 0


def test_a_first_slice_without_a_type_is_refused(spark: SparkSession, lake: TableLocation) -> None:
    with pytest.raises(SchemaChangedError, match="does not store"):
        replace_partition(spark.sql("SELECT array() AS v"), lake, MONDAY)
    assert current_version(lake) is None


def test_whether_parts_may_be_null_is_no_difference() -> None:
    strict, loose = (ArrayType(IntegerType(), containsNull=has) for has in (False, True))
    assert is_same(StructType([StructField("v", strict, nullable=False)]), StructType([StructField("v", loose)]))


@pytest.mark.long
def test_delta_appends_what_is_merged_here(spark: SparkSession, tmp_path: Path) -> None:
    """Tables written by Spark, then another slice: by Delta's own append and by ours, which agree."""
    for seed in range(MANY):
        chance = Random(seed)
        table = random_struct(chance)
        incoming = later_struct(chance, table, is_table=True)
        path = tmp_path / str(seed)
        frames = [spark.createDataFrame([], schema) for schema in (table, incoming)]
        frames[0].write.format("delta").save(str(path / "delta"))
        try:
            frames[1].write.format("delta").mode("append").option("mergeSchema", "true").save(str(path / "delta"))
            merged: StructType | None = read_table(spark, path / "delta").schema
        except (PySparkException, Py4JError) as error:
            if "MANUAL_ENABLEMENT" in str(error) or has_nothing(incoming):
                continue
            merged = None
        assert (ours(table, incoming) is None) == (merged is None), seed
