"""`all` and `to_date`: every upstream slice in a range of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.offset.grid_comparison import sides
from tidemark.dependency_model.offset.run_union import union

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.offset.offset import Runs
    from tidemark.dependency_model.time.grid import Grid

_OWN: Runs = ((0, 0),)


class All:
    """Every upstream slice that overlaps the window, its enclosing slice, or enclosing slices around it.

    `runs` counts enclosing slices from the one in which the window begins.
    """

    def __init__(self, down: Grid, up: Grid, enclosing: Grid, runs: Runs = _OWN) -> None:
        self._is_window = enclosing is down
        self._down, self._up, self._enclosing = sides(down, up, enclosing)
        self._runs, self._first, self._last = runs or _OWN, enclosing.first, enclosing.last

    def expand(self, down: int) -> Sequence[int]:
        around = down if self._is_window else self._enclosing.at(self._down.start(down))
        return union([self._inside(around + first, around + last) for first, last in self._runs])

    def _inside(self, first: int, last: int) -> range:
        """The upstream slices in a range of enclosing slices."""
        first, last = max(first, self._first), min(last, self._last)
        if first > last:
            return range(0)
        return self._up.overlapping(self._enclosing.start(first), self._enclosing.end(last))

    def inverse(self, up: int) -> Sequence[int]:
        around = self._enclosing.overlapping(self._up.start(up), self._up.end(up))
        # For a day that the enclosing zone skipped: the slices after and before it.
        earliest, latest = around.start, around.stop - 1
        return union([self._beginning_in(earliest - last, latest - first) for first, last in reversed(self._runs)])

    def _beginning_in(self, first: int, last: int) -> range:
        """The downstream slices that begin in a range of enclosing slices."""
        if self._is_window:
            return range(first, last + 1)
        return range(self._down.from_(self._enclosing.start(first)), self._down.from_(self._enclosing.start(last + 1)))


class ToDate:
    """Every upstream slice from the start of the enclosing slice to the end of the window."""

    def __init__(self, down: Grid, up: Grid, enclosing: Grid) -> None:
        self._down, self._up, self._enclosing = sides(down, up, enclosing)

    def expand(self, down: int) -> Sequence[int]:
        around = self._enclosing.at(self._down.start(down))
        return self._up.overlapping(self._enclosing.start(around), self._down.end(down))

    def inverse(self, up: int) -> Sequence[int]:
        around = self._enclosing.overlapping(self._up.start(up), self._up.end(up))
        if not around:
            return around
        return range(self._down.at(self._up.start(up)), self._down.from_(self._enclosing.start(around[-1] + 1)))
