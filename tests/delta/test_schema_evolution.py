"""Which changes of a table's columns are nothing, which are made, and which are refused: judged by Delta itself."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
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
from tests.seeds import chunks
from tidemark.delta.delta_rs_table import current_version, read_table
from tidemark.delta.replace_partition import replace_partition
from tidemark.delta.schema_evolution import FORBIDDEN, grown_schema, is_same, leaf_types
from tidemark.system.errors import SchemaChangedError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tidemark.system.table_location import TableLocation

MONDAY, TUESDAY = {"dt": date(2026, 3, 23)}, {"dt": date(2026, 3, 24)}
PAIRS, MANY, CHUNK = 150, 2_000, 250

pytestmark = pytest.mark.spark


def ours(table: StructType, incoming: StructType) -> StructType | None:
    try:
        return grown_schema(Path("t"), table, incoming)
    except SchemaChangedError:
        return None


def has_nothing(schema: StructType) -> bool:
    """Whether VOID is in it, which inside of other types Delta merges, and then cannot write."""
    return any(isinstance(leaf, NullType) for leaf in leaf_types(schema))


@pytest.mark.parametrize("pairs", [PAIRS, pytest.param(MANY, marks=pytest.mark.long)])
def test_schemas_are_merged_as_delta_merges_them(spark: SparkSession, pairs: int) -> None:
    judged = {True: 0, False: 0}
    for seed in range(pairs):
        chance = Random(seed)
        table = random_struct(chance)
        incoming = later_struct(chance, table, is_table=True)
        expected, grown = by_delta(spark, table, incoming), ours(table, incoming)
        if grown is None and expected is not None and has_nothing(expected):
            continue
        assert (grown is None) == (expected is None), (seed, table.simpleString(), incoming.simpleString())
        assert grown is None or is_same(grown, expected or grown), (seed, table.simpleString(), incoming.simpleString())
        judged[grown is not None] += 1
    assert min(judged.values()) > pairs / 20


@pytest.mark.parametrize(
    ("monday", "tuesday", "value"),
    [
        ("named_struct('x', 1) AS v", "named_struct('x', 10, 'z', 'q') AS v", {"x": 10, "z": "q"}),
        ("1 AS id, NULL AS v", "1 AS id, 'later' AS v", "later"),
        ("array(1) AS v", "array() AS v", []),
        ("1 AS v", "1 AS v, array(TIMESTAMP_NTZ'2026-03-24 10:00:00') AS at", 1),
        *(
            pytest.param(*further, marks=pytest.mark.long)
            for further in (
                ("1S AS v", "70000 AS v", 70000),
                ("1 AS v", "2S AS V", 2),
                ("collect_list(1) AS v", "collect_list(2) AS v", [2]),
                ("split('a b', ' ') AS v", "split('c', ' ') AS v", ["c"]),
                ("map('k', max(1)) AS v", "map('k', max(2)) AS v", {"k": 2}),
                ("named_struct('x', 1, 'y', 2) AS v", "named_struct('y', 20, 'x', 10) AS v", {"x": 10, "y": 20}),
                ("1 AS id, NULL AS v", "1 AS id, NULL AS v", None),
                ("'first' AS v", "NULL AS v", None),
                ("1 AS v", "1 AS v, TIMESTAMP_NTZ'2026-03-24 10:00:00' AS at", 1),
                ("1 AS v", "1 AS v, named_struct('n', NULL, 'm', 1) AS at", 1),
                ("1 AS v", "1 AS v, parse_json('{}') AS at", 1),
            )
        ),
    ],
)
def test_a_second_slice_is_written_where_delta_would_append_it(
    spark: SparkSession, lake: TableLocation, monday: str, tuesday: str, value: Any
) -> None:
    replace_partition(spark.sql(f"SELECT {monday}"), lake, MONDAY)
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
        ("1 AS v, named_struct() AS new", "does not store.*new struct<>"),
        ("1 AS v, 2 AS V", "columns with invalid names.*found V"),
        ("1 AS v, 2 AS `x y`", "columns with invalid names.*found x y"),
        ("1 AS v, array(named_struct('f', 1, 'F', 2)) AS new", "columns with invalid names.*found new.F"),
        ("1 AS v, map('k', named_struct('a=b', 1)) AS new", "columns with invalid names.*found new.a=b"),
    ],
)
def test_unsupported_columns_are_refused_before_anything_is_written(
    spark: SparkSession, lake: TableLocation, query: str, message: str
) -> None:
    replace_partition(spark.sql("SELECT 1 AS v"), lake, MONDAY)
    with pytest.raises(SchemaChangedError, match=message):
        replace_partition(spark.sql(f"SELECT {query}"), lake, TUESDAY)
    assert current_version(lake) == 0


def test_names_are_refused_where_delta_refuses_them(spark: SparkSession, tmp_path: Path) -> None:
    def frame(names: list[str]) -> DataFrame:
        return spark.createDataFrame([], StructType([StructField(name, IntegerType()) for name in names]))

    taken = [f"a{sign}b" for sign in "-.:/\\[]<>'\"%&+*!?#@|~^$"]
    assert appended(frame(taken), tmp_path / "taken") is not None
    assert ours(StructType([]), frame(taken).schema) is not None
    for sign in sorted(FORBIDDEN):
        refused = frame([f"a{sign}b"])
        assert appended(refused, tmp_path / "refused") is None, sign
        assert ours(StructType([]), refused.schema) is None, sign


def test_a_later_column_of_any_stored_type_is_written(spark: SparkSession, lake: TableLocation) -> None:
    replace_partition(spark.sql("SELECT 1 AS v"), lake, MONDAY)
    replace_partition(spark.sql("SELECT 1 AS v, parse_json('1') AS j, array(parse_json('2')) AS more"), lake, TUESDAY)
    assert {"j", "more"} <= {*read_table(spark, lake).columns}


def test_a_first_slice_without_a_type_is_refused(spark: SparkSession, lake: TableLocation) -> None:
    with pytest.raises(SchemaChangedError, match="does not store"):
        replace_partition(spark.sql("SELECT array() AS v"), lake, MONDAY)
    assert current_version(lake) is None


def test_nullability_of_parts_is_not_a_difference() -> None:
    strict, loose = (ArrayType(IntegerType(), containsNull=has) for has in (False, True))
    assert is_same(StructType([StructField("v", strict, nullable=False)]), StructType([StructField("v", loose)]))


def appended(frame: DataFrame, path: Path) -> StructType | None:
    """The table's columns once Delta has appended a frame; None where it refuses, which changes nothing."""
    features = {f"delta.feature.{name}": "supported" for name in ("timestampNtz", "variantType")}
    try:
        frame.write.format("delta").mode("append").options(mergeSchema="true", **features).save(str(path))
    except (PySparkException, Py4JError):
        return None
    return read_table(frame.sparkSession, path).schema


def later_slice_is_judged_as_delta_does(spark: SparkSession, folder: Path, seed: int) -> bool:
    """Whether a second slice of random columns is taken: by our writer and by Delta's own append, which agree."""
    chance = Random(seed)
    table = random_struct(chance)
    incoming = later_struct(chance, table, is_table=True)
    first, second = (spark.createDataFrame([], schema) for schema in (table, incoming))
    own, theirs = folder / f"{seed}-ours", folder / f"{seed}-theirs"
    assert appended(first, theirs) is not None, seed
    merged, grown = appended(second, theirs), ours(table, incoming)
    if merged is None and has_nothing(incoming):
        # VOID in other types Delta merges and cannot write; we write the merged type, unless it still has any.
        merged = by_delta(spark, table, incoming)
        merged = None if merged and has_nothing(merged) else merged
    assert (grown is None) == (merged is None), (seed, table.simpleString(), incoming.simpleString())
    assert grown is None or is_same(grown, merged or grown), (seed, table.simpleString(), incoming.simpleString())
    if seed % 8 == 0 or has_nothing(incoming):
        replace_partition(first, own, MONDAY)
        with nullcontext() if merged else pytest.raises(SchemaChangedError):
            replace_partition(second, own, TUESDAY)
        assert merged is not None or current_version(own) == 0, seed
        assert merged is None or is_same(read_table(spark, own).drop("dt").schema, merged), seed
    return merged is not None


@pytest.mark.long
@pytest.mark.parametrize("first", chunks(0, CHUNK, MANY))
def test_delta_accepts_appends_with_the_merged_schema(spark: SparkSession, tmp_path: Path, first: int) -> None:
    """Tables written by Spark, then another slice."""
    with ThreadPoolExecutor(3) as pool:
        seeds = range(first, first + CHUNK)
        taken = list(pool.map(lambda seed: later_slice_is_judged_as_delta_does(spark, tmp_path, seed), seeds))
    assert CHUNK / 20 < sum(taken) < CHUNK
