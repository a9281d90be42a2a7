"""Slow, obvious offsets: the words of the design, looked up minute by minute and date by date.

Two calendars are compared by dates, everything else by minutes. Slices are numbers of a `Cut`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from tests.dependency_model.reference import DAY, Clock, label
from tidemark.dependency_model.offset.offset import Offset, OffsetKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.dependency_model.reference import Ints
    from tidemark.dependency_model.time import Period

    Names = Callable[[list[int]], set[int]]


@dataclass(frozen=True)
class Cut:
    """The slices of a period on a clock, each a stretch of minutes and, by day and longer, of dates."""

    clock: Clock
    period: Period

    @property
    def is_calendar(self) -> bool:
        return self.period.minutes is None

    def start(self, number: int) -> int:
        """The instant (seconds) at which a slice begins."""
        return int(self.clock.starts(self.period)[number])

    def __len__(self) -> int:
        return len(self.clock.starts(self.period))

    def stretches(self, *, by_dates: bool) -> tuple[Ints, Ints]:
        """First and end of every slice: minutes of the table, or dates."""
        return _dates(self) if by_dates else _minutes(self)

    def sharing(self, first: int, end: int, *, by_dates: bool) -> list[int]:
        """The slices that have something of `[first, end)`."""
        firsts, ends = self.stretches(by_dates=by_dates)
        return list(range(int(np.searchsorted(ends, first, "right")), int(np.searchsorted(firsts, end, "left"))))


@lru_cache(maxsize=256)
def _minutes(cut: Cut) -> tuple[Ints, Ints]:
    firsts = np.searchsorted(cut.clock.instants, cut.clock.starts(cut.period))
    return firsts, np.append(firsts[1:], len(cut.clock.instants))


@lru_cache(maxsize=256)
def _dates(cut: Cut) -> tuple[Ints, Ints]:
    days = cut.clock.days[_minutes(cut)[0]]
    firsts = [label(int(day), cut.period, cut.clock.week_start) for day in days]
    ends = [next(d for d in range(f + 1, f + 400) if label(d, cut.period, cut.clock.week_start) != f) for f in firsts]
    return np.array(firsts), np.array(ends)


def needed_slices(offset: Offset, down: Cut, number: int, up: Cut) -> set[int]:
    """The upstream slices that a downstream slice needs."""
    by_dates = down.is_calendar and up.is_calendar
    first, end = _stretch(down, number, by_dates)
    if offset.kind is OffsetKind.LAST_AVAILABLE:
        ends = up.stretches(by_dates=by_dates)[1]
        return {int(np.flatnonzero(ends <= end)[-1])}
    if offset.kind is OffsetKind.ALL:
        first, end = _enclosing(offset, down, first, by_dates) if offset.within else (first, end)
        return set(up.sharing(first, end, by_dates=by_dates))
    if offset.kind is OffsetKind.TO_DATE:
        first, _ = _enclosing(offset, down, first, by_dates)
        return set(up.sharing(first, end, by_dates=by_dates))
    return _count(offset, down, number, up)


def _stretch(cut: Cut, number: int, by_dates: bool) -> tuple[int, int]:
    firsts, ends = cut.stretches(by_dates=by_dates)
    return int(firsts[number]), int(ends[number])


def _enclosing(offset: Offset, down: Cut, first: int, by_dates: bool) -> tuple[int, int]:
    """The enclosing slice is the one that the window begins in."""
    assert offset.within is not None
    around = Cut(down.clock, offset.within)
    return _stretch(around, around.sharing(first, first + 1, by_dates=by_dates)[0], by_dates)


def _count(offset: Offset, down: Cut, number: int, up: Cut) -> set[int]:
    by_dates = down.is_calendar and up.is_calendar
    inside = up.sharing(*_stretch(down, number, by_dates), by_dates=by_dates)
    named = _names(down, number, up)
    if named is None:
        return {inside[0] + position for position in offset.counts}
    length, slices_of = named
    before = {inside[0] + position for position in offset.counts if position < 0}
    after = {inside[-1] + 1 + position - length for position in offset.counts if position >= length}
    return before | slices_of([position for position in offset.counts if 0 <= position < length]) | after


def _names(down: Cut, number: int, up: Cut) -> tuple[int, Names] | None:
    """How many names the window has, and which slices each one means; None where one only counts."""
    if up.period.minutes and (up.period.is_finer_than(down.period) or up.clock is not down.clock):
        return _by_clock(down, number, up)
    if up.period.value == "day" and down.is_calendar:
        first, end = _stretch(down, number, by_dates=True)
        return end - first, lambda positions: _of_dates(up, [first + position for position in positions])
    return None


def _of_dates(up: Cut, days: list[int]) -> set[int]:
    return {number for day in days for number in up.sharing(day, day + 1, by_dates=True)}


def _by_clock(down: Cut, number: int, up: Cut) -> tuple[int, Names]:
    assert up.period.minutes is not None
    first, end = _stretch(down, number, by_dates=False)
    step, shown = up.period.minutes * 60, down.clock.local[first:end]
    if down.period.minutes:
        zero = int(shown[0]) // (down.period.minutes * 60) * (down.period.minutes * 60)
        count = max(1, down.period.minutes // up.period.minutes)
    else:
        dates = _stretch(down, number, by_dates=True)
        zero, count = dates[0] * DAY, (dates[1] - dates[0]) * DAY // step
    names = np.clip((shown - zero) // step, 0, count - 1)
    numbers = up.clock.numbers(up.period)[first:end]
    return count, lambda positions: {int(result) for result in np.unique(numbers[np.isin(names, positions)])}
