"""The slices that promises hang on and that are not there yet, as arrays: from a graph and what is known of slices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from tidemark.center.pools import tag_of
from tidemark.dependency_model.baseline.forecast import Durations
from tidemark.dependency_model.baseline.key_path import Troubled
from tidemark.dependency_model.baseline.learned_times import given
from tidemark.dependency_model.baseline.promise import turns
from tidemark.dependency_model.baseline.slice_network import NO_POOL, SliceNetwork
from tidemark.dependency_model.readiness.earliest_time import earliest, ready_by
from tidemark.dependency_model.readiness.self_starting_slices import is_marker, is_scheduled
from tidemark.dependency_model.status import RunState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from tidemark.center.baseline.run_history import RunHistory
    from tidemark.center.pools import Pools
    from tidemark.dependency_model.baseline.learned_times import Groups
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.graph.requirement import Requirement
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status import SliceStatus

    StatusOf = Callable[[Slice], SliceStatus]

MOST: Final = 500_000
"""So many slices are looked at."""
_ATTEMPTS: Final = 2
_UNDER_WAY: Final = (RunState.LAUNCHED, RunState.RUNNING)


@dataclass(frozen=True)
class OpenSlices:
    """`slices` by the network's numbers; instants of the network are seconds after `now`."""

    now: datetime
    slices: Sequence[Slice]
    number: Mapping[Slice, int]
    network: SliceNetwork
    durations: Durations
    troubled: Troubled


@dataclass(frozen=True)
class SliceSource:
    """What a network is built from."""

    graph: DependencyGraph
    status_of: StatusOf
    history: RunHistory
    pools: Pools
    now: datetime

    def open_slices(self, wanted: Iterable[Slice], *, anew: Iterable[Slice] = ()) -> OpenSlices:
        """Those of `wanted` that are not there, and what they lack upstream; `anew` are computed again in any case."""
        places, edges, latest = self._walk(wanted, frozenset(anew))
        release = np.array([self._release(slice_) for slice_ in places], np.float64)
        pool = np.array([self._pool(slice_) for slice_ in places], np.int64)
        pairs = np.array(edges, np.int64).reshape(-1, 2)
        network = SliceNetwork.of(release, pool, (pairs[:, 0], pairs[:, 1]), latest=np.array(latest, np.float64))
        given_at = list(places)
        slices = [given_at[place] for place in network.order.tolist()]
        number = {slice_: at for at, slice_ in enumerate(slices)}
        durations = self._durations(slices)
        network = replace(network, rank=turns(network, durations.typical(), self._promised(slices)))
        return OpenSlices(self.now, slices, number, network, durations, self._troubled(number))

    def _promised(self, slices: Sequence[Slice]) -> dict[int, float]:
        """By number, when each promised slice is due."""
        due = (
            (at, ready_by(self.graph.entity(slice_.entity), self.graph.window(slice_)))
            for at, slice_ in enumerate(slices)
            if self.graph.entity(slice_.entity).ready_by
        )
        return {at: (instant - self.now).total_seconds() for at, instant in due if instant}

    def _walk(
        self, wanted: Iterable[Slice], anew: frozenset[Slice]
    ) -> tuple[dict[Slice, int], list[tuple[int, int]], list[float]]:
        """Places of slices, edges from input to slice by place, and until when each edge is waited for."""
        places: dict[Slice, int] = {}
        for slice_ in (*anew, *wanted):
            if slice_ in anew or not self._is_there(slice_):
                places.setdefault(slice_, len(places))
        open_, edges, latest = list(places), list[tuple[int, int]](), list[float]()
        while open_ and len(places) < MOST:
            slice_ = open_.pop()
            if not self._is_made_here(slice_) or self.status_of(slice_).run_state in _UNDER_WAY:
                continue
            for requirement in self.graph.requirements(slice_):
                until = self._until(slice_, requirement)
                for input_ in requirement.slices:
                    if input_ not in anew and (self._is_there(input_) or input_ == slice_):
                        continue
                    if input_ not in places:
                        places[input_] = len(places)
                        open_.append(input_)
                    edges.append((places[input_], places[slice_]))
                    latest.append(until)
        return places, edges, latest

    def _until(self, slice_: Slice, requirement: Requirement) -> float:
        weak = requirement.dependency.weak
        if weak is None or weak.timeout is None:
            return np.inf
        due = earliest(self.graph.entity(slice_.entity), self.graph.window(slice_)) + weak.timeout
        return (due - self.now).total_seconds()

    def _is_there(self, slice_: Slice) -> bool:
        return self.status_of(slice_).run_state is RunState.COMPLETED

    def _is_made_here(self, slice_: Slice) -> bool:
        """Also a project's root and end: not what arrives from outside."""
        return is_scheduled(self.graph.entity(slice_.entity))

    def _release(self, slice_: Slice) -> float:
        window = self.graph.window(slice_)
        if not self._is_made_here(slice_):
            return (window.end - self.now).total_seconds()
        return max(0.0, (earliest(self.graph.entity(slice_.entity), window) - self.now).total_seconds())

    def _pool(self, slice_: Slice) -> int:
        node = self.graph.node(slice_.entity)
        if is_marker(node, slice_) or not self._is_made_here(slice_):
            return NO_POOL
        names = list(self.pools.capacity)
        own = tag_of(node.entity).partition(",")[0].strip()
        return names.index(own) if own in names else NO_POOL

    def _durations(self, slices: Sequence[Slice]) -> Durations:
        rows: dict[tuple[str, Groups], int] = {}
        tables = []
        row = []
        at = self.now.timestamp()
        for slice_ in slices:
            is_nothing = is_marker(self.graph.node(slice_.entity), slice_)
            key = ("", ()) if is_nothing else (slice_.entity, self.history.groups(slice_))
            if key not in rows:
                rows[key] = len(rows)
                tables.append(given(0.0) if is_nothing else self.history.times(slice_.entity).quantiles(at, key[1]))
            row.append(rows[key])
        running = [self._running(slice_, at) for slice_ in slices]
        failing = [self.history.failing(slice_.entity) for slice_ in slices]
        stacked = np.array(tables, np.float32) if tables else np.zeros((1, len(given(0.0))), np.float32)
        return Durations(stacked, np.array(row, np.int64), np.array(running, np.float64), np.array(failing, np.float64))

    def _running(self, slice_: Slice, at: float) -> float:
        if self.status_of(slice_).run_state not in _UNDER_WAY:
            return np.nan
        return min(0.0, self.history.running.get(slice_, at) - at)

    def _troubled(self, number: Mapping[Slice, int]) -> Troubled:
        failed = [slice_ for slice_ in number if self.status_of(slice_).run_state is RunState.FAILED]
        for_good = [slice_ for slice_ in failed if self.history.failed.get(slice_, 0) >= _ATTEMPTS]
        return Troubled(
            frozenset(number[slice_] for slice_ in failed), frozenset(number[slice_] for slice_ in for_good)
        )
