"""`last_available`: the newest upstream slice that ended by the end of the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.offset.grid_comparison import sides

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.time.grid import Grid


class Latest:
    """Names the newest candidate; where it is missing, any older slice will do (which one, only the state can say)."""

    def __init__(self, down: Grid, up: Grid) -> None:
        self._down, self._up = sides(down, up)

    def expand(self, down: int) -> Sequence[int]:
        return (self._up.at(self._down.end(down)) - 1,)

    def inverse(self, up: int) -> Sequence[int]:
        """The downstream slices whose newest candidate this is."""
        return range(self.first_user(up), self.first_user(up + 1))

    def first_user(self, up: int) -> int:
        """The first downstream slice that takes this one, where no newer one is there; all that follow would, too."""
        return self._ending_from(self._up.end(up))

    def _ending_from(self, point: int) -> int:
        """The first downstream slice that ends at a point or later."""
        down = self._down.at(point - 1)
        return down if self._down.end(down) >= point else down + 1
