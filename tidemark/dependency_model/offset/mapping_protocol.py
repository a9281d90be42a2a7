"""The interface of a mapping between two grids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Mapping(Protocol):
    """Both directions work on slice numbers. The start of an entity is not considered."""

    def __hash__(self) -> int:
        """There is one object for one offset between two grids, so mappings are compared by identity."""

    def expand(self, down: int) -> Sequence[int]:
        """The upstream slices that a downstream slice needs, in order of time."""

    def inverse(self, up: int) -> Sequence[int]:
        """The downstream slices that need an upstream slice, in order of time."""
