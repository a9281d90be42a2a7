"""The upstream slices of an offset, with their keys. Cached, because many entities have the same offset."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.offset.mapping_protocol import Mapping
    from tidemark.dependency_model.time.grid import Grid

_MEMORY = 100_000


class NeededKeys:
    """Caches up to 100,000 keys of one mapping."""

    __slots__ = ("_held", "_mapping", "_remembered", "upstream")

    def __init__(self, mapping: Mapping, upstream: Grid) -> None:
        self._mapping, self.upstream = mapping, upstream
        self._remembered: dict[int, tuple[Sequence[int], Sequence[str]]] = {}
        self._held = 0

    def of(self, ordinal: int) -> tuple[Sequence[int], Sequence[str]]:
        """The numbers, in order of time, and the keys of the slices that a downstream slice needs.

        Some may not exist, because the start of the entity is not known here.
        """
        needed = self._remembered.get(ordinal)
        if needed is None:
            ordinals = self._mapping.expand(ordinal)
            needed = ordinals, self.upstream.keys(ordinals)
            if self._held >= _MEMORY:
                self._remembered.clear()
                self._held = 0
            self._remembered[ordinal] = needed
            self._held += 1 + len(ordinals)
        return needed


needed_keys = lru_cache(maxsize=65_536)(NeededKeys)
"""Returns the same object for the same mapping and grid."""
