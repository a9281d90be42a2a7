"""The launch order without promises: the slice with the longest chain below it delays the most."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.graph import DependencyGraph


def chain_lengths(graph: DependencyGraph, cost: Mapping[str, float] | None = None) -> dict[str, float]:
    """The length of the longest chain below each entity; entities without known costs count 1.

    Dependencies on the entity itself, and dependencies back in time on later entities, add nothing.
    """
    lengths: dict[str, float] = {}
    for name in reversed(graph.topological()):
        below = (lengths.get(edge.down.name, 0.0) for edge in graph.downstream_edges(name) if edge.down.name != name)
        lengths[name] = max(below, default=0.0) + (cost.get(name, 1.0) if cost else 1.0)
    return lengths
