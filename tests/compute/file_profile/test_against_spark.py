"""The profile of files against the one that Spark's aggregates make of the same rows: the slow one is the model."""

from __future__ import annotations

import os
import random
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlparse

import pytest
from pyspark.sql import functions as sf

from tidemark.compute.file_profile.file_profile import can_be_read, profile_of_files
from tidemark.compute.profile_aggregates import ProfileAggregates, profiled_fields
from tidemark.dependency_model.entity.profile_settings import ProfileSettings
from tidemark.dependency_model.profile.figures import RANKS
from tidemark.dependency_model.profile.sketches import (
    COUNT_ERROR,
    DISTINCT_ERROR,
    QUANTILE_K,
    RANK_ERROR,
    TRACKED_VALUES,
    cumulative_shares,
    distinct_values,
    frequent_values,
    merge_distinct,
    quantiles,
)
from tidemark.dependency_model.profile.slice_profile import ColumnKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tidemark.dependency_model.profile.slice_profile import ColumnProfile, SliceProfile

pytestmark = pytest.mark.spark

TYPES: Final = (
    "BYTE",
    "SHORT",
    "INT",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(9, 2)",
    "DECIMAL(18, 4)",
    "DECIMAL(38, 0)",
    "DECIMAL(30, 12)",
    "DATE",
    "TIMESTAMP",
    "TIMESTAMP_NTZ",
    "STRING",
    "BOOLEAN",
    "BINARY",
    "ARRAY<INT>",
)
_BITS: Final = {"BYTE": 8, "SHORT": 16, "INT": 32, "BIGINT": 64}
_PIECES: Final = ("", "a", "é", "京", "😀", "abcdefgh", " ", "'", "\\\\", "0")
_SPECIAL: Final = ("0", "-1", "1", "'NaN'", "'-0.0'", "'Infinity'", "'-Infinity'", "1e30", "1.5e-7", "12345678.9")


def literal(chance: random.Random, kind: str) -> str:
    """A value of the type as SQL; NULL now and then."""
    return f"CAST({'NULL' if chance.random() < 0.1 else _value(chance, kind)} AS {kind})"


def _value(chance: random.Random, kind: str) -> str:
    if kind in ("FLOAT", "DOUBLE"):
        return chance.choice(_SPECIAL) if chance.random() < 0.3 else f"{chance.uniform(-1e4, 1e4)!r}"
    if kind.startswith("DECIMAL"):
        digits, scale = map(int, kind[8:-1].split(","))
        units = chance.randrange(10 ** chance.randrange(1, digits + 1))
        return f"'{chance.choice('+-')}{units}E-{scale}'"
    if kind in ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ"):
        days = chance.choice((chance.randrange(-800_000, 3_000_000), chance.randrange(20_000, 20_010)))
        micros = days * 86_400_000_000 + chance.choice((0, 500_000, chance.randrange(86_400_000_000)))
        return f"timestamp_micros({micros})"
    if kind in ("STRING", "BINARY"):
        text = "".join(chance.choices(_PIECES, k=chance.choice((0, 1, 3, 12, 40))))
        return "'" + text.replace("'", "\\'") + "'"
    if kind in _BITS:
        reach = chance.choice((4, 2 ** (_BITS[kind] - 1)))
        return f"{chance.randrange(-reach, reach)}"
    return "array(1, NULL)" if kind == "ARRAY<INT>" else chance.choice(("TRUE", "FALSE"))


def random_rows(spark: SparkSession, seed: int) -> DataFrame:
    """Some rows of a few columns of any type."""
    chance = random.Random(seed)
    kinds = chance.choices(TYPES, k=chance.randrange(1, 7))
    rows = ", ".join(
        f"({', '.join(literal(chance, kind) for kind in kinds)})" for _ in range(chance.choice((0, 1, 5, 40, 300)))
    )
    names = ", ".join(f"`c.{number}`" for number in range(len(kinds)))
    typed = ", ".join(f"CAST(`c.{number}` AS {kind}) AS `c.{number}`" for number, kind in enumerate(kinds))
    nulls = ", ".join(f"CAST(NULL AS {kind})" for kind in kinds)
    return spark.sql(
        f"SELECT {typed} FROM VALUES {rows} AS t({names})"  # noqa: S608
        if rows
        else f"SELECT {typed} FROM VALUES ({nulls}) AS t({names}) WHERE FALSE"  # noqa: S608
    )


def by_spark(rows: DataFrame) -> SliceProfile:
    aggregates = ProfileAggregates(rows.schema, (), ProfileSettings())
    named = [sf.expr(text).alias(name) for name, text in aggregates.expressions().items()]
    (row,) = aggregates.prepare(rows).agg(*named).collect()
    return aggregates.profile(row.asDict())


def by_files(rows: DataFrame, folder: Path) -> SliceProfile:
    rows.write.parquet(str(folder))
    stored = rows.sparkSession.read.parquet(str(folder))
    files = [Path(unquote(urlparse(uri).path)) for uri in stored.inputFiles()]
    return profile_of_files(files, profiled_fields(stored.schema, (), ProfileSettings()))


def assert_same(told: ColumnProfile, model: ColumnProfile) -> None:
    assert (told.name, told.kind, told.values) == (model.name, model.kind, model.values)
    assert [as_value(told, end) for end in ends(told)] == [as_value(model, end) for end in ends(model)]
    assert (told.distinct is None) is (model.distinct is None)
    if told.distinct and model.distinct:
        union = merge_distinct([told.distinct, model.distinct])
        assert distinct_values(told.distinct) == pytest.approx(distinct_values(model.distinct), rel=2 * DISTINCT_ERROR)
        assert distinct_values(union) == pytest.approx(distinct_values(told.distinct), rel=2 * DISTINCT_ERROR)
    assert (told.quantiles is None) is (model.quantiles is None)
    if told.quantiles and model.quantiles:
        values = quantiles(model.quantiles, RANKS)
        for share, expected in zip(
            cumulative_shares(told.quantiles, values), cumulative_shares(model.quantiles, values), strict=True
        ):
            by_chance = 3 * RANK_ERROR if told.values > QUANTILE_K else 1.01 / told.values  # a double's last digit
            assert share == pytest.approx(expected, abs=by_chance)
    assert (told.frequent is None) is (model.frequent is None)
    if told.frequent and model.frequent:
        rows, expected_rows = dict(frequent_values(told.frequent, 100)), dict(frequent_values(model.frequent, 100))
        if distinct_values(told.distinct or b"") < TRACKED_VALUES - 1:
            assert rows == expected_rows
        for text in rows.keys() & expected_rows.keys():
            assert abs(rows[text] - expected_rows[text]) <= 2 * COUNT_ERROR * told.values


def ends(column: ColumnProfile) -> tuple[str | None, str | None]:
    return column.minimum, column.maximum


def as_value(column: ColumnProfile, end: str | None) -> Any:
    """Java 17 writes some doubles with a digit too many: numbers are compared as such."""
    if end is None or column.kind is not ColumnKind.NUMBER:
        return end
    return str(float(end)) if "E" in end or "N" in end or "I" in end else Decimal(end)


def judge(spark: SparkSession, seed: int, folder: Path) -> None:
    rows = random_rows(spark, seed)
    told, model = by_files(rows, folder), by_spark(rows)
    assert told.rows == model.rows
    if told.rows:
        for own, other in zip(told.columns, model.columns, strict=True):
            assert_same(own, other)


@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 12))])
def test_random_columns(spark: SparkSession, seed: int, tmp_path: Path) -> None:
    judge(spark, seed, tmp_path / "t")


@pytest.mark.long
def test_many_random_columns(spark: SparkSession, tmp_path: Path) -> None:
    """Others: TIDEMARK_TEST_SEED=5000."""
    first = int(os.environ.get("TIDEMARK_TEST_SEED", "1000"))
    for seed in range(first, first + 200):
        judge(spark, seed, tmp_path / f"{seed}")


@pytest.mark.long
def test_many_rows_in_several_files(spark: SparkSession, tmp_path: Path) -> None:
    """More than a batch in a file; NULL by the dozen, keys, and texts that come often."""
    rows = spark.range(0, 300_000, 1, 2).selectExpr(
        "id",
        "concat('order-', id) AS code",
        "concat('c', CAST(pow(rand(1), 3) * 300 AS INT)) AS city",
        "IF(id % 7 = 0, NULL, CAST(rand(2) * 1000 AS DECIMAL(9, 2))) AS amount",
        "CAST(rand(3) * 1000 AS DECIMAL(22, 2)) AS total",
        "rand(4) < 0.1 AS paid",
        "timestamp_seconds(1774000000 + id) AS at",
        "CAST(NULL AS STRING) AS nothing",
    )
    told, model = by_files(rows, tmp_path / "t"), by_spark(rows)
    assert told.rows == model.rows == 300_000
    for own, other in zip(told.columns, model.columns, strict=True):
        assert_same(own, other)


def test_texts_of_a_collation_are_left_to_spark(spark: SparkSession) -> None:
    rows = spark.sql("SELECT CAST('a' AS STRING COLLATE UTF8_LCASE) AS t, 'a' AS u")
    assert [can_be_read([field]) for field in rows.schema] == [False, True]
