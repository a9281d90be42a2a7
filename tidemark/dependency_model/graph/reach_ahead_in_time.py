"""The reach of a dependency ahead in time. It distinguishes a cycle in time from a chain that goes back."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from tidemark.dependency_model.time.sample_slices import dense_slices
from tidemark.dependency_model.time.zone import DAY_SECONDS

if TYPE_CHECKING:
    from tidemark.dependency_model.graph.edge import Edge
    from tidemark.dependency_model.offset.mapping_protocol import Mapping
    from tidemark.dependency_model.time.grid import Grid


def latest_reach(edge: Edge) -> int:
    """The most seconds between the end of a slice and the end of its last upstream slice. Negative:

    it goes back in time.
    """
    pairs = list(edge.mappings())
    return max((_reach(mapping, down, up) for mapping, down, up in pairs), default=0)


@lru_cache(maxsize=4096)
def _reach(mapping: Mapping, down: Grid, up: Grid) -> int:
    latest = -10 * 366 * DAY_SECONDS
    for ordinal in dense_slices(down):
        needed = mapping.expand(ordinal)
        if needed:
            latest = max(latest, up.start(needed[-1] + 1) - down.start(ordinal + 1))
    return latest
