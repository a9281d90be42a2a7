"""Sample slices at which a calendar can make a difference: what is true for them is assumed for all slices.

Turns of months and years, leap days, days of 23 and 25 hours, every day of the week. `sparse_slices` are few, for
samples that cost an evaluation of a query or a plan by Spark. `dense_slices` are many, for samples that cost
arithmetic.
"""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.time.clock_grid import ClockGrid
from tidemark.dependency_model.time.date_grid import DateGrid, day_of
from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.zone import DAY_SECONDS, EPOCH_ORDINAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tidemark.dependency_model.time.grid import Grid
    from tidemark.dependency_model.time.local_calendar import Calendar

_YEARS: Final = 5
"""Years from the entity's start: all lengths of months and years, week numbers of 52 and 53."""
_YEARS_OF_WEEKS: Final = 28
"""The years after which weeks begin on the same dates again, for queries that distinguish dates."""
_DAY_RANK: Final = Period.DAY.rank
_FAR_YEARS: Final = (6, 8, 11, 16, 24, 40, 80)
"""Years that may be far from the entity's start some day."""
_DEFAULT_START: Final = date(2024, 1, 1)
_CLOSE_LOOK: Final = 31
"""Days with a sample of every slice, for conditions that are more than shifted dates."""
_YEAR: Final = 366
"""Days with two more samples each, at a different time each day."""
_DENSE_FIRST: Final = day_of("2023-12-01")
_DENSE_END: Final = day_of("2026-01-01")
"""Two years include a leap day, four regular clock changes and every length of month."""
_WEEK: Final = 7
_NEAR_MIDNIGHT: Final = 30
"""The sampled slices after midnight, and before the next one."""


@lru_cache(maxsize=1024)
def dense_slices(grid: Grid) -> tuple[int, ...]:
    """All slices of two years by day and longer.

    For shorter periods the ends of each day, and whole days with changes.
    """
    first, end = (grid.at(grid.zone.midnight(day)) for day in (_DENSE_FIRST, _DENSE_END))
    if not isinstance(grid, ClockGrid):
        return tuple(range(first, end))
    days = {*range(_DENSE_FIRST, _DENSE_FIRST + 15), *_month_turns(_DENSE_FIRST, _DENSE_END)}
    changes = _days_around_changes(grid, _DENSE_FIRST, _DENSE_END)
    days.update(near for day in changes for near in range(day - _WEEK, day + _WEEK))
    near = {ordinal for day in days for ordinal in _near_turns(grid, day)}
    near.update(end for day in range(_DENSE_FIRST, _DENSE_END) for end in _ends(grid, day))
    return tuple(sorted(ordinal for ordinal in near if first <= ordinal < end))


def _ends(grid: ClockGrid, day: int) -> tuple[int, int]:
    """The first and the last slice of a day: an offset by the calendar may change its inputs on any day."""
    return grid.day_start(day), grid.day_start(day + 1) - 1


def _near_turns(grid: ClockGrid, day: int) -> Iterable[int]:
    """The slices of a day near midnight, and the first and last ones of each hour;

    all slices of a day with a change.
    """
    every = _whole_day(grid, day)
    if not grid.is_plain(day, day + 1):
        return every
    hour = 3600 // grid.step
    return [*every[:_NEAR_MIDNIGHT], *every[::hour], *every[hour - 1 :: hour], *every[-_NEAR_MIDNIGHT:]]


def _month_turns(first: int, end: int) -> Iterator[int]:
    """The last and the first day of each month."""
    for day in range(first, end):
        if date.fromordinal(day + EPOCH_ORDINAL).day == 1:
            yield from (day - 1, day)


@lru_cache(maxsize=512)
def sparse_slices(calendar: Calendar, period: Period, start: str | None, *, closely: bool) -> tuple[int, ...]:
    """Few slices from an entity's start. `closely`: all days, for a query that can distinguish single days."""
    grid = calendar.grid(period)
    first = day_of(start[:10]) if start else _DEFAULT_START.toordinal() - EPOCH_ORDINAL
    years = _YEARS_OF_WEEKS if closely and period.rank > _DAY_RANK else _YEARS
    end = first + years * 365 + years // 2
    far = [first + years * 365 + years for years in _FAR_YEARS]
    if isinstance(grid, ClockGrid):
        few = (clock_slice for day in (*_turns(grid, first, end), *far) for clock_slice in _clock_slices(grid, day))
        return tuple(sorted({*few, *_whole_day(grid, first + 1), *(_close_look(grid, first) if closely else ())}))
    if not isinstance(grid, DateGrid):
        return ()
    chosen = range(first, end) if closely or period.rank > _DAY_RANK else _days(grid, first, end)
    ordinals = {grid.at_day(day) for day in [*chosen, *far]}
    return tuple(sorted(ordinal for ordinal in ordinals if grid.first_day(ordinal) >= first))


def _days(grid: Grid, first: int, end: int) -> Iterator[int]:
    """Two weeks, turns of months and years, leap days, days of 23 and 25 hours, and a few other days."""
    yield from range(first, first + 3)
    yield from range(first + 17, first + 32)
    yield from range(first + 40, end, 59)
    for day in range(first, end):
        as_date = date.fromordinal(day + EPOCH_ORDINAL)
        if as_date.day == 1 and (day < first + 400 or as_date.month in (1, 3)):
            yield from (day - 1, day) if day > first else (day,)
    yield from _days_around_changes(grid, first, first + 400)


def _days_around_changes(grid: Grid, first: int, end: int) -> Iterator[int]:
    for instant in grid.zone.changes_within(first * DAY_SECONDS, end * DAY_SECONDS):
        day = grid.zone.day_at(instant)
        yield from (day - 1, day, day + 1)


def _turns(grid: ClockGrid, first: int, end: int) -> list[int]:
    turns = [
        day
        for day in range(first + 1, first + 800)
        if date.fromordinal(day + EPOCH_ORDINAL).strftime("%m-%d") in ("01-01", "03-01", "02-29", "12-31", "05-01")
    ]
    return [
        day
        for day in {first + 1, first + 2, *turns, *_days_around_changes(grid, first, min(end, first + 800))}
        if day >= first
    ]


def _whole_day(grid: ClockGrid, day: int) -> range:
    return range(grid.day_start(day), grid.day_start(day + 1))


def _clock_slices(grid: ClockGrid, day: int) -> Iterable[int]:
    every = _whole_day(grid, day)
    if not grid.is_plain(day, day + 1):
        return every
    return [*every[:5], *every[9 : len(every) : max(5, len(every) // 8)], *every[-3:]]


def _close_look(grid: ClockGrid, first: int) -> Iterator[int]:
    """Every slice of a month and of unusual days, and some slices of every day of a year."""
    for day in (*range(first + 40, first + 40 + _CLOSE_LOOK), *_turns(grid, first, first + 800)):
        yield from _whole_day(grid, day)
    half = grid.per_day // 2
    for day in range(first, first + _YEAR):
        yield from _whole_day(grid, day)[day % half :: half]
