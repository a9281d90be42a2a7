"""Where two grids meet: two calendars compare dates, everything else compares instants.

A day is a *batch date*: the day of Shanghai and the day of Paris with the same date belong together, though they are
different stretches of time (seed capability C5). Slices shorter than a day are compared by the time that they cover.
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
    """One grid on the axis: where slices begin and end on it, and which slice a point of it lies in."""

    start: Callable[[int], int]
    end: Callable[[int], int]
    at: Callable[[int], int]

    def from_(self, point: int) -> int:
        """The first slice that begins at a point or later."""
        ordinal = self.at(point)
        return ordinal if self.start(ordinal) >= point else ordinal + 1

    def overlapping(self, start: int, end: int) -> range:
        """The slices that share something with `[start, end)`."""
        return range(self.at(start), self.from_(end))


def sides(*grids: Grid) -> tuple[Side, ...]:
    """The grids on their common axis: days where all of them are calendars, else seconds."""
    if all(isinstance(grid, DateGrid) for grid in grids):
        return tuple(_by_dates(grid) for grid in grids if isinstance(grid, DateGrid))
    return tuple(_by_instants(grid) for grid in grids)


def _by_dates(grid: DateGrid) -> Side:
    return Side(grid.first_day, grid.end_day, grid.at_day)


def _by_instants(grid: Grid) -> Side:
    return Side(grid.start, lambda ordinal: grid.start(ordinal + 1), grid.at)
