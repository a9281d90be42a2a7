"""Offsets by the calendar that fit sets of slices: periods around the window, places in them, moved dates.

Candidates fit most business times. The caller checks whether they fit all.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.inferred_read import runs_of_slices
from tidemark.dependency_model.offset.grid_comparison import sides
from tidemark.dependency_model.offset.offset import (
    ALL,
    LAST,
    PERIODS_LIMIT,
    SAME,
    TO_DATE,
    Offset,
    OffsetKind,
    Runs,
    runs_of,
)
from tidemark.dependency_model.time.clock_grid import ClockGrid
from tidemark.dependency_model.time.date_grid import DateGrid
from tidemark.dependency_model.time.date_shift import months_between
from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.zone import DAY_SECONDS, EPOCH_ORDINAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tidemark.dependency_model.time.grid import Grid
    from tidemark.dependency_model.time.local_calendar import Calendar

_ENCLOSING: Final = (Period.HOUR, Period.DAY, Period.WEEK, Period.MONTH, Period.QUARTER, Period.YEAR)
_TRIED: Final = 2
_FEW: Final = 64
"""The most slices of a set that are examined as places in a period, or as dates."""
_MANY: Final = 800
"""The same limit for days whose first and last are not whole."""
_DAY_PARTS: Final = 3
_FEWEST_PERIODS: Final = 3
"""Business times in fewer periods would fit places by chance."""
_YEAR: Final = 12
_A_YEAR: Final = {Period.MONTH: 12, Period.QUARTER: 4}


def usual_parts(down: Period, up: Period) -> Iterator[Offset]:
    """Offsets that queries often read in addition: the same day last year, the last slice of the month before."""
    for within in _ENCLOSING:
        if within.is_finer_than(down) or not up.is_finer_than(within):
            continue
        yield SAME.of_periods(within)
        yield LAST.of_periods(within, ((-1, -1),))
        yield ALL.of_periods(within, ((-1, -1),))
    if not down.is_clock:
        yield from (Offset(OffsetKind.DATE, ((-1, -1),), unit) for unit in (Period.MONTH, Period.YEAR))
    yield Offset(OffsetKind.DATE, ((-1, -1),), Period.DAY)


@dataclass(frozen=True)
class CalendarCandidates:
    """`needed` are sets of slices by business time."""

    calendar: Calendar
    period: Period
    up: Grid
    needed: Mapping[int, frozenset[int]]

    def __iter__(self) -> Iterator[Offset]:
        for within in _ENCLOSING:
            if not within.is_finer_than(self.period) and self.up.period.is_finer_than(within):
                around = _Around(self.calendar.grid(self.period), self.calendar.grid(within), self.up)
                if len({around.own(down) for down in self.needed}) < _FEWEST_PERIODS:
                    continue
                yield from self._periods(within, around)
                yield from self._places(within, around)
                yield from self._to_date(within)
        yield from self._dates()
        yield from self._workdays()
        yield from self._since()

    def days_apart(self) -> Iterator[tuple[Offset, ...]]:
        """Combined offsets for different hours of two days, as from 04:00 to 04:00."""
        if not isinstance(self.up, ClockGrid) or Period.DAY.is_finer_than(self.period):
            return
        around = _Around(self.calendar.grid(self.period), self.calendar.grid(Period.DAY), self.up)
        for places, _ in self._shown_places(around, _MANY).most_common(_TRIED):
            days: dict[int, list[int]] = {}
            for count, number in places:
                days.setdefault(count, []).append(number)
            alike: dict[tuple[int, ...], list[int]] = {}
            for count, numbers in days.items():
                alike.setdefault(tuple(numbers), []).append(count)
            if 1 < len(alike) <= _DAY_PARTS and _is_near(runs_of(days)):
                yield tuple(
                    self._of_day(Offset.of_counts(numbers), runs_of(counts)) for numbers, counts in alike.items()
                )

    def _of_day(self, offset: Offset, days: Runs) -> Offset:
        if offset.runs == ((0, DAY_SECONDS // (60 * (self.up.period.minutes or 1)) - 1),):
            offset = ALL
        return offset if self.period is Period.DAY and days == ((0, 0),) else offset.of_periods(Period.DAY, days)

    @cached_property
    def _runs(self) -> list[tuple[int, Runs]]:
        return [(down, runs_of_slices(slices)) for down, slices in self.needed.items() if slices]

    def _periods(self, within: Period, around: _Around) -> Iterator[Offset]:
        """All slices of periods."""
        shown = Counter(
            runs_of(
                count
                for first, last in runs
                for count in range(around.count(down, first), around.count(down, last) + 1)
            )
            for down, runs in self._runs
            if len(runs) <= _FEW and around.count(down, runs[-1][1]) - around.count(down, runs[0][0]) <= PERIODS_LIMIT
        )
        yield from (ALL.of_periods(within, runs) for runs, _ in shown.most_common(_TRIED) if _is_near(runs))

    def _places(self, within: Period, around: _Around) -> Iterator[Offset]:
        """The same places in periods: the first slice, the last one, or others by number."""
        for places, _ in self._shown_places(around).most_common(_TRIED):
            counts = runs_of(count for count, _ in places)
            numbers = {number for _, number in places}
            if len(places) == len(numbers) * len({count for count, _ in places}) and _is_near(counts):
                yield Offset.of_counts(numbers).of_periods(within, counts)
        lasts = Counter(
            runs_of(around.count(down, slice_) for slice_ in slices)
            for down, slices in self._few()
            if all(around.is_last(slice_) for slice_ in slices)
        )
        yield from (LAST.of_periods(within, counts) for counts, _ in lasts.most_common(1) if _is_near(counts))

    def _shown_places(self, around: _Around, limit: int = _FEW) -> Counter[tuple[tuple[int, int], ...]]:
        """The number of sets with the same slices, by their number in periods counted from the window's."""
        return Counter(
            tuple(sorted({(around.count(down, slice_), around.place(slice_)) for slice_ in slices}))
            for down, slices in self._few(limit)
        )

    def _to_date(self, within: Period) -> Iterator[Offset]:
        """To-date offsets of the period before, and of a year before, with and without the present period."""
        if self.period.is_clock or within.is_clock or within is Period.DAY:
            return
        for count in {1, _A_YEAR.get(within, 1)}:
            yield TO_DATE.of_periods(within, ((-count, -count),))
            yield TO_DATE.of_periods(within, runs_of((-count, 0)))

    def _workdays(self) -> Iterator[Offset]:
        """With a calendar of holidays: the workday before, and the last workdays of periods."""
        if not self.calendar.holidays:
            return
        yield Offset(OffsetKind.WORKDAY, ((-1, -1),))
        for within in (Period.WEEK, Period.MONTH):
            if not within.is_finer_than(self.period):
                yield from (Offset(OffsetKind.LAST_WORKDAY).of_periods(within, ((count, count),)) for count in (0, -1))

    def _dates(self) -> Iterator[Offset]:
        """The window's dates, moved by days or by months."""
        grid = self.calendar.grid(self.period)
        days = Counter(
            runs_of(_date(self.up, slice_) - _date(grid, down) for slice_ in slices) for down, slices in self._few()
        )
        months = Counter(
            runs_of(months_between(_date(grid, down), _date(self.up, slice_)) for slice_ in slices)
            for down, slices in self._few()
        )
        for counts, _ in days.most_common(_TRIED):
            if _is_near(counts):
                yield Offset(OffsetKind.DATE, counts, Period.DAY)
        for counts, _ in months.most_common(_TRIED):
            if counts != ((0, 0),) and _is_near(counts):
                yield _of_months(counts)

    def _since(self) -> Iterator[Offset]:
        """From a fixed day on."""
        firsts = {min(slices) for slices in self.needed.values() if slices}
        if len(firsts) == 1 and any(len(slices) > _FEW for slices in self.needed.values()):
            day = date.fromordinal(_date(self.up, firsts.pop()) + EPOCH_ORDINAL)
            yield Offset(OffsetKind.SINCE, since=day.isoformat())

    def _few(self, limit: int = _FEW) -> Iterator[tuple[int, frozenset[int]]]:
        return ((down, slices) for down, slices in self.needed.items() if 0 < len(slices) <= limit)


class _Around:
    """The position of an upstream slice in the periods around a window."""

    def __init__(self, down: Grid, enclosing: Grid, up: Grid) -> None:
        self._down, self._own = sides(down, enclosing)
        self._up, self._enclosing = sides(up, enclosing)

    def own(self, down: int) -> int:
        """The period in which the window begins."""
        return self._own.at(self._down.start(down))

    def count(self, down: int, slice_: int) -> int:
        """The number of periods after the one in which the window begins."""
        return self._enclosing.at(self._up.start(slice_)) - self.own(down)

    def place(self, slice_: int) -> int:
        """The number of slices after the first one of its period."""
        return slice_ - self._up.at(self._enclosing.start(self._enclosing.at(self._up.start(slice_))))

    def is_last(self, slice_: int) -> bool:
        """Whether it is the last slice of its period."""
        period = self._enclosing.at(self._up.start(slice_))
        return self._up.from_(self._enclosing.end(period)) - 1 == slice_


def _of_months(counts: Runs) -> Offset:
    months = [count for first, last in counts for count in range(first, last + 1)]
    if all(count % _YEAR == 0 for count in months):
        return Offset(OffsetKind.DATE, runs_of(count // _YEAR for count in months), Period.YEAR)
    return Offset(OffsetKind.DATE, counts, Period.MONTH)


def _is_near(runs: Runs) -> bool:
    return bool(runs) and max(-runs[0][0], runs[-1][1]) <= PERIODS_LIMIT


def _date(grid: Grid, ordinal: int) -> int:
    """The local date on which a slice begins."""
    if isinstance(grid, DateGrid):
        return grid.first_day(ordinal)
    if isinstance(grid, ClockGrid):
        return grid.place(ordinal)[0]
    raise TypeError(f"no dates of {grid!r}")
