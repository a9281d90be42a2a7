"""The business times at which a query is evaluated: those where calendars are odd, and some where they are not."""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.value import Type, Value, point
from tidemark.dependency_model.time.clock_grid import ClockGrid
from tidemark.dependency_model.time.date_grid import DateGrid, day_of
from tidemark.dependency_model.time.zone import DAY_SECONDS, EPOCH_ORDINAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tidemark.dependency_model.time.calendar import Calendar
    from tidemark.dependency_model.time.grid import Grid
    from tidemark.dependency_model.time.period import Period

YEARS: Final = 5
"""From the entity's start on: every length of month and year, week numbers of 52 and 53."""
_FAR_YEARS: Final = (6, 8, 11, 16, 24, 40, 80)
"""What was long ago at first may exist one day."""
_DEFAULT_START: Final = date(2024, 1, 1)
_CLOSE_LOOK: Final = 31
"""Days looked at hour by hour where conditions are more than shifted dates."""
_YEAR: Final = 366
"""Days of which two slices are looked at besides, others on each day."""


@lru_cache(maxsize=512)
def sampled(calendar: Calendar, period: Period, start: str | None, *, closely: bool) -> tuple[int, ...]:
    """Slice numbers of a downstream entity. `closely` where a query can tell single days apart: all days then."""
    grid = calendar.grid(period)
    first = day_of(start[:10]) if start else _DEFAULT_START.toordinal() - EPOCH_ORDINAL
    end = first + YEARS * 365 + 2
    far = [first + years * 365 + years for years in _FAR_YEARS]
    if isinstance(grid, ClockGrid):
        few = (one for day in (*_odd_days(grid, first, end), *far) for one in _clock_slices(grid, day))
        return tuple(sorted({*few, *_whole_day(grid, first + 1), *(_close_look(grid, first) if closely else ())}))
    if not isinstance(grid, DateGrid):
        return ()
    chosen = range(first, end) if closely or period.rank > 3 else _days(grid, first, end)
    found = {grid.at_day(day) for day in [*chosen, *far]}
    return tuple(sorted(one for one in found if grid.first_day(one) >= first))


def _days(grid: Grid, first: int, end: int) -> Iterator[int]:
    """Two weeks, the turns of months and years, leap days, days of 23 and 25 hours, and a few of all others."""
    yield from range(first, first + 3)
    yield from range(first + 17, first + 32)
    yield from range(first + 40, end, 59)
    for day in range(first, end):
        found = date.fromordinal(day + EPOCH_ORDINAL)
        if found.day == 1 and (day < first + 400 or found.month in (1, 3)):
            yield from (day - 1, day) if day > first else (day,)
    yield from _changes(grid, first, first + 400)


def _changes(grid: Grid, first: int, end: int) -> Iterator[int]:
    for instant in grid.zone.changes_within(first * DAY_SECONDS, end * DAY_SECONDS):
        day = grid.zone.day_at(instant)
        yield from (day - 1, day, day + 1)


def _odd_days(grid: ClockGrid, first: int, end: int) -> list[int]:
    turns = [
        day
        for day in range(first + 1, first + 800)
        if date.fromordinal(day + EPOCH_ORDINAL).strftime("%m-%d") in ("01-01", "03-01", "02-29", "12-31", "05-01")
    ]
    return [
        day for day in {first + 1, first + 2, *turns, *_changes(grid, first, min(end, first + 800))} if day >= first
    ]


def _whole_day(grid: ClockGrid, day: int) -> range:
    return range(grid.day_start(day), grid.day_start(day + 1))


def _clock_slices(grid: ClockGrid, day: int) -> Iterable[int]:
    every = _whole_day(grid, day)
    if not grid.is_plain(day, day + 1):
        return every
    return [*every[:5], *every[9 : len(every) : max(5, len(every) // 8)], *every[-3:]]


def _close_look(grid: ClockGrid, first: int) -> Iterator[int]:
    """Every slice of a month and of the days that are odd, some of every day of a year."""
    for day in (*range(first + 40, first + 40 + _CLOSE_LOOK), *_odd_days(grid, first, first + 800)):
        yield from _whole_day(grid, day)
    half = grid.per_day // 2
    for day in range(first, first + _YEAR):
        yield from _whole_day(grid, day)[day % half :: half]


def parameters(grid: Grid, ordinal: int) -> dict[str, Value]:
    """`:biz_date`, `:biz_hour`, `:biz_minute`, `:period_start` and `:period_end` of a slice, as values."""
    found: dict[str, Value] = {
        "period_start": point(Type.TIMESTAMP, grid.start(ordinal) * 1_000_000),
        "period_end": point(Type.TIMESTAMP, grid.start(ordinal + 1) * 1_000_000),
    }
    if isinstance(grid, DateGrid):
        return {**found, "biz_date": point(Type.DATE, grid.first_day(ordinal))}
    day, _, clock = grid.key(ordinal).partition("T")
    found["biz_date"] = point(Type.DATE, day_of(day))
    if isinstance(grid, ClockGrid) and grid.step < 3600:
        hour = clock[:2] + clock[5:]
        return {**found, "biz_hour": point(Type.STRING, hour), "biz_minute": point(Type.STRING, clock[3:5])}
    return {**found, "biz_hour": point(Type.STRING, clock)}


def parameter_names(period: Period | None) -> tuple[str, ...]:
    """The parameters that a query of a period may use."""
    if period is None:
        return ()
    names = ["biz_date", "period_start", "period_end"]
    if period.is_clock:
        names += ["biz_hour"] if period.minutes == 60 else ["biz_hour", "biz_minute"]
    return tuple(names)
