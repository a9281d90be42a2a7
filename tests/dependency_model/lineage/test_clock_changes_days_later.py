"""Hours of days before a change of the clock, and of days after it: no slice is left out at any business time."""

# ruff: noqa: S608 - the conditions are those above, and nothing runs them

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.dependency_model.lineage.worlds import PARIS, START, SUBJECTS
from tidemark.dependency_model.lineage.entity_outline import EntityOutline, OutlinedTables, QuerySession
from tidemark.dependency_model.lineage.inference import infer
from tidemark.dependency_model.lineage.known_tables import Tables
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.lineage.query_binding import bind
from tidemark.dependency_model.lineage.slices_read import Evaluation
from tidemark.dependency_model.offset import mapping_between
from tidemark.dependency_model.time import Calendar, Period

if TYPE_CHECKING:
    from tidemark.dependency_model.lineage.inferred_read import Read

FIRST = datetime(2024, 2, 20, tzinfo=UTC)
DAYS = 640
"""Two springs and two autumns."""
OF_HOURS = [
    "dt = date_sub(:biz_date, 7) AND hour NOT IN ('00', '01', '02')",
    "dt = date_sub(:biz_date, 2) AND hour > '02'",
    "dt = date_sub(:biz_date, 3) AND hour > '02'",
    "dt = date_sub(:biz_date, 2) AND hour <> '02'",
    "dt = date_sub(:biz_date, 7) AND hour = '02'",
    "dt = date_sub(:biz_date, 7) AND hour <= '02'",
    "dt = date_add(:biz_date, 4) AND hour > '02'",
    "(dt = date_sub(:biz_date, 7) AND hour > '02') OR (dt = date_sub(:biz_date, 6) AND hour <= '02')",
]
OF_DAYS = [
    "dt >= :period_start - INTERVAL 47 HOURS AND dt <= :period_start",
    "dt >= :period_start - INTERVAL 167 HOURS AND dt < :period_end",
    "dt >= :period_end - INTERVAL 71 HOURS AND dt < :period_end",
    "dt >= :biz_date - INTERVAL 95 HOURS AND dt < :biz_date",
    "dt = to_date(:period_start + INTERVAL 71 HOURS)",
    "dt = :biz_date OR (dt = add_months(add_months(:biz_date, 6), -6) AND :biz_date < last_day(:biz_date))",
]
ALIKE = {*OF_HOURS[1:4], OF_HOURS[6]}
"""Conditions that leave out hours of one day, as the first one does."""
CASES = [*(("h_clicks", sql) for sql in OF_HOURS), *(("d_orders", sql) for sql in OF_DAYS)]


def read_of(table: str, condition: str, period: Period, session: QuerySession) -> Read:
    down = EntityOutline("down", period, PARIS, START)
    return infer([read_query(f"SELECT 1 AS x FROM {table} WHERE {condition}")], down, SUBJECTS, session=session)[table]


def unlike(table: str, condition: str, period: Period, session: QuerySession) -> list[str]:
    """Business times at which what the offsets name is not what the query reads; nothing where it is undecidable."""
    read = read_of(table, condition, period, session)
    grid, up = PARIS.grid(period), SUBJECTS[table].grid
    first = grid.at(int(FIRST.timestamp()))
    times = range(first, first + DAYS * (24 if period is Period.HOUR else 1), 5 if period is Period.HOUR else 1)
    relations = bind(read_query(f"SELECT 1 AS x FROM {table} WHERE {condition}"), Tables(OutlinedTables(SUBJECTS)))
    needed = Evaluation(PARIS, period, START, SUBJECTS).slices_by_table_at(times, relations, session)[table]
    assert isinstance(needed, dict)
    mappings = [mapping_between(offset, (PARIS, period), up) for offset in read.offsets]
    return [
        grid.key(time)
        for time in times
        if mappings and {*needed[time]} != {up for mapping in mappings for up in mapping.expand(time)}
    ]


@pytest.mark.slow
@pytest.mark.parametrize("zone", [pytest.param("UTC", marks=pytest.mark.long), "Europe/Paris"])
@pytest.mark.parametrize(
    ("table", "condition"), [pytest.param(*case, marks=[pytest.mark.long] * (case[1] in ALIKE)) for case in CASES]
)
def test_what_is_named_is_what_is_read_on_every_day(table: str, condition: str, zone: str) -> None:
    assert unlike(table, condition, Period.DAY, QuerySession(zone)) == []


@pytest.mark.slow
def test_what_is_named_is_what_is_read_in_every_hour() -> None:
    assert unlike("h_clicks", "dt = date_sub(:biz_date, 2) AND hour > '02'", Period.HOUR, QuerySession()) == []


def test_the_hour_that_comes_twice_is_named_once_days_later() -> None:
    read = read_of("h_clicks", "dt = date_sub(:biz_date, 7) AND hour = '02'", Period.DAY, QuerySession())
    assert str(read) == "Set 2 of day -7 once"


def test_hours_of_another_clock_are_answered_and_end_nothing() -> None:
    """Offsets by date compare no hours of two clocks: they are no candidates, and no reason to fail."""
    up = EntityOutline("clicks_utc", Period.HOUR, Calendar("UTC"), START)
    down = EntityOutline("down", Period.HOUR, PARIS, START)
    sql = "SELECT 1 AS x FROM clicks_utc WHERE dt = :biz_date AND hour = :biz_hour"
    read = infer([read_query(sql)], down, {up.name: up})[up.name]
    assert read.undecidable.startswith("no offset names")
