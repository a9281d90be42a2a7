"""The known slices of each entity and part in order of time, for clauses that take the newest one there is."""

from __future__ import annotations

from bisect import bisect_right, insort
from contextlib import suppress
from typing import TYPE_CHECKING

from dependency_model.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from dependency_model.graph.graph import DependencyGraph
    from dependency_model.slice import Slice
    from dependency_model.status.slice_status import SliceStatus

    Place = tuple[str, tuple[tuple[str, str], ...]]


class NewestSlices:
    """Keeps order only for entities that someone takes the newest slice of."""

    def __init__(self, graph: DependencyGraph, statuses: Mapping[Slice, SliceStatus]) -> None:
        self._graph, self._statuses = graph, statuses
        self._ordered: dict[Place, list[int]] = {}
        self._entities = {name for name in graph if _has_latest_users(graph, name)}

    def __contains__(self, entity: str) -> bool:
        return entity in self._entities

    def refresh(self, names: Iterable[str]) -> None:
        """These entities, or what they depend on, have changed: others may take their newest slice, or they others'."""
        ups = {edge.up.name for name in names if name in self._graph for edge in self._graph.node(name).upstream}
        changed = {*names, *ups}
        wanted = {name for name in changed if name in self._graph and _has_latest_users(self._graph, name)}
        for place in [place for place in self._ordered if place[0] in changed - wanted]:
            del self._ordered[place]
        self._entities = (self._entities - changed) | wanted
        for piece in [piece for piece in self._statuses if piece.entity in wanted]:
            with suppress(ParseError):  # of another period
                self.add(piece)

    def add(self, piece: Slice) -> None:
        """A slice of one of the entities has become known."""
        ordinals = self._ordered.setdefault((piece.entity, piece.sub), [])
        ordinal = self._graph.node(piece.entity).ordinal(piece)
        at = bisect_right(ordinals, ordinal)
        if not at or ordinals[at - 1] != ordinal:
            insort(ordinals, ordinal)

    def find(self, piece: Slice, accepts: Callable[[SliceStatus], bool]) -> Slice | None:
        """The newest slice up to this one whose status is accepted."""
        node = self._graph.node(piece.entity)
        ordinals = self._ordered.get((piece.entity, piece.sub), [])
        for at in range(bisect_right(ordinals, node.ordinal(piece)) - 1, -1, -1):
            found = node.slice(ordinals[at], piece.sub)
            if accepts(self._statuses[found]):
                return found
        return None


def _has_latest_users(graph: DependencyGraph, name: str) -> bool:
    return any(edge.is_latest for edge in graph.node(name).users)
