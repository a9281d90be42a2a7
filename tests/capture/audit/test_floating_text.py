"""Floating-point numbers have one text in the source's SQL, in Spark's and in DuckDB's, and no two numbers share it."""

from __future__ import annotations

import math
import random
import struct
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.capture.audit.canonical_text import floating_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidemark.console.servers.mariadb import MariaDb

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
EDGES = (
    [0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.1, 1 / 3, 2.0**52 - 0.5, 16777217.0]
    + [sign * 2.0**power for power in range(-1074, 1024) for sign in (1, -1)]
    + [math.nextafter(2.0**power, toward) for power in range(-1073, 1024, 13) for toward in (0.0, math.inf)]
)


def text_of(number: float) -> str:
    """By whole numbers: the reference."""
    if number == 0:
        return "0"
    numerator, denominator = abs(number).as_integer_ratio()
    band = (numerator.bit_length() - denominator.bit_length()) // 52
    while numerator * 2 ** max(0, -52 * band) < denominator * 2 ** max(0, 52 * band):
        band -= 1
    shifted = numerator * 2 ** max(0, -52 * band) * 2**52 // (denominator * 2 ** max(0, 52 * band))
    return f"{'-' * (number < 0)}{band + 21}:{shifted >> 52}:{shifted % 2**52}"


def numbers(count: int) -> list[float]:
    """Edges, and numbers of random bits."""
    chance = random.Random(7)
    drawn = (struct.unpack("d", struct.pack("Q", chance.getrandbits(64)))[0] for _ in range(count))
    return [*EDGES, *(number for number in drawn if math.isfinite(number))]


@given(NUMBERS, NUMBERS)
def test_two_numbers_have_two_texts(number: float, other: float) -> None:
    assert (text_of(number) == text_of(other)) == (number == other)


@given(NUMBERS)
def test_the_text_has_all_bits(number: float) -> None:
    text = text_of(number)
    if text == "0":
        assert number == 0
        return
    band, whole, rest = text.removeprefix("-").rsplit(":", 2)
    assert math.ldexp(int(whole) * 2**52 + int(rest), 52 * (int(band) - 21) - 52) == abs(number)


def test_duckdb_has_that_text() -> None:
    given_numbers = numbers(2_000)
    rows = duckdb.from_arrow(pa.table({"n": pa.array(given_numbers, pa.float64())}))
    texts = rows.select(duckdb.SQLExpression(floating_text("n", "BIGINT"))).fetchall()
    assert texts == [(text_of(number),) for number in given_numbers]


@pytest.mark.spark
def test_spark_has_that_text(spark: SparkSession) -> None:
    given_numbers = numbers(2_000)
    rows = spark.createDataFrame([(number,) for number in given_numbers], "n DOUBLE")
    assert [row[0] for row in rows.selectExpr(floating_text("n", "BIGINT")).collect()] == [
        text_of(number) for number in given_numbers
    ]


@pytest.mark.components
def test_the_server_has_that_text(mariadb_server: MariaDb) -> None:
    given_numbers = numbers(2_000)
    singles = [struct.unpack("f", struct.pack("f", number))[0] for number in given_numbers if abs(number) < 1e38]
    with mariadb_server.connect() as session, session.cursor() as sql:
        sql.execute("CREATE DATABASE floating")
        sql.execute("USE floating")
        sql.execute("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, d DOUBLE, f FLOAT)")
        try:
            for column, drawn in (("d", given_numbers), ("f", singles)):
                sql.execute("TRUNCATE t")
                sql.executemany(f"INSERT INTO t ({column}) VALUES (%s)", [[f"{number:.17e}"] for number in drawn])  # noqa: S608 - ours
                sql.execute(f"SELECT {floating_text(column, 'SIGNED')} FROM t ORDER BY id")  # noqa: S608 - ours
                assert [row[0] for row in sql.fetchall()] == [text_of(number) for number in drawn]
        finally:
            sql.execute("DROP DATABASE floating")
