"""`first of month -1` and similar: an offset applied to periods around the window instead of the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.offset.grid_comparison import sides
from tidemark.dependency_model.offset.run_union import union

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.offset.mapping_protocol import Mapping
    from tidemark.dependency_model.offset.offset import Runs
    from tidemark.dependency_model.time.grid import Grid


class AroundWindow:
    """`inner` maps enclosing slices to upstream slices.

    `runs` counts enclosing slices from the one in which the window begins.
    """

    def __init__(self, inner: Mapping, down: Grid, enclosing: Grid, runs: Runs) -> None:
        self._inner = inner
        self._is_window = enclosing is down
        self._down, self._enclosing = sides(down, enclosing)
        self._runs, self._known = runs, range(enclosing.first, enclosing.last + 1)

    def expand(self, down: int) -> Sequence[int]:
        around = down if self._is_window else self._enclosing.at(self._down.start(down))
        counts = (around + count for first, last in self._runs for count in range(first, last + 1))
        return union([self._inner.expand(enclosing) for enclosing in counts if enclosing in self._known])

    def inverse(self, up: int) -> Sequence[int]:
        enclosing = self._inner.inverse(up)
        return union(
            [self._beginning_in(around - last, around - first) for around in enclosing for first, last in self._runs]
        )

    def _beginning_in(self, first: int, last: int) -> range:
        """The downstream slices that begin in a range of enclosing slices."""
        if self._is_window:
            return range(first, last + 1)
        return range(self._down.from_(self._enclosing.start(first)), self._down.from_(self._enclosing.start(last + 1)))


class LastInside:
    """The last upstream slice that overlaps the window."""

    def __init__(self, down: Grid, up: Grid) -> None:
        self._down, self._up = sides(down, up)

    def expand(self, down: int) -> Sequence[int]:
        return (self._up.from_(self._down.end(down)) - 1,)

    def inverse(self, up: int) -> Sequence[int]:
        """The downstream slices that end in the upstream slice."""
        start, end = (
            self._up.start(up),
            self._up.start(up + 1),
        )  # a skipped day may follow
        first, last = self._down.at(start), self._down.at(end - 1)
        return range(first, last + 1 if self._down.end(last) <= end else last)
