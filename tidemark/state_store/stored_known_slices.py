"""Stored states for readiness, each read on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.status import SliceStatus

if TYPE_CHECKING:
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.readiness.known_slices import Accepts
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.reader import StateReader

_PAGE: Final = 400
"""More than a day's slices, because the repeated hours of a clock change do not sort in time order."""


class StoredSlices:
    """Answers single questions of users; a process with many questions uses an index."""

    def __init__(self, graph: DependencyGraph, read: StateReader) -> None:
        self._graph, self._read = graph, read

    def status(self, slice_: Slice) -> SliceStatus:
        current = self._read.current(slice_)
        return current.status if current else SliceStatus()

    def newest(self, slice_: Slice, accepts: Accepts) -> Slice | None:
        """Pages of slices backwards from the slice."""
        node = self._graph.node(slice_.entity)
        last, before = node.ordinal(slice_), "~"
        while page := self._read.older([(slice_.entity, slice_.sub)], before, _PAGE):
            known = [(node.ordinal(transition.slice), transition) for transition in page]
            accepted = [(at, transition.slice) for at, transition in known if at <= last and accepts(transition.status)]
            if accepted:
                return max(accepted)[1]
            before = page[-1].slice.key
        return None
