"""The axis on which grids are compared: dates for two calendars, instants otherwise.

A day is a *batch date*: the days of Shanghai and Paris with the same date correspond, though they are different ranges
of time (seed capability C5). Slices shorter than a day are compared by the time that they cover.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.dependency_model.time.date_grid import DateGrid

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.dependency_model.time.grid import Grid


@dataclass(frozen=True, slots=True)
class Side:
    """A grid on the axis: where slices begin and end, and which slice contains a point."""

    start: Callable[[int], int]
    end: Callable[[int], int]
    at: Callable[[int], int]

    def from_(self, point: int) -> int:
        """The first slice that begins at or after a point."""
        ordinal = self.at(point)
        return ordinal if self.start(ordinal) >= point else ordinal + 1

    def overlapping(self, start: int, end: int) -> range:
        """The slices that overlap `[start, end)`."""
        return range(self.at(start), self.from_(end))


def sides(*grids: Grid) -> tuple[Side, ...]:
    """The grids on their common axis: days if all of them are calendars, else seconds."""
    if all(isinstance(grid, DateGrid) for grid in grids):
        return tuple(_by_dates(grid) for grid in grids if isinstance(grid, DateGrid))
    return tuple(_by_instants(grid) for grid in grids)


def _by_dates(grid: DateGrid) -> Side:
    return Side(grid.first_day, grid.end_day, grid.at_day)


def _by_instants(grid: Grid) -> Side:
    return Side(grid.start, lambda ordinal: grid.start(ordinal + 1), grid.at)
