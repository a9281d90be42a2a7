"""`Set` and `Range` in grids where counting is enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.offset.grid_comparison import sides

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.offset.offset import Runs
    from tidemark.dependency_model.time.grid import Grid


class Counted:
    """Counts slices from the upstream slice in which the window begins."""

    def __init__(self, runs: Runs, down: Grid, up: Grid) -> None:
        self._runs = runs
        self._same = down is up
        self._down, self._up = sides(down, up)

    def expand(self, down: int) -> Sequence[int]:
        anchor = down if self._same else self._up.at(self._down.start(down))
        if len(self._runs) == 1:
            first, last = self._runs[0]
            return range(anchor + first, anchor + last + 1)
        return [anchor + count for first, last in self._runs for count in range(first, last + 1)]

    def inverse(self, up: int) -> Sequence[int]:
        ordinals: list[int] = []
        for first, last in reversed(self._runs):
            ordinals.extend(self._beginning_in(up - last, up - first))
        return ordinals

    def _beginning_in(self, first: int, last: int) -> range:
        """The downstream slices that begin in a range of upstream slices."""
        if self._same:
            return range(first, last + 1)
        return range(self._down.from_(self._up.start(first)), self._down.from_(self._up.start(last + 1)))
