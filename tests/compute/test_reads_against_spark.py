"""Spark answers queries of the corpus from all slices, and from those alone that they are said to read: the same."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

from tests.dependency_model.lineage.corpus import cases
from tests.dependency_model.lineage.worlds import PARIS, START, SUBJECTS, VIEWS
from tests.examples import each
from tidemark.dependency_model.lineage.entity_outline import EntityOutline, QuerySession
from tidemark.dependency_model.lineage.inference import infer
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.offset import mapping_between
from tidemark.dependency_model.time import Period

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tests.dependency_model.lineage.corpus import Case
    from tidemark.dependency_model.lineage.inferred_read import Read

pytestmark = pytest.mark.spark

ODD = [case for case in cases() if case.name.startswith("oddities-")]
TABLES = ("d_orders", "d_users", "d_clicks", "d_calendar", "h_clicks")
DAYS = PARIS.grid(Period.DAY)
HOURS = PARIS.grid(Period.HOUR)
# A leap day, a day of 23 hours, the day after one of 25, a turn of the year, a day like others.
DATES = [date(2024, 3, 31), date(2024, 10, 28), date(2024, 2, 29), date(2024, 12, 31), date(2024, 5, 15)]


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    own = spark.newSession()
    own.conf.set("spark.sql.session.timeZone", "Europe/Paris")
    return own


@pytest.fixture(scope="module")
def tables(session: SparkSession) -> dict[str, DataFrame]:
    """A few rows in each slice: of days over more than a year, of hours around the dates that are asked for."""
    random = Random(8)
    around = sorted({day + timedelta(near) for day in DATES for near in range(-3, 3)})
    days = [(date(2023, 11, 1) + timedelta(at), "") for at in range(500)]
    hours = [(day, HOURS.key(ordinal)[11:]) for day in around for ordinal in _hours(day)]
    tables = {}
    for name in TABLES:
        slices = hours if name.startswith("h_") else days
        rows = [(random.randint(1, 4), random.choice([None, 0, 1, 2]), *times) for times in slices for _ in range(3)]
        table = session.createDataFrame(rows, "user_id INT, x INT, dt DATE, hour STRING")
        tables[name] = table if name.startswith("h_") else table.drop("hour")
    return tables


def _hours(day: date) -> range:
    first = HOURS.ordinal(f"{day}T00")
    return range(first, HOURS.ordinal(f"{day + timedelta(1)}T00"))


def _slices_of(table: DataFrame, read: Read, day: date) -> DataFrame:
    """The slices that a read names at a business date."""
    period = SUBJECTS[read.table].period
    assert period is not None
    grid = PARIS.grid(period)
    mappings = [mapping_between(offset, (PARIS, Period.DAY), grid) for offset in read.offsets]
    keys = {grid.key(ordinal) for mapping in mappings for ordinal in mapping.expand(DAYS.ordinal(day.isoformat()))}
    key = F.concat(F.col("dt").cast("string"), F.lit("T"), F.col("hour")) if "hour" in table.columns else F.col("dt")
    return table.where(key.cast("string").isin(sorted(keys)))


def _answer(session: SparkSession, views: dict[str, DataFrame], sql: str, day: date) -> list[str]:
    for name, view in views.items():
        view.createOrReplaceTempView(name)
    for name, query in VIEWS.items():
        session.sql(query.text).createOrReplaceTempView(name)
    ordinal = DAYS.ordinal(day.isoformat())
    known: dict[str, Any] = {
        "biz_date": day,
        "period_start": datetime.fromtimestamp(DAYS.start(ordinal), UTC),
        "period_end": datetime.fromtimestamp(DAYS.start(ordinal + 1), UTC),
    }
    used = {name: value for name, value in known.items() if f":{name}" in sql}
    return sorted(map(repr, session.sql(sql, args=used).collect()))


def _reads(case: Case) -> dict[str, Read]:
    downstream = EntityOutline("downstream", case.down, PARIS, START)
    return infer([read_query(case.sql)], downstream, SUBJECTS, session=QuerySession("Europe/Paris"), views=VIEWS)


def _check(session: SparkSession, tables: dict[str, DataFrame], case: Case, days: list[date]) -> int:
    """How many rows the answers have; fails where the tagged slices alone give another one."""
    reads = {name: read for name, read in _reads(case).items() if not read.undecidable}
    rows = 0
    for day in days:
        whole = _answer(session, tables, case.sql, day)
        few = {name: _slices_of(table, reads[name], day) if name in reads else table for name, table in tables.items()}
        assert _answer(session, few, case.sql, day) == whole, (case.name, day)
        rows += len(whole)
    return rows


@pytest.mark.parametrize(
    "case",
    each(18, ODD),
    ids=lambda case: case.name,
)
def test_the_slices_that_are_named_are_enough(session: SparkSession, tables: dict[str, DataFrame], case: Case) -> None:
    rows = _check(session, tables, case, DATES[:2])
    assert rows or all(expected.startswith("undecidable") for expected in case.reads.values())


@pytest.mark.long
@pytest.mark.parametrize("case", ODD, ids=lambda case: case.name)
def test_they_are_enough_on_other_days(session: SparkSession, tables: dict[str, DataFrame], case: Case) -> None:
    _check(session, tables, case, DATES[2:])


def test_there_are_many() -> None:
    assert len(ODD) >= 60
