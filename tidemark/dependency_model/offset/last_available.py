"""`last_available`: the newest upstream slice that ended by the end of the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.offset.grid_comparison import sides

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.time.grid import Grid


class Latest:
    """The newest candidate. If it is missing, any older slice suffices; only the state says which one."""

    def __init__(self, down: Grid, up: Grid) -> None:
        self._down, self._up = sides(down, up)

    def expand(self, down: int) -> Sequence[int]:
        return (self._up.at(self._down.end(down)) - 1,)

    def inverse(self, up: int) -> Sequence[int]:
        """The downstream slices whose newest candidate is this slice."""
        return range(self.first_user(up), self.first_user(up + 1))

    def first_user(self, up: int) -> int:
        """The first downstream slice that can take this one if newer ones are missing; all later ones can, too."""
        return self._ending_from(self._up.end(up))

    def _ending_from(self, point: int) -> int:
        """The first downstream slice that ends at or after a point."""
        down = self._down.at(point - 1)
        return down if self._down.end(down) >= point else down + 1
