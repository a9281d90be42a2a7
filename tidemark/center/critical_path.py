"""What to launch first: the slice with the longest chain of entities below it delays the most."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.graph import DependencyGraph


def chain_lengths(graph: DependencyGraph, cost: Mapping[str, float] | None = None) -> dict[str, float]:
    """For each entity, how long the longest chain of those that need it takes; each counts 1 where no cost is known.

    Dependencies on oneself, and those that lead back in time to an entity that comes later, lengthen nothing.
    """
    lengths: dict[str, float] = {}
    for name in reversed(graph.topological()):
        below = (lengths.get(edge.down.name, 0.0) for edge in graph.downstream_edges(name) if edge.down.name != name)
        lengths[name] = max(below, default=0.0) + (cost.get(name, 1.0) if cost else 1.0)
    return lengths
