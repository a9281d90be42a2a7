"""The center's memory, which is built from the store."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING

from tidemark.dependency_model.readiness.cold_statuses import KnownSlice
from tidemark.dependency_model.readiness.index import ReadinessIndex
from tidemark.dependency_model.readiness.schedule import ScheduleProgress
from tidemark.dependency_model.readiness.self_starting_slices import is_computed_here
from tidemark.dependency_model.status import Event, RunState
from tidemark.dependency_model.status.slice_status import PARTIAL
from tidemark.errors import ParseError
from tidemark.state_store.transition import FailureCount
from tidemark.system.garbage_collection import pause_collection

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from datetime import datetime

    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.readiness.slice_manifest import SliceManifest
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status import SliceStatus
    from tidemark.dependency_model.status.consequence import Decides
    from tidemark.state_store.reader import StateReader
    from tidemark.state_store.transition import Current, Transition

_UNDER_WAY = (RunState.LAUNCHED, RunState.RUNNING)
_RECENT = timedelta(hours=6)


def _is_slice(graph: DependencyGraph, current: Current) -> bool:
    """Whether the graph can name an open slice; finished ones are not checked."""
    if current.slice.entity not in graph or current.status.run_state is RunState.COMPLETED:
        return current.slice.entity in graph
    try:
        graph.node(current.slice.entity).ordinal(current.slice)
    except ParseError:  # with another period, from before the entity changed
        return False
    return True


def _is_asking(status: SliceStatus) -> bool:
    """Whether the slice changes when its inputs are valid or complete."""
    return status.tainted or PARTIAL in status.states


class CenterMemory:
    """The index, and by slice: its last run, the inputs of an active run, its pool. `last` is the last transition.

    It starts with open slices and the slices of the last hours, so a start does not depend on the length of the
    history. `ready`, `failed` and `launched` have slices of runs of this project. `tried` has the generation in which a
    slice failed, if it did since then, `failures` the failures of open slices. `launched` has runs of this center only:
    other active runs belong to others. `unreadable` has slices with an unreadable stored value, until their next event.
    `decides` says whether a backfill decides about a slice.
    """

    def __init__(
        self, graph: DependencyGraph, read: StateReader, since: datetime, now: datetime, decides: Decides
    ) -> None:
        self.decides, self._graph = decides, graph
        with pause_collection():
            self.runs: dict[Slice, str] = {}
            floor = f"{now - _RECENT:%Y-%m-%d}"
            self.last, everything = read.everything(floor)
            known = [current for current in everything if _is_slice(graph, current)]
            self.runs.update((current.slice, current.run_id) for current in known if current.run_id)
            self.tainted: Counter[str] = Counter(
                current.slice.entity for current in known if _is_asking(current.status)
            )
            self.ready = self._to_do(known, RunState.READY)
            self.failed = self._to_do(known, RunState.FAILED)
            self.tried = {
                current.slice: current.status.generation
                for current in known
                if current.status.run_state is RunState.FAILED
            }
            self.failures = read.failures()
            self.under_way = {
                current.slice: current.cluster for current in known if current.status.run_state in _UNDER_WAY
            }
            launches = read.launches(self.under_way) if self.under_way else {}
            self.launched = {slice_: run for slice_, launch in launches.items() if (run := self._own_run(launch))}
            rows: list[Current | Transition] = [*known, *launches.values()]
            self.unreadable = {row.slice: row.unreadable for row in rows if row.unreadable}
            self.manifests: dict[Slice, SliceManifest] = {
                slice_: launch.facts.manifest for slice_, launch in launches.items() if launch.facts.manifest
            }
            until, schedules = read.schedules()
            archive = StoredArchive(read, floor, self.runs, self.unreadable)
            self.index = ReadinessIndex(graph, since, now, archive, ScheduleProgress(until, schedules))
            self.index.load(KnownSlice(current.slice, current.status, current.seq) for current in known)
            self.index.advance(now)

    def _to_do(self, known: Iterable[Current], wanted: RunState) -> dict[Slice, None]:
        there = (current.slice for current in known if current.status.run_state is wanted)
        return {slice_: None for slice_ in there if is_computed_here(self._graph, slice_)}

    def apply(self, transitions: Iterable[Transition]) -> None:
        """More transitions, in order. Readers of a slice are updated once."""
        final: dict[Slice, Transition] = {}
        for transition in transitions:
            final[transition.slice] = transition
            self.last = transition.seq
            if transition.facts.run_id:
                self.runs[transition.slice] = transition.facts.run_id
            self._note_life(transition)
            self._note_unreadable(transition)
        for slice_, transition in final.items():
            self._note_taint(slice_, self.index.statuses.get(slice_), transition.status)
            self.index.observe(slice_, transition.status, transition.seq)

    def _note_taint(self, slice_: Slice, before: SliceStatus | None, after: SliceStatus) -> None:
        change = _is_asking(after) - (before is not None and _is_asking(before))
        if change:
            self.tainted[slice_.entity] += change
            if not self.tainted[slice_.entity]:
                del self.tainted[slice_.entity]

    def _note_life(self, transition: Transition) -> None:
        slice_, run_state = transition.slice, transition.status.run_state
        for kept, wanted in ((self.ready, RunState.READY), (self.failed, RunState.FAILED)):
            if run_state is wanted and is_computed_here(self._graph, slice_):
                kept[slice_] = None
            else:
                kept.pop(slice_, None)
        if run_state is RunState.FAILED:
            self.tried[slice_] = transition.status.generation
        self._note_failure(transition)
        if run_state is RunState.LAUNCHED and slice_ not in self.under_way:
            self.under_way[slice_] = transition.facts.cluster
            if transition.facts.manifest:
                self.manifests[slice_] = transition.facts.manifest
        elif run_state not in _UNDER_WAY:
            self.under_way.pop(slice_, None)
            self.manifests.pop(slice_, None)
        self._note_launch(transition)

    def _note_failure(self, transition: Transition) -> None:
        slice_, generation = transition.slice, transition.status.generation
        is_held = transition.event is Event.CANCELLED
        if transition.event is Event.FAILED or is_held:
            before = self.failures.get(slice_)
            times = (before.times if before and before.generation == generation else 0) + (not is_held)
            at = transition.seq, transition.record_time
            self.failures[slice_] = FailureCount(generation, times, *at, is_held=is_held)
        elif transition.status.run_state is RunState.COMPLETED:
            self.failures.pop(slice_, None)

    def _note_launch(self, transition: Transition) -> None:
        if run := self._own_run(transition):
            self.launched[transition.slice] = run
        elif transition.slice not in self.under_way or self.runs.get(transition.slice) != self.launched.get(
            transition.slice
        ):
            self.launched.pop(transition.slice, None)

    def _own_run(self, transition: Transition) -> str | None:
        """The run of a transition if the center launched it and it is still the slice's last run."""
        is_own = transition.event is Event.LAUNCHED and transition.facts.run_id == self.runs.get(transition.slice)
        return transition.facts.run_id if is_own and transition.slice.entity in self._graph else None

    def _note_unreadable(self, transition: Transition) -> None:
        if transition.unreadable:
            self.unreadable[transition.slice] = transition.unreadable
        else:
            self.unreadable.pop(transition.slice, None)


class StoredArchive:
    """`runs` gets the last run of each read slice, `unreadable` the errors of rows."""

    def __init__(self, read: StateReader, floor: str, runs: dict[Slice, str], unreadable: dict[Slice, str]) -> None:
        self.floor = floor
        self._read, self._runs, self._unreadable = read, runs, unreadable

    def fetch(self, slices: Collection[Slice]) -> Iterable[KnownSlice]:
        return self._known(self._read.currents(slices))

    def older(self, places: Collection[tuple[str, Sub]], before: str, limit: int) -> Iterable[KnownSlice]:
        return self._known(self._read.older(places, before, limit))

    def _known(self, currents: list[Current]) -> Iterator[KnownSlice]:
        for current in currents:
            if current.run_id:
                self._runs.setdefault(current.slice, current.run_id)
            if current.unreadable:
                self._unreadable[current.slice] = current.unreadable
            yield KnownSlice(current.slice, current.status, current.seq)
