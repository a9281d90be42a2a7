"""`date -1 year`: the same date of another year, month or week, for the window of a slice.

A window of a day or longer is moved by its dates. If the upstream has a shorter period, the offset means all slices in
the moved window; with a longer period, the slice in which the window begins. A slice shorter than a day means the
slices of the moved date whose partition columns show the same hour and minute, as in `dt = date_sub(:biz_date, 7) AND
hour = :biz_hour`. The hour that spring skips has no slice there; each of the two that autumn repeats has its own. A
date that the zone skipped has no day: `dt = date_sub(:biz_date, 1)` reads none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.offset.grid_comparison import sides
from tidemark.dependency_model.offset.run_union import union
from tidemark.dependency_model.time.clock_grid import ClockGrid
from tidemark.dependency_model.time.date_grid import DateGrid, DayGrid, MonthsGrid
from tidemark.dependency_model.time.date_shift import shift_day
from tidemark.dependency_model.time.partition_columns import clock_values
from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.zone import DAY_SECONDS
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tidemark.dependency_model.offset.mapping_protocol import Mapping
    from tidemark.dependency_model.offset.offset import Runs
    from tidemark.dependency_model.time.grid import Grid

_REMEMBERED: Final = 4_096
_SLACK: Final = {Period.DAY: 1, Period.WEEK: 1}
_MONTHS_SLACK: Final = 4
"""Days by which a date may be missed when it is moved and moved back: a skipped day, short months."""


def shifted_date(runs: Runs, unit: Period, down: Grid, up: Grid) -> Mapping:
    """The mapping between two grids. Raises ParseError between the clocks of two time zones."""
    if isinstance(down, DateGrid):
        return ShiftedDates(runs, unit, down, up)
    if not isinstance(down, ClockGrid):
        raise TypeError(f"no dates of {down!r}")
    if isinstance(up, ClockGrid) and up.zone is not down.zone:
        raise ParseError(
            "an offset by date needs hours of the same time zone",
            expected=f"an upstream in {down.zone.name}",
            found=f"an upstream in {up.zone.name}",
            hint="count its slices: Set -24",
        )
    return ShiftedClock(runs, unit, down, up)


class _Shifted(ABC):
    """The base for windows of dates and of the clock."""

    def __init__(self, runs: Runs, unit: Period, down: Grid, up: Grid) -> None:
        self._runs, self._unit = runs, unit
        self._zone, self._upstream = down.zone, up
        self._expanded = lru_cache(maxsize=_REMEMBERED)(self._expand)

    def expand(self, down: int) -> Sequence[int]:
        return self._expanded(down)

    @abstractmethod
    def _expand(self, down: int) -> Sequence[int]:
        """The upstream slices, in order."""

    @abstractmethod
    def _of_dates(self, first: int, last: int) -> range:
        """The downstream slices that overlap a range of dates."""

    def inverse(self, up: int) -> Sequence[int]:
        first, last = self._upstream_dates(up)
        slack = _SLACK.get(self._unit, _MONTHS_SLACK)
        near = [
            self._of_dates(shift_day(first, self._unit, -high) - slack, shift_day(last, self._unit, -low) + slack)
            for low, high in self._runs
        ]
        return [down for down in union(near) if up in self.expand(down)]

    def _upstream_dates(self, up: int) -> tuple[int, int]:
        """The first and last date of an upstream slice in the downstream's calendar."""
        if isinstance(self._upstream, DateGrid) and self._compares_dates:
            return self._upstream.first_day(up), self._upstream.end_day(up) - 1
        return self._zone.day_at(self._upstream.start(up)), self._zone.day_at(self._upstream.start(up + 1) - 1)

    @property
    @abstractmethod
    def _compares_dates(self) -> bool:
        """Whether an upstream by dates is compared by dates and not by instants."""


class ShiftedDates(_Shifted):
    """Windows of dates moved to other dates."""

    def __init__(self, runs: Runs, unit: Period, down: DateGrid, up: Grid) -> None:
        super().__init__(runs, unit, down, up)
        self._dates = down
        self._up = sides(down, up)[1]
        self._is_finer = up.period.is_finer_than(down.period)

    @property
    def _compares_dates(self) -> bool:
        return True

    def _expand(self, down: int) -> Sequence[int]:
        if self._unit is Period.DAY and self._dates.period is Period.DAY:
            return union([self._moved(down, first, last) for first, last in self._runs])
        return union([self._moved(down, count, count) for count in _counts(self._runs)])

    def _moved(self, down: int, first: int, last: int) -> Sequence[int]:
        """The upstream slices of the window, moved by a range of counts."""
        start, end = self._dates.first_day(down), self._dates.end_day(down)
        begins = self._point(shift_day(start, self._unit, first))
        if not self._is_finer and first == last:
            return () if _is_skipped(self._upstream, begins) else (self._up.at(begins),)
        if isinstance(self._dates, MonthsGrid):
            return self._up.overlapping(begins, self._point(shift_day(end, self._unit, last)))
        return self._up.overlapping(begins, self._point(shift_day(end - 1, self._unit, last) + 1))

    def _point(self, day: int) -> int:
        """The point at which a date begins on the common axis."""
        return day if isinstance(self._upstream, DateGrid) else self._zone.midnight(day)

    def _of_dates(self, first: int, last: int) -> range:
        return range(self._dates.at_day(first), self._dates.at_day(last) + 1)


class ShiftedClock(_Shifted):
    """Slices shorter than a day: the same hour and minute of other dates."""

    def __init__(self, runs: Runs, unit: Period, down: ClockGrid, up: Grid) -> None:
        super().__init__(runs, unit, down, up)
        self._clock = down

    @property
    def _compares_dates(self) -> bool:
        return False

    def _expand(self, down: int) -> Sequence[int]:
        day, index = self._clock.place(down)
        return union([self._on(shift_day(day, self._unit, count), day, index, down) for count in _counts(self._runs)])

    def _on(self, moved: int, day: int, index: int, down: int) -> Sequence[int]:
        """The upstream slices of one date."""
        up = self._upstream
        if not isinstance(up, ClockGrid):
            if isinstance(up, DayGrid) and self._zone.midnight(moved) == self._zone.midnight(moved + 1):
                return ()
            shown = self._clock.local(down) % DAY_SECONDS
            return (up.at(self._zone.earliest(moved * DAY_SECONDS + shown)),)
        if self._clock.is_plain(day, day + 1) and up.is_plain(moved, moved + 1):
            first, end = index * self._clock.step, (index + 1) * self._clock.step
            start = up.day_start(moved)
            return range(start + first // up.step, start + -(-end // up.step))
        wanted = clock_values(self._clock.key(down))
        ordinals = range(up.day_start(moved), up.day_start(moved + 1))
        step = max(self._clock.step, up.step) // 60
        return [ordinal for ordinal in ordinals if _shows_the_same(clock_values(up.key(ordinal)), wanted, step)]

    def _of_dates(self, first: int, last: int) -> range:
        return range(self._clock.day_start(first), self._clock.day_start(last + 1))


def _is_skipped(grid: Grid, point: int) -> bool:
    """Whether a point is a date that the zone skipped."""
    return isinstance(grid, DayGrid) and point in grid.skipped


def _shows_the_same(values: tuple[str, ...], wanted: tuple[str, ...], step: int) -> bool:
    """Whether the hours are equal and the minutes are in the same step of the longer period (in minutes)."""
    if values[1] != wanted[1]:
        return False
    return len(values) < 3 or len(wanted) < 3 or int(values[2]) // step == int(wanted[2]) // step


def _counts(runs: Runs) -> Iterator[int]:
    return (count for first, last in runs for count in range(first, last + 1))
