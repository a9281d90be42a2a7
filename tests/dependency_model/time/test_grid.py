"""Slices tile the time line, their numbers and keys are one to one, and the slow clock agrees with where they begin."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime

import pytest
from hypothesis import given

from tests.dependency_model.reference import clock
from tests.dependency_model.zones import HARD, Hard, calendars, instants, periods
from tests.examples import each
from tidemark.dependency_model.time import Calendar, Period
from tidemark.errors import CalendarError, NoSuchSliceError, ParseError

DATABASE_ZONES = [hard for hard in HARD if not hard.zone.startswith("UTC+")]


@pytest.mark.slow
@pytest.mark.parametrize("hard", each(3, DATABASE_ZONES), ids=lambda hard: f"{hard.zone}-{hard.year}")
@pytest.mark.parametrize("period", Period)
def test_slices_begin_where_the_clock_says(hard: Hard, period: Period) -> None:
    grid, starts = Calendar(hard.zone).grid(period), clock(hard.zone, hard.year).starts(period)
    first = grid.at(int(starts[1]))
    assert [grid.start(first + number) for number in range(len(starts) - 1)] == starts[1:].tolist()


@pytest.mark.parametrize("hard", HARD, ids=lambda hard: f"{hard.zone}-{hard.year}")
@pytest.mark.parametrize("period", list(Period)[2:])
def test_windows_tile_a_hard_year(hard: Hard, period: Period) -> None:
    calendar = Calendar(hard.zone)
    start, end = datetime(hard.year, 1, 1, tzinfo=UTC), datetime(hard.year + 1, 1, 1, tzinfo=UTC)
    windows = list(calendar.windows(period, start, end))
    assert windows[0][1].start <= start
    assert windows[-1][1].end >= end
    assert all(before[1].end == after[1].start for before, after in itertools.pairwise(windows))
    assert all(window.start < window.end for _, window in windows)
    assert len({key for key, _ in windows}) == len(windows)


@given(calendars, periods, instants)
def test_an_instant_lies_in_its_slice_alone(calendar: Calendar, period: Period, instant: datetime) -> None:
    window = calendar.window(period, instant)
    assert instant in window
    key = calendar.key(period, instant)
    assert calendar.window(period, key) == window
    assert calendar.window(period, calendar.shift(period, key, -1)).end == window.start
    assert calendar.window(period, calendar.shift(period, key, 1)).start == window.end


@given(calendars, periods, instants)
def test_a_key_reads_back_to_its_slice(calendar: Calendar, period: Period, instant: datetime) -> None:
    grid = calendar.grid(period)
    ordinal = grid.at(int(instant.timestamp()))
    key = grid.key(ordinal)
    fresh = type(grid).__new__(type(grid))
    fresh.__dict__ = {**grid.__dict__, "_ordinals": {}}
    assert fresh.ordinal(key) == ordinal


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Paris", "2026-03-29", 23),
        ("Europe/Paris", "2026-10-25", 25),
        ("Europe/Paris", "2026-03-28", 24),
        ("Australia/Lord_Howe", "2026-10-04", 24),
        ("Australia/Lord_Howe", "2026-04-05", 25),
        ("Asia/Beirut", "2023-03-26", 23),
        ("UTC", "2024-02-29", 24),
    ],
)
def test_a_day_has_as_many_hours_as_the_clock_shows(zone: str, day: str, hours: int) -> None:
    calendar = Calendar(zone)
    window = calendar.window(Period.DAY, day)
    assert len(list(calendar.windows(Period.HOUR, window.start, window.end))) == hours


def test_the_repeated_hour_is_a_separate_slice() -> None:
    calendar = Calendar("Europe/Paris")
    first = calendar.window(Period.HOUR, "2026-10-25T02")
    second = calendar.window(Period.HOUR, "2026-10-25T02+01:00")
    assert (first.start, second.start) == (datetime(2026, 10, 25, 0, tzinfo=UTC), datetime(2026, 10, 25, 1, tzinfo=UTC))
    assert calendar.shift(Period.HOUR, "2026-10-25T02", 1) == "2026-10-25T02+01:00"
    assert calendar.shift(Period.FIVE_MINUTES, "2026-10-25T02:55", 1) == "2026-10-25T02:00+01:00"


@pytest.mark.parametrize(
    ("period", "key"),
    [
        (Period.HOUR, "2026-03-29T02"),
        (Period.HOUR, "2026-10-25T02+02:00"),
        (Period.HOUR, "2026-10-25T03+01:00"),
        (Period.FIVE_MINUTES, "2026-03-29T02:05"),
        (Period.FIVE_MINUTES, "2026-03-29T03:07"),
        (Period.TEN_MINUTES, "2026-03-29T03:05"),
        (Period.WEEK, "2026-03-24"),
        (Period.DAY, "2026-02-30"),
    ],
)
def test_a_slice_that_is_not_there_is_said_so(period: Period, key: str) -> None:
    with pytest.raises(NoSuchSliceError) as raised:
        Calendar("Europe/Paris").window(period, key)
    assert repr(key) in str(raised.value)


@pytest.mark.parametrize(
    ("period", "key"),
    [
        (Period.DAY, "2026-3-29"),
        (Period.DAY, "20260329"),
        (Period.DAY, "1969-12-31"),
        (Period.DAY, "2200-01-01"),
        (Period.HOUR, "2026-03-29"),
        (Period.HOUR, "2026-03-29T24"),
        (Period.FIVE_MINUTES, "2026-03-29T03"),
        (Period.MONTH, "2026-13"),
        (Period.QUARTER, "2026-Q5"),
        (Period.YEAR, "26"),
        (Period.DAY, "٢٠٢٦-03-29"),
        (Period.DAY, ""),
    ],
)
def test_an_invalid_key_is_refused(period: Period, key: str) -> None:
    with pytest.raises(ParseError):
        Calendar("Europe/Paris").window(period, key)


@pytest.mark.parametrize(
    ("period", "key", "start", "end"),
    [
        (Period.DAY, "2026-03-29", "2026-03-28T23:00", "2026-03-29T22:00"),
        (Period.HOUR, "2026-03-29T03", "2026-03-29T01:00", "2026-03-29T02:00"),
        (Period.FIVE_MINUTES, "2026-03-29T03:05", "2026-03-29T01:05", "2026-03-29T01:10"),
        (Period.WEEK, "2026-03-23", "2026-03-22T23:00", "2026-03-29T22:00"),
        (Period.MONTH, "2026-03", "2026-02-28T23:00", "2026-03-31T22:00"),
        (Period.QUARTER, "2026-Q1", "2025-12-31T23:00", "2026-03-31T22:00"),
        (Period.YEAR, "2026", "2025-12-31T23:00", "2026-12-31T23:00"),
    ],
)
def test_windows_of_paris(period: Period, key: str, start: str, end: str) -> None:
    window = Calendar("Europe/Paris").window(period, key)
    assert (window.start, window.end) == tuple(datetime.fromisoformat(text + "+00:00") for text in (start, end))


def test_time_ends_at_both_ends_of_the_tables() -> None:
    for period, key, count in (
        (Period.YEAR, "2199", 1),
        (Period.DAY, "1970-01-01", -1),
        (Period.HOUR, "2026-03-29T03", 10**7),
    ):
        with pytest.raises(CalendarError, match="1970 to 2199"):
            Calendar("Europe/Paris").shift(period, key, count)


def test_a_skipped_day_is_not_counted() -> None:
    apia = Calendar("Pacific/Apia")
    assert apia.shift(Period.DAY, "2011-12-29", 1) == "2011-12-31"
    with pytest.raises(NoSuchSliceError, match="skipped"):
        apia.window(Period.DAY, "2011-12-30")
