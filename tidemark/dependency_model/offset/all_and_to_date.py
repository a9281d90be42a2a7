"""`all` and `to_date`: every upstream slice in a stretch of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.offset.grid_comparison import sides

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.time.grid import Grid


class All:
    """Every upstream slice that shares time with the enclosing slice, or with the window itself."""

    def __init__(self, down: Grid, up: Grid, enclosing: Grid) -> None:
        self._is_window = enclosing is down
        self._down, self._up, self._enclosing = sides(down, up, enclosing)

    def expand(self, down: int) -> Sequence[int]:
        around = down if self._is_window else self._enclosing.at(self._down.start(down))
        return self._up.overlapping(self._enclosing.start(around), self._enclosing.end(around))

    def inverse(self, up: int) -> Sequence[int]:
        around = self._enclosing.overlapping(self._up.start(up), self._up.end(up))
        if self._is_window or not around:
            return around
        return range(
            self._down.from_(self._enclosing.start(around[0])), self._down.from_(self._enclosing.start(around[-1] + 1))
        )


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
