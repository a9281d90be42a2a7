"""Incomplete slices that promises depend on, as arrays, from a graph and known slices."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from tidemark.center.baseline.sized_times import SizedTimes
from tidemark.dependency_model.baseline.forecast import Durations
from tidemark.dependency_model.baseline.key_path import Troubled
from tidemark.dependency_model.baseline.learned_times import given, stacked_quantiles
from tidemark.dependency_model.baseline.promise import turns
from tidemark.dependency_model.baseline.slice_network import SliceNetwork
from tidemark.dependency_model.status import RunState

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from tidemark.center.baseline.declared_slices import DeclaredSlice, DeclaredSlices
    from tidemark.center.baseline.run_history import RunHistory
    from tidemark.center.pools import Pools
    from tidemark.dependency_model.baseline.learned_times import Groups, LearnedTimes
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status import SliceStatus

    StatusOf = Callable[[Slice], SliceStatus]

MOST: Final = 500_000
"""The largest number of slices."""
_ATTEMPTS: Final = 2
_UNDER_WAY: Final = (RunState.LAUNCHED, RunState.RUNNING)


@dataclass(frozen=True)
class OpenSlices:
    """`slices` by number in the network; the network's instants are seconds after `now`."""

    now: datetime
    slices: Sequence[Slice]
    number: Mapping[Slice, int]
    network: SliceNetwork
    durations: Durations
    troubled: Troubled


@dataclass
class _Walked:
    """Slices in the order of their visit, with their run states, and edges between them by place."""

    place: dict[Slice, int] = field(default_factory=dict)
    slices: list[Slice] = field(default_factory=list)
    states: list[RunState] = field(default_factory=list)
    above: list[int] = field(default_factory=list)
    below: list[int] = field(default_factory=list)
    until: list[float] = field(default_factory=list)
    """For each edge, the instant (seconds since 1970) until which its input is waited for."""

    def add(self, slice_: Slice, state: RunState) -> int:
        self.place[slice_] = place = len(self.slices)
        self.slices.append(slice_)
        self.states.append(state)
        return place


@dataclass(frozen=True)
class SliceSource:
    """Inputs of a network."""

    declared: DeclaredSlices
    status_of: StatusOf
    history: RunHistory
    now: datetime
    of_new_code: Collection[str] = ()
    """Entities that will be computed by code that has never run."""

    @property
    def graph(self) -> DependencyGraph:
        return self.declared.graph

    @property
    def pools(self) -> Pools:
        return self.declared.pools

    def open_slices(self, wanted: Iterable[Slice], *, anew: Iterable[Slice] = ()) -> OpenSlices:
        """Incomplete slices of `wanted`, and their missing inputs; `anew` are computed again in any case."""
        walked = self._walk(wanted, list(anew))
        declared = [self.declared[slice_] for slice_ in walked.slices]
        now = self.now.timestamp()
        network = _network(walked, declared, now)
        order = network.order.tolist()
        slices, states = [walked.slices[place] for place in order], [walked.states[place] for place in order]
        declared = [declared[place] for place in order]
        durations, longer = self._durations(slices, states, declared)
        due = {number: known.due - now for number, known in enumerate(declared) if known.due is not None}
        network = replace(network, rank=turns(network, durations.typical(), due))
        number = {slice_: at for at, slice_ in enumerate(slices)}
        return OpenSlices(self.now, slices, number, network, durations, self._troubled(slices, states, longer))

    def _walk(self, wanted: Iterable[Slice], anew: Sequence[Slice]) -> _Walked:
        walked = _Walked()
        for slices, is_anew in ((anew, True), (wanted, False)):
            for slice_ in slices:
                state = self.status_of(slice_).run_state
                if (is_anew or state is not RunState.COMPLETED) and slice_ not in walked.place:
                    walked.add(slice_, state)
        below = 0
        while below < len(walked.slices) < MOST:
            if walked.states[below] not in _UNDER_WAY:
                self._add_inputs(walked, below)
            below += 1
        return walked

    def _add_inputs(self, walked: _Walked, below: int) -> None:
        """Add the missing inputs of a slice."""
        for input_, until in self.declared[walked.slices[below]].inputs:
            above = walked.place.get(input_)
            if above is None:
                state = self.status_of(input_).run_state
                if state is RunState.COMPLETED:
                    continue
                above = walked.add(input_, state)
            walked.above.append(above)
            walked.below.append(below)
            walked.until.append(until)

    def _durations(
        self, slices: Sequence[Slice], states: Sequence[RunState], declared: Sequence[DeclaredSlice]
    ) -> tuple[Durations, dict[int, float]]:
        """Markers take no time and use the first row of the tables; larger inputs take longer."""
        at = self.now.timestamp()
        sized = SizedTimes(self.declared, self.history, at)
        excesses = sized.excesses(slices)
        rows: dict[tuple[str, Groups, float], int] = {}
        row, longer = [0] * len(slices), dict[int, float]()
        for number, (slice_, known) in enumerate(zip(slices, declared, strict=True)):
            if not known.is_marker:
                excess = excesses.get(number, 0.0)
                row[number] = rows.setdefault((slice_.entity, known.groups, excess), len(rows) + 1)
                if excess > 0:
                    longer[number] = self._longer(sized, slice_.entity, excess, known.groups)
        asked = [(self._times(sized, entity, excess), groups) for entity, groups, excess in rows]
        tables = np.concatenate((_NOTHING, stacked_quantiles(asked, at)))
        running = np.full(len(slices), np.nan)
        for number, state in enumerate(states):
            if state in _UNDER_WAY:
                running[number] = min(0.0, self.history.running.get(slices[number], at) - at)
        failing = np.array([self.history.failing(slice_.entity) for slice_ in slices], np.float64)
        return Durations(tables, np.array(row, np.int64), running, failing), longer

    def _times(self, sized: SizedTimes, entity: str, excess: float) -> LearnedTimes:
        times = sized.times(entity, excess)
        return times.of_new_code() if entity in self.of_new_code else times

    def _longer(self, sized: SizedTimes, entity: str, excess: float, groups: Groups) -> float:
        """The seconds above the usual duration, by medians."""
        at = self.now.timestamp()
        return sized.times(entity, excess).typical(at, groups) - self.history.times(entity).typical(at, groups)

    def _troubled(self, slices: Sequence[Slice], states: Sequence[RunState], longer: Mapping[int, float]) -> Troubled:
        failed = [number for number, state in enumerate(states) if state is RunState.FAILED]
        for_good = [number for number in failed if self.history.failed.get(slices[number], 0) >= _ATTEMPTS]
        return Troubled(frozenset(failed), frozenset(for_good), longer=longer)


_NOTHING: Final = given(0.0).astype(np.float32)[None, :]


def _network(walked: _Walked, declared: Sequence[DeclaredSlice], now: float) -> SliceNetwork:
    release = np.array([known.release for known in declared], np.float64) - now
    is_computed = np.array([known.is_computed for known in declared], np.bool_)
    pool = np.array([known.pool for known in declared], np.int64)
    edges = np.array(walked.above, np.int64), np.array(walked.below, np.int64)
    latest = np.array(walked.until, np.float64) - now
    return SliceNetwork.of(np.where(is_computed, np.maximum(release, 0.0), release), pool, edges, latest=latest)
