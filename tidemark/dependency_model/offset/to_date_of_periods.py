"""`to_date month -1`: as `to_date month`, for the month before.

It goes from the start of that period to the window's end, moved as by `date -1 month`: for March 31st, all of February.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.offset.grid_comparison import sides
from tidemark.dependency_model.offset.run_union import union
from tidemark.dependency_model.time.date_grid import DateGrid, MonthsGrid
from tidemark.dependency_model.time.date_shift import shift_day
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.offset.mapping_protocol import Mapping
    from tidemark.dependency_model.offset.offset import Runs
    from tidemark.dependency_model.time.grid import Grid
    from tidemark.dependency_model.time.local_calendar import Calendar
    from tidemark.dependency_model.time.period import Period

_REMEMBERED: Final = 4_096


def to_date_of_periods(runs: Runs, within: Period, down: tuple[Calendar, Period], up: Grid) -> Mapping:
    """The mapping between two grids. Raises ParseError for a downstream shorter than a day."""
    calendar, period = down
    grid, enclosing = calendar.grid(period), calendar.grid(within)
    if not isinstance(grid, DateGrid) or not isinstance(enclosing, DateGrid):
        raise ParseError(
            "to_date of other periods needs dates",
            expected="a downstream with the period day or longer",
            found=f"the period {period}",
            hint=f"count its slices, or name whole periods: all {within} -1",
        )
    return ToDateOfPeriods(runs, grid, up, enclosing)


class ToDateOfPeriods:
    """`runs` counts enclosing slices from the one in which the window begins."""

    def __init__(self, runs: Runs, down: DateGrid, up: Grid, enclosing: DateGrid) -> None:
        self._dates, self._enclosing, self._counts = down, enclosing, tuple(_counts(runs))
        self._known = range(enclosing.first, enclosing.last + 1)
        self._up, self._around = sides(up, enclosing)
        self._by_dates = isinstance(up, DateGrid)
        self.expand = lru_cache(maxsize=_REMEMBERED)(self._expand)

    def _expand(self, down: int) -> Sequence[int]:
        own = self._enclosing.at_day(self._dates.first_day(down))
        return union(
            [self._of_period(down, own + count, count) for count in self._counts if own + count in self._known]
        )

    def _of_period(self, down: int, around: int, count: int) -> range:
        start = self._enclosing.first_day(around)
        return self._up.overlapping(self._point(start), self._point(self._end_day(down, count)))

    def _end_day(self, down: int, count: int) -> int:
        """The day after the moved window. Windows of months move this day; other windows move their last day."""
        end, unit = self._dates.end_day(down), self._enclosing.period
        if isinstance(self._dates, MonthsGrid):
            return shift_day(end, unit, count)
        return shift_day(end - 1, unit, count) + 1

    def _point(self, day: int) -> int:
        """The point at which a date begins on the common axis."""
        return day if self._by_dates else self._dates.zone.midnight(day)

    def inverse(self, up: int) -> Sequence[int]:
        used = self._around.overlapping(self._up.start(up), self._up.end(up))
        if not used:
            return used
        reached = range(used[0] - 1, used[-1] + 1)  # a week's end is in the next month: its range continues there
        downs = union([self._beginning_in(around - count) for around in reached for count in self._counts])
        return [down for down in downs if up in self.expand(down)]

    def _beginning_in(self, enclosing: int) -> range:
        """The downstream slices that begin in an enclosing slice."""
        first, end = (self._enclosing.first_day(ordinal) for ordinal in (enclosing, enclosing + 1))
        return range(self._from_day(first), self._from_day(end))

    def _from_day(self, day: int) -> int:
        ordinal = self._dates.at_day(day)
        return ordinal if self._dates.first_day(ordinal) >= day else ordinal + 1


def _counts(runs: Runs) -> list[int]:
    return [count for first, last in runs for count in range(first, last + 1)]
