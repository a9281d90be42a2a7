"""The launch order if pools are full: the smallest margin to a promise first (seed A9).

A slice must start by the latest start that keeps all promises behind it. Keepable promises go first, the earliest
latest start before others (Jackson's rule for chains: Lawler, Optimal sequencing of a single machine subject to
precedence constraints, Management Science 19, 1973); then slices that will be late anyway; then slices without
promises, the longest chain first. Without promises in the project, only the longest chain counts.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final, Protocol

from tidemark.center.baseline.center_forecast import upstream_closure
from tidemark.dependency_model.readiness.earliest_time import ready_by
from tidemark.dependency_model.status import RunState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from tidemark.center.center import DependencyCenter
    from tidemark.center.typical_times import TypicalTimes
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice

AHEAD: Final = timedelta(days=1)
"""Downstream slices that end after this time are ignored."""
LOOKED_AT: Final = 5_000
"""Slices to look at in one step; others wait for a later step, as if they had no promise."""
_KEPT_FOR: Final = timedelta(minutes=30)


class LaunchOrder(Protocol):
    """The order of launches."""

    def sort(self, groups: Sequence[list[Slice]]) -> list[list[Slice]]:
        """Groups of slices that share a run, first to launch first."""

    def is_promised(self, group: Sequence[Slice]) -> bool:
        """Whether a promise is behind one of them, as known at the last sort."""


class ChainOrder:
    """The longest chain of entities first, then the oldest slice."""

    def __init__(self, center: DependencyCenter) -> None:
        self._graph, self._lengths = center.graph, chain_lengths(center.graph)

    def sort(self, groups: Sequence[list[Slice]]) -> list[list[Slice]]:
        return sorted(groups, key=lambda group: self.key(group[0]))

    def is_promised(self, group: Sequence[Slice]) -> bool:  # noqa: ARG002 - promises do not change this order
        return False

    def key(self, slice_: Slice) -> tuple[float, datetime]:
        """Smaller is earlier."""
        return -self._lengths.get(slice_.entity, 0.0), self._graph.window(slice_).end


class MarginOrder:
    """The smallest margin first; latest starts are cached for half an hour."""

    def __init__(self, center: DependencyCenter, times: TypicalTimes, clock: Callable[[], datetime]) -> None:
        self._center, self._times, self._clock = center, times, clock
        self._chain = ChainOrder(center)
        self._promising = _promising(center)
        self._latest: dict[Slice, datetime | None] = {}
        self._until = clock()

    def sort(self, groups: Sequence[list[Slice]]) -> list[list[Slice]]:
        if not self._promising or len(groups) < 2:
            return self._chain.sort(groups)
        now = self._clock()
        if now >= self._until:
            self._latest, self._until = {}, now + _KEPT_FOR
            self._times.refresh()
        self._look(slice_ for group in groups for slice_ in group)
        return sorted(groups, key=lambda group: self._key(group, now))

    def is_promised(self, group: Sequence[Slice]) -> bool:
        return any(self._latest.get(slice_) is not None for slice_ in group)

    def _key(self, group: Sequence[Slice], now: datetime) -> tuple[int, float, tuple[float, datetime]]:
        known = [latest for slice_ in group if (latest := self._latest.get(slice_)) is not None]
        chain = self._chain.key(group[0])
        if not known:
            return 2, 0.0, chain
        kept = [latest for latest in known if latest >= now]
        return (0, min(kept).timestamp(), chain) if kept else (1, min(known).timestamp(), chain)

    def _look(self, wanted: Iterable[Slice]) -> None:
        """Depth first: slices downstream before the slice itself."""
        open_ = [slice_ for slice_ in wanted if slice_ not in self._latest and slice_.entity in self._promising]
        below: dict[Slice, list[Slice]] = {}
        until = self._until + AHEAD
        while open_ and len(below) < LOOKED_AT:
            slice_ = open_[-1]
            if slice_ not in below:
                below[slice_] = [down for down in self._center.graph.downstream(slice_, until) if self._is_of(down)]
                open_ += [down for down in below[slice_] if down not in self._latest and down not in below]
                continue
            open_.pop()
            if slice_ not in self._latest:
                self._latest[slice_] = self._latest_of(slice_, below[slice_])

    def _is_of(self, slice_: Slice) -> bool:
        """Whether a slice leads to a promise, and its readers wait for it, or will wait for its backfill."""
        if slice_.entity not in self._promising:
            return False
        status = self._center.memory.index.status(slice_)
        is_there = status.run_state is RunState.COMPLETED and not status.is_flawed
        return not is_there or self._center.backfills.is_held(slice_)

    def _latest_of(self, slice_: Slice, below: Sequence[Slice]) -> datetime | None:
        graph = self._center.graph
        own = ready_by(graph.entity(slice_.entity), graph.window(slice_))
        ends = [end for end in (own, *map(self._latest.get, below)) if end is not None]
        return min(ends) - timedelta(seconds=self._times.seconds(slice_.entity)) if ends else None


def _promising(center: DependencyCenter) -> frozenset[str]:
    """Promised entities, and entities that they need."""
    graph = center.graph
    return frozenset(upstream_closure(graph, (name for name in graph if graph.entity(name).is_promised)))


def chain_lengths(graph: DependencyGraph, cost: Mapping[str, float] | None = None) -> dict[str, float]:
    """The length of the longest chain below each entity; entities without known costs count 1.

    Dependencies on the entity itself, and dependencies back in time on later entities, add nothing.
    """
    lengths: dict[str, float] = {}
    for name in reversed(graph.topological()):
        below = (lengths.get(edge.down.name, 0.0) for edge in graph.downstream_edges(name) if edge.down.name != name)
        lengths[name] = max(below, default=0.0) + (cost.get(name, 1.0) if cost else 1.0)
    return lengths
