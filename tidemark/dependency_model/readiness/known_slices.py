"""The statuses by which another slice's readiness is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tidemark.dependency_model.status.slice_status import SliceStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tidemark.dependency_model.graph.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice

    Accepts = Callable[[SliceStatus], bool]


class KnownSlices(Protocol):
    """The statuses of slices, from any source."""

    def status(self, slice_: Slice) -> SliceStatus:
        """The status of a slice; an unknown slice waits."""

    def newest(self, slice_: Slice, accepts: Accepts) -> Slice | None:
        """The newest slice up to this one, of the same entity and sub-partition, whose status is accepted."""


class Statuses:
    """Known slices from a mapping: for tests, explanations and small engines."""

    def __init__(self, graph: DependencyGraph, statuses: Mapping[Slice, SliceStatus]) -> None:
        self._graph = graph
        self._statuses = statuses

    def status(self, slice_: Slice) -> SliceStatus:
        return self._statuses.get(slice_) or SliceStatus()

    def newest(self, slice_: Slice, accepts: Accepts) -> Slice | None:
        end = self._graph.window(slice_).end
        older = [
            (self._graph.window(other).end, other)
            for other, status in self._statuses.items()
            if other.entity == slice_.entity and other.sub == slice_.sub and accepts(status)
        ]
        return max(((ended, other) for ended, other in older if ended <= end), default=(None, None))[1]
