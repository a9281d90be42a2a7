"""The edges of every entity, in both directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.graph.edge import Edge


class Adjacency:
    """`upstream` and `downstream` have an entry for each entity, in the order in which entities were added."""

    __slots__ = ("downstream", "upstream")

    def __init__(self) -> None:
        self.upstream: dict[str, tuple[Edge, ...]] = {}
        self.downstream: dict[str, list[Edge]] = {}

    def add(self, name: str) -> None:
        """Adds an entity without edges."""
        self.upstream[name] = ()
        self.downstream[name] = []

    def remove(self, name: str) -> list[str]:
        """Removes an entity. Returns the names of the entities that depended on it."""
        self.disconnect(name)
        del self.upstream[name]
        return [edge.down.name for edge in self.downstream.pop(name)]

    def connect(self, name: str, edges: Sequence[Edge]) -> None:
        """Sets the edges by which an entity depends on others."""
        self.upstream[name] = tuple(edges)
        for edge in edges:
            self.downstream[edge.up.name].append(edge)

    def disconnect(self, name: str) -> None:
        """Removes the edges by which an entity depends on others."""
        for edge in self.upstream[name]:
            downstream = self.downstream.get(edge.up.name)
            if downstream:
                self.downstream[edge.up.name] = [other for other in downstream if other is not edge]
        self.upstream[name] = ()
