"""The stored states as what readiness asks for: known slices, each read when it is asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from dependency_model.readiness.known import Statuses
from dependency_model.status import SliceStatus

if TYPE_CHECKING:
    from dependency_model.graph import DependencyGraph
    from dependency_model.readiness.known import Accepts
    from dependency_model.slice import Slice
    from resources.state_store.reader import StateReader


class StoredSlices:
    """For single questions by people; whoever asks all the time keeps an index."""

    def __init__(self, graph: DependencyGraph, read: StateReader) -> None:
        self._graph, self._read = graph, read

    def status(self, piece: Slice) -> SliceStatus:
        found = self._read.current(piece)
        return found.status if found else SliceStatus()

    def newest(self, piece: Slice, accepts: Accepts) -> Slice | None:
        return self._all.newest(piece, accepts)

    @cached_property
    def _all(self) -> Statuses:
        _, everything = self._read.everything()
        return Statuses(self._graph, {one.piece: one.status for one in everything if one.piece.entity in self._graph})
