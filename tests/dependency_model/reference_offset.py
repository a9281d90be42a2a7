"""Slow, obvious offsets: the words of the design, looked up minute by minute and date by date.

Two calendars are compared by dates, everything else by minutes. Slices are numbers of a `Cut`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

import holidays
import numpy as np
from dateutil.relativedelta import relativedelta  # type: ignore[import-untyped]

from tests.dependency_model.reference import DAY, EPOCH, Clock, label
from tidemark.dependency_model.offset.offset import Offset, OffsetKind
from tidemark.dependency_model.time import Calendar, Period
from tidemark.dependency_model.time.partition_columns import clock_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.dependency_model.reference import Ints

    Names = Callable[[list[int]], set[int]]


CALENDAR = "FR-57"
HOLIDAYS = holidays.country_holidays("FR", subdiv="57")


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
    """The upstream slices that a downstream slice needs. Raises IndexError past the ends of the tables."""
    named = _named(offset, down, number, up)
    return {slice_ for slice_ in named if len(_partition(up, slice_)[1]) == 2} if offset.once else named


def _named(offset: Offset, down: Cut, number: int, up: Cut) -> set[int]:
    by_dates = down.is_calendar and up.is_calendar
    first, end = _stretch(down, number, by_dates)
    match offset.kind:
        case OffsetKind.LAST_AVAILABLE:
            ends = up.stretches(by_dates=by_dates)[1]
            return {int(np.flatnonzero(ends <= end)[-1])}
        case OffsetKind.SINCE:
            return _since(offset, up, end, by_dates=by_dates)
        case OffsetKind.DATE:
            return _date(offset, down, number, up)
        case OffsetKind.TO_DATE if offset.periods:
            return _to_date_of_periods(offset, down, number, up)
        case OffsetKind.TO_DATE:
            first, _ = _enclosing(offset, down, first, by_dates)
            return set(up.sharing(first, end, by_dates=by_dates))
        case _:
            return _others(offset, down, number, up)


def _others(offset: Offset, down: Cut, number: int, up: Cut) -> set[int]:
    if offset.kind in (OffsetKind.WORKDAY, OffsetKind.FIRST_WORKDAY, OffsetKind.LAST_WORKDAY):
        return _workdays(offset, down, number, up)
    first, _ = _stretch(down, number, down.is_calendar and up.is_calendar)
    return _around(offset, down, first, up) if offset.within else _inside(offset, down, number, up)


def _inside(offset: Offset, down: Cut, number: int, up: Cut) -> set[int]:
    """Slices told by the window itself."""
    if offset.kind is OffsetKind.COUNTED:
        return _count(offset, down, number, up)
    by_dates = down.is_calendar and up.is_calendar
    sharing = up.sharing(*_stretch(down, number, by_dates), by_dates=by_dates)
    return {sharing[-1]} if offset.kind is OffsetKind.LAST else set(sharing)


def _around(offset: Offset, down: Cut, first: int, up: Cut) -> set[int]:
    """The same offset, of the periods around the window."""
    assert offset.within is not None
    around = Cut(down.clock, offset.within)
    own = around.sharing(first, first + 1, by_dates=down.is_calendar and up.is_calendar)[0]
    numbers = [own + count for low, high in offset.periods or ((0, 0),) for count in range(low, high + 1)]
    if min(numbers) < 1 or max(numbers) > len(around) - 2:
        raise IndexError
    if offset.kind is OffsetKind.ALL:
        by_dates = down.is_calendar and up.is_calendar
        stretches = [_stretch(around, number, by_dates) for number in numbers]
        return {slice_ for stretch in stretches for slice_ in up.sharing(*stretch, by_dates=by_dates)}
    inner = replace(offset, within=None, periods=())
    return {slice_ for number in numbers for slice_ in needed_slices(inner, around, number, up)}


def _since(offset: Offset, up: Cut, end: int, *, by_dates: bool) -> set[int]:
    day = (date.fromisoformat(offset.since) - EPOCH).days
    minute = int(np.flatnonzero(up.clock.days >= day)[0])
    first = up.sharing(day, day + 1, by_dates=True) if by_dates else up.sharing(minute, minute + 1, by_dates=False)
    firsts, _ = up.stretches(by_dates=by_dates)
    return {number for number in range(first[0], len(up)) if firsts[number] < end}


def _date(offset: Offset, down: Cut, number: int, up: Cut) -> set[int]:
    """Dates moved one by one; hours by what their partition columns show."""
    moved: set[int] = set()
    for count in offset.counts:
        if not down.is_calendar:
            moved |= _same_hour(down, number, up, lambda day, n=count: _moved(day, offset, n))  # type: ignore[misc]
            continue
        first, end = _stretch(down, number, by_dates=True)
        is_month = down.period in (Period.MONTH, Period.QUARTER, Period.YEAR)
        start = _moved(first, offset, count)
        stop = _moved(end, offset, count) if is_month else _moved(end - 1, offset, count) + 1
        _check_known(down.clock, start, stop)
        sharing = _in_dates(down, start, stop, up)
        moved |= set(sharing if up.period.is_finer_than(down.period) else sharing[:1])
    return moved


def _workdays(offset: Offset, down: Cut, number: int, up: Cut) -> set[int]:
    """Each date of the surroundings asked of the library, one by one."""
    start = int(down.clock.days[_stretch(down, number, by_dates=False)[0]])
    if offset.kind is OffsetKind.WORKDAY:
        before = [day for day in range(start - 60, start) if _is_workday(day)]
        after = [day for day in range(start + 1, start + 60) if _is_workday(day)]
        own = [start] if _is_workday(start) else []
        parts = ([before[n]] if n < 0 else [after[n - 1]] if n > 0 else own for n in offset.counts)
        chosen = [day for part in parts for day in part]
    else:
        assert offset.within is not None
        around = Cut(down.clock, offset.within)
        own_period = around.sharing(start, start + 1, by_dates=True)[0]
        numbers = [own_period + count for low, high in offset.periods or ((0, 0),) for count in range(low, high + 1)]
        if min(numbers) < 1 or max(numbers) > len(around) - 2:
            raise IndexError
        inside = [[day for day in range(*_stretch(around, n, by_dates=True)) if _is_workday(day)] for n in numbers]
        at = 0 if offset.kind is OffsetKind.FIRST_WORKDAY else -1
        chosen = [days[at] for days in inside if days]
    slices: set[int] = set()
    for day in chosen:
        _check_known(down.clock, day, day + 1)
        slices |= set(_in_day(down, day, up))
    return slices


def _in_day(down: Cut, day: int, up: Cut) -> list[int]:
    sharing = _in_dates(down, day, day + 1, up) if day in down.clock.days else []
    return sharing if up.period.is_finer_than(Period.DAY) else sharing[:1]


@lru_cache(maxsize=2048)
def _is_workday(day: int) -> bool:
    return HOLIDAYS.is_working_day(EPOCH + timedelta(days=day))


def _to_date_of_periods(offset: Offset, down: Cut, number: int, up: Cut) -> set[int]:
    """Date by date: those of another period up to the moved last one."""
    assert offset.within is not None
    around = Cut(down.clock, offset.within)
    first, end = _stretch(down, number, by_dates=True)
    own = around.sharing(first, first + 1, by_dates=True)[0]
    slices: set[int] = set()
    for count in (count for low, high in offset.periods for count in range(low, high + 1)):
        if not 0 < own + count < len(around) - 1:
            raise IndexError
        start = _stretch(around, own + count, by_dates=True)[0]
        is_month = down.period in (Period.MONTH, Period.QUARTER, Period.YEAR)
        stop = _moved(end, offset, count) if is_month else _moved(end - 1, offset, count) + 1
        _check_known(down.clock, start, stop)
        slices |= set(_in_dates(down, start, stop, up))
    return slices


def _moved(day: int, offset: Offset, count: int) -> int:
    unit = {"quarter": "month"}.get(str(offset.within), str(offset.within)) + "s"
    steps = count * 3 if offset.within is Period.QUARTER else count
    moved: date = EPOCH + timedelta(days=day) + relativedelta(**{unit: steps})
    return (moved - EPOCH).days


def _check_known(clock: Clock, first: int, end: int) -> None:
    """Raise IndexError for dates that the table does not hold whole."""
    if not clock.days[0] < first <= end < clock.days[-1]:
        raise IndexError


def _in_dates(down: Cut, first: int, end: int, up: Cut) -> list[int]:
    if up.is_calendar:
        return up.sharing(first, end, by_dates=True)
    minutes = np.flatnonzero((down.clock.days >= first) & (down.clock.days < end))
    return [int(number) for number in np.unique(up.clock.numbers(up.period)[minutes])]


def _same_hour(down: Cut, number: int, up: Cut, move: Callable[[int], int]) -> set[int]:
    """Of an upstream by dates the slice at the same time of day; by the clock those with the same hour and minute."""
    own = _partition(down, number)
    day = move(own[0])
    _check_known(down.clock, day, day + 1)
    if up.is_calendar:
        shown = day * DAY + int(down.clock.local[_stretch(down, number, by_dates=False)[0]]) % DAY
        minute = int(np.flatnonzero(down.clock.local >= shown)[0])
        return set(up.sharing(minute, minute + 1, by_dates=False))
    step = max(down.period.minutes or 0, up.period.minutes or 0)
    minutes = np.flatnonzero(up.clock.days == day)
    slices = {int(slice_): _partition(up, int(slice_)) for slice_ in np.unique(up.clock.numbers(up.period)[minutes])}
    return {
        slice_ for slice_, (_, hour, minute) in slices.items() if (hour, minute // step) == (own[1], own[2] // step)
    }


def _partition(cut: Cut, number: int) -> tuple[int, str, int]:
    """Date, hour (with its offset where the clock shows it for the second time) and minute of a slice."""
    calendar = Calendar(cut.clock.name)
    day, hour, *minute = clock_values(calendar.grid(cut.period).key(calendar.grid(cut.period).at(cut.start(number))))
    return (date.fromisoformat(day) - EPOCH).days, hour, int(minute[0]) if minute else 0


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
