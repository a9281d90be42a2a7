"""`since start`, `since 2024-01-01`: every upstream slice from a fixed day to the end of the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.offset.grid_comparison import sides

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.time.grid import Grid


class Since:
    """`first` is the first named slice. Slices before the upstream's own start do not exist."""

    def __init__(self, down: Grid, up: Grid, first: int) -> None:
        self._down, self._up = sides(down, up)
        self._first, self._end = first, down.last + 1

    def expand(self, down: int) -> Sequence[int]:
        return range(self._first, self._up.from_(self._down.end(down)))

    def inverse(self, up: int) -> Sequence[int]:
        """The downstream slice in which the upstream slice begins, and all later ones."""
        return range(self._down.at(self._up.start(up)), self._end) if up >= self._first else range(0)
