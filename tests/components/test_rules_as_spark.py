"""Rules that MariaDB, PostgreSQL and SQLite count say what Spark's SQL says over the rows that a query reads."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from datetime import date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any, Final

import psycopg2
import pyarrow as pa
import pytest
from pyspark.sql import functions as sf

from tests.crawl.source_world import look
from tests.dependency_model.world import entity
from tidemark.compute.rule_measures import measure
from tidemark.console.servers.mariadb import USER
from tidemark.crawl.probes.sql_table import database_url, session
from tidemark.dependency_model.entity.quality_rules import check_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.dependency_model.entity.quality_rules import QualityRule

pytestmark = [pytest.mark.components, pytest.mark.spark]

FEW, MANY = 30, 2_000
FIRST: Final = date(2020, 3, 1)
TEXTS: Final = ("A", "a", "B", "b", "Z", "é", "É", "a ", "", "10", "NULL", None)
AT: Final = datetime(2020, 3, 1, 12)  # noqa: DTZ001 - a wall clock
COLUMNS: Final = ("day", "k", "n", "x", "s", "d", "at", "i")
MARKS: Final = ", ".join(["%s"] * len(COLUMNS))
RULES: Final = """quality:
- not_null: [s, n]
- unique: [k]
- unique: [n]
- unique: [x]
- unique: [s]
- unique: [s, i]
- unique: [d, at]
- accepted_values: {column: s, values: [A, é, '10']}
- accepted_values: {column: n, values: [1, 2.50]}
- accepted_values: {column: x, values: [0, 0.1]}
- accepted_values: {column: i, values: [1, 2.0]}
- range: {column: s, min: B, max: b}
- range: {column: n, min: 1.5}
- range: {column: x, max: 0.1}
- range: {column: i, min: 1, max: 2}
- range: {column: d, min: '2020-02-29', max: '2020-03-01'}
- range: {column: at, max: '2020-03-01 12:00:00'}
- freshness: {column: at, within: 1h}
"""
DAY = "2020-03-01"


def day_of(number: int) -> date:
    return FIRST + timedelta(days=number)


def random_rows(days: int, *, has_nan: bool) -> list[tuple[Any, ...]]:
    """Of each day a random table of a few rows."""
    chance = Random(days)
    doubles = [0.0, -0.0, 0.1, 0.30000000000000004, 1e300, *([float("nan"), float("inf")] if has_nan else []), None]
    return [
        (
            day_of(number),
            chance.choice([b"\xff\x01", b"\xfe\x01", b"a ", None]),
            chance.choice([Decimal("1.00"), Decimal("2.50"), Decimal("-3.10"), None]),
            chance.choice(doubles),
            chance.choice(TEXTS),
            chance.choice([date(2020, 2, 29), date(2020, 3, 1), date(2020, 3, 2), None]),
            chance.choice([AT, AT + timedelta(seconds=1), AT - timedelta(days=9), None]),
            chance.choice([1, 2, 3, None]),
        )
        for number in range(days)
        for _ in range(chance.randint(1, 6))
    ]


@contextmanager
def in_postgresql(server: Any, rows: Sequence[tuple[Any, ...]]) -> Iterator[str]:
    types = (
        'day date, k bytea, n numeric(9, 2), x double precision, s text COLLATE "en-x-icu", d date, at timestamp, i int'
    )
    with closing(psycopg2.connect(server.dsn)) as opened, opened, opened.cursor() as cursor:
        cursor.execute(f"CREATE TABLE as_spark ({types})")
        cursor.executemany(f"INSERT INTO as_spark VALUES ({MARKS})", rows)  # noqa: S608
    try:
        yield server.url
    finally:
        with closing(psycopg2.connect(server.dsn)) as opened, opened, opened.cursor() as cursor:
            cursor.execute("DROP TABLE as_spark")


@contextmanager
def in_mariadb(server: Any, rows: Sequence[tuple[Any, ...]]) -> Iterator[str]:
    types = "day DATE, k VARBINARY(9), n DECIMAL(9, 2), x DOUBLE, s VARCHAR(9), d DATE, at DATETIME(6), i INT"
    with server.connect() as opened, opened.cursor() as cursor:
        cursor.execute("CREATE DATABASE as_spark")
        cursor.execute(f"CREATE TABLE as_spark.as_spark ({types}, KEY (day)) COLLATE utf8mb4_general_ci")
        cursor.executemany(f"INSERT INTO as_spark.as_spark VALUES ({MARKS})", rows)  # noqa: S608
        opened.commit()
    try:
        yield f"mysql://{USER}:{server.password}@127.0.0.1:{server.port}/as_spark"
    finally:
        with server.connect() as opened, opened.cursor() as cursor:
            cursor.execute("DROP DATABASE as_spark")


def judged_by_spark(spark: SparkSession, url: str, rules: Sequence[tuple[str, QualityRule]]) -> dict[str, list[Any]]:
    """By day, what breaks each rule, in one query over the rows as a query of Spark gets them."""
    with session(database_url(url), 60) as connection:
        rows = connection.exec_driver_sql("SELECT * FROM as_spark").fetchall()
    table = pa.table({name: [row[at] for row in rows] for at, name in enumerate(COLUMNS)})
    measures = [made for name, rule in rules if (made := measure(name, rule))]
    told = spark.createDataFrame(table).groupBy("day").agg(*(sf.expr(made.expression) for made in measures))
    return {str(row[0]): list(row[1:]) for row in told.collect()}


def all_days_agree(spark: SparkSession, url: str, days: int) -> None:
    declared = entity("outside", f"period: day\n{RULES}").quality
    rules = list(zip(check_names(declared), declared, strict=True))
    expected = judged_by_spark(spark, url, rules)
    breaking = 0
    for number in range(days):
        day = day_of(number)
        probe = "sql: {url: '${DB}', table: as_spark, partition: {day: '{key}'}}"
        sight = look(probe, str(day), more=RULES, env={"DB": url})
        end = datetime(day.year, day.month, day.day) + timedelta(days=1)  # noqa: DTZ001 - in UTC, as the session is
        micros = (end - datetime(1970, 1, 1)) // timedelta(microseconds=1)  # noqa: DTZ001
        *counts, newest = expected[str(day)]
        age = None if newest is None else (micros - newest) / 1_000_000
        assert [value for _, value in sight.measured] == [*counts, age], (day, sight.measured)
        breaking += sum(map(bool, counts))
    assert breaking > days


DAYS = [FEW, pytest.param(MANY, marks=pytest.mark.long)]


@pytest.mark.parametrize("days", DAYS)
def test_postgresql(spark: SparkSession, postgres_server: Any, days: int) -> None:
    with in_postgresql(postgres_server, random_rows(days, has_nan=True)) as url:
        all_days_agree(spark, url, days)


@pytest.mark.parametrize("days", DAYS)
def test_mariadb(spark: SparkSession, mariadb_server: Any, days: int) -> None:
    with in_mariadb(mariadb_server, random_rows(days, has_nan=False)) as url:
        all_days_agree(spark, url, days)


@pytest.mark.parametrize("days", DAYS)
def test_sqlite(spark: SparkSession, tmp_path: Path, days: int) -> None:
    """Its times are texts; a decimal is a number of another kind there."""
    file = tmp_path / "as_spark.db"
    with closing(sqlite3.connect(file)) as opened, opened:
        opened.execute(
            "CREATE TABLE as_spark (day TEXT, k BLOB, n REAL, x REAL, s TEXT COLLATE NOCASE, d TEXT, at TEXT, i INT)"
        )
        rows = [
            tuple(
                float(value) if isinstance(value, Decimal) else str(value) if isinstance(value, date) else value
                for value in row
            )
            for row in random_rows(days, has_nan=False)
        ]
        opened.executemany(f"INSERT INTO as_spark VALUES ({MARKS.replace('%s', '?')})", rows)  # noqa: S608
    all_days_agree(spark, f"sqlite:///{file}", days)
