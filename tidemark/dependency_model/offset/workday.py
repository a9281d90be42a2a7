"""`workday -1`, `first workday of month`: workdays of a calendar of holidays (`time/workdays.py`).

A workday means the same as a day in `natural_offset`: all upstream slices inside it, or the one that contains it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.offset.grid_comparison import sides
from tidemark.dependency_model.offset.run_union import union

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.offset.mapping_protocol import Mapping
    from tidemark.dependency_model.offset.offset import Runs
    from tidemark.dependency_model.time.date_grid import DateGrid, DayGrid
    from tidemark.dependency_model.time.grid import Grid
    from tidemark.dependency_model.time.workdays import Workdays


class CountedWorkdays:
    """Workdays counted from the date on which the window begins; 0 is that date, if it is a workday.

    `inner` maps days to upstream slices.
    """

    def __init__(self, runs: Runs, workdays: Workdays, inner: Mapping, down: Grid, days: DayGrid) -> None:
        self._runs, self._workdays, self._inner, self._dates = runs, workdays, inner, days
        self._down, self._days = sides(down, days)

    def expand(self, down: int) -> Sequence[int]:
        day = self._dates.first_day(self._days.at(self._down.start(down)))
        chosen = [counted for first, last in self._runs for counted in self._workdays.counted(day, first, last)]
        return _slices(chosen, self._inner, self._dates)

    def inverse(self, up: int) -> Sequence[int]:
        used = [self._dates.first_day(ordinal) for ordinal in self._inner.inverse(up)]
        reached = [self._workdays.counting(day, *run) for day in used for run in self._runs]
        return union([self._beginning_on(*dates) for dates in reached if dates])

    def _beginning_on(self, first: int, last: int) -> range:
        """The downstream slices that begin in a range of dates."""
        first, end = self._dates.at_day(first), self._dates.at_day(last + 1)
        return range(self._down.from_(self._days.start(first)), self._down.from_(self._days.start(end)))


class WorkdayInside:
    """The first or last workday of an enclosing slice (`chosen`). `inner` maps days to upstream slices."""

    def __init__(self, chosen: slice, workdays: Workdays, inner: Mapping, down: DateGrid, days: DayGrid) -> None:
        self._place, self._workdays, self._inner, self._down, self._days = chosen, workdays, inner, down, days

    def expand(self, down: int) -> Sequence[int]:
        return _slices(self._chosen(down), self._inner, self._days)

    def inverse(self, up: int) -> Sequence[int]:
        used = [self._days.first_day(ordinal) for ordinal in self._inner.inverse(up)]
        return sorted({self._down.at_day(day) for day in used if day in self._chosen(self._down.at_day(day))})

    def _chosen(self, down: int) -> list[int]:
        return self._workdays.inside(self._down.first_day(down), self._down.end_day(down))[self._place]


def _slices(chosen: Sequence[int], inner: Mapping, days: DayGrid) -> Sequence[int]:
    """The upstream slices of these days. A day that the zone skipped has none."""
    ordinals = [ordinal for day in chosen if days.first_day(ordinal := days.at_day(day)) == day]
    return union([inner.expand(ordinal) for ordinal in ordinals])
