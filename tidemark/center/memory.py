"""What the center holds in memory: all of it follows from the store, and is built again from there."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING

from tidemark.center.stored_archive import StoredArchive
from tidemark.dependency_model.errors import ParseError
from tidemark.dependency_model.readiness.archive import KnownSlice
from tidemark.dependency_model.readiness.index import ReadinessIndex
from tidemark.dependency_model.readiness.schedule import Named
from tidemark.dependency_model.status import Event, RunState
from tidemark.system.garbage_collection import collection_paused

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status import SliceStatus
    from tidemark.state_store.reader import StateReader
    from tidemark.state_store.transition import Current, InputRead, Transition

_UNDER_WAY = (RunState.LAUNCHED, RunState.RUNNING)
_RECENT = timedelta(hours=6)


def _is_slice(graph: DependencyGraph, one: Current) -> bool:
    """Whether the graph has what is still to be done; what is done is not looked at closely."""
    if one.slice.entity not in graph or one.status.run_state is RunState.COMPLETED:
        return one.slice.entity in graph
    try:
        graph.node(one.slice.entity).ordinal(one.slice)
    except ParseError:  # of another period, from before the entity was changed
        return False
    return True


class Memory:
    """The index, and by slice: the last run, what a run under way reads, its pool. `last` is the last transition.

    It begins with what is open and with the slices of the last hours: however long the past is, a start reads no more
    of it than they need. `tried` holds the generation in which a slice failed, as far as it did since then. `launched`
    holds the runs that the center itself launched: any other run under way is somebody else's, for ever. `unreadable`
    says of which slices a stored value cannot be read, until something new happens to them.
    """

    def __init__(self, graph: DependencyGraph, read: StateReader, since: datetime, now: datetime) -> None:
        with collection_paused():
            self.runs: dict[Slice, str] = {}
            floor = f"{now - _RECENT:%Y-%m-%d}"
            self.last, everything = read.everything(floor)
            known = [one for one in everything if _is_slice(graph, one)]
            self.runs.update((one.slice, one.run_id) for one in known if one.run_id)
            self.tainted: Counter[str] = Counter(one.slice.entity for one in known if one.status.tainted)
            self.ready = {one.slice: None for one in known if one.status.run_state is RunState.READY}
            self.failed = {one.slice: None for one in known if one.status.run_state is RunState.FAILED}
            self.tried = {one.slice: one.status.generation for one in known if one.status.run_state is RunState.FAILED}
            self.under_way = {one.slice: one.cluster for one in known if one.status.run_state in _UNDER_WAY}
            launches = read.launches(self.under_way) if self.under_way else {}
            self.launched = {slice_: run for slice_, launch in launches.items() if (run := self._own_run(launch))}
            rows: list[Current | Transition] = [*known, *launches.values()]
            self.unreadable = {row.slice: row.unreadable for row in rows if row.unreadable}
            self.reads: dict[Slice, tuple[InputRead, ...]] = {
                slice_: launch.facts.inputs for slice_, launch in launches.items()
            }
            until, schedules = read.schedules()
            archive = StoredArchive(read, floor, self.runs, self.unreadable)
            self.index = ReadinessIndex(graph, since, now, archive, Named(until, schedules))
            self.index.load(KnownSlice(one.slice, one.status, one.seq) for one in known)
            self.index.advance(now)

    def apply(self, transitions: Iterable[Transition]) -> None:
        """More transitions, in order. What happened to a slice within them, users are told once."""
        final: dict[Slice, Transition] = {}
        for one in transitions:
            final[one.slice] = one
            self.last = one.seq
            if one.facts.run_id:
                self.runs[one.slice] = one.facts.run_id
            self._note_life(one)
            self._note_unreadable(one)
        for slice_, one in final.items():
            self._note_taint(slice_, self.index.statuses.get(slice_), one.status)
            self.index.observe(slice_, one.status, one.seq)

    def _note_taint(self, slice_: Slice, before: SliceStatus | None, after: SliceStatus) -> None:
        change = after.tainted - (before is not None and before.tainted)
        if change:
            self.tainted[slice_.entity] += change
            if not self.tainted[slice_.entity]:
                del self.tainted[slice_.entity]

    def _note_life(self, one: Transition) -> None:
        slice_, run_state = one.slice, one.status.run_state
        for kept, wanted in ((self.ready, RunState.READY), (self.failed, RunState.FAILED)):
            if run_state is wanted:
                kept[slice_] = None
            else:
                kept.pop(slice_, None)
        if run_state is RunState.FAILED:
            self.tried[slice_] = one.status.generation
        if run_state is RunState.LAUNCHED and slice_ not in self.under_way:
            self.under_way[slice_], self.reads[slice_] = one.facts.cluster, one.facts.inputs
        elif run_state not in _UNDER_WAY:
            self.under_way.pop(slice_, None)
            self.reads.pop(slice_, None)
        self._note_launch(one)

    def _note_launch(self, one: Transition) -> None:
        if run := self._own_run(one):
            self.launched[one.slice] = run
        elif one.slice not in self.under_way or self.runs.get(one.slice) != self.launched.get(one.slice):
            self.launched.pop(one.slice, None)

    def _own_run(self, one: Transition) -> str | None:
        """The run of a transition that is the center's own launch, and is the slice's last run still."""
        is_own = one.event is Event.LAUNCHED and one.facts.run_id == self.runs.get(one.slice)
        return one.facts.run_id if is_own else None

    def _note_unreadable(self, one: Transition) -> None:
        if one.unreadable:
            self.unreadable[one.slice] = one.unreadable
        else:
            self.unreadable.pop(one.slice, None)
