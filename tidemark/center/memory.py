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
    if one.piece.entity not in graph or one.status.run_state is RunState.COMPLETED:
        return one.piece.entity in graph
    try:
        graph.node(one.piece.entity).ordinal(one.piece)
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
            self.runs.update((one.piece, one.run_id) for one in known if one.run_id)
            self.tainted: Counter[str] = Counter(one.piece.entity for one in known if one.status.tainted)
            self.ready = {one.piece: None for one in known if one.status.run_state is RunState.READY}
            self.failed = {one.piece: None for one in known if one.status.run_state is RunState.FAILED}
            self.tried = {one.piece: one.status.generation for one in known if one.status.run_state is RunState.FAILED}
            self.under_way = {one.piece: one.cluster for one in known if one.status.run_state in _UNDER_WAY}
            launches = read.launches(self.under_way) if self.under_way else {}
            self.launched = {piece: run for piece, launch in launches.items() if (run := self._own_run(launch))}
            rows: list[Current | Transition] = [*known, *launches.values()]
            self.unreadable = {row.piece: row.unreadable for row in rows if row.unreadable}
            self.reads: dict[Slice, tuple[InputRead, ...]] = {
                piece: launch.facts.inputs for piece, launch in launches.items()
            }
            until, schedules = read.schedules()
            archive = StoredArchive(read, floor, self.runs, self.unreadable)
            self.index = ReadinessIndex(graph, since, now, archive, Named(until, schedules))
            self.index.load(KnownSlice(one.piece, one.status, one.seq) for one in known)
            self.index.advance(now)

    def apply(self, transitions: Iterable[Transition]) -> None:
        """More transitions, in order. What happened to a slice within them, users are told once."""
        final: dict[Slice, Transition] = {}
        for one in transitions:
            final[one.piece] = one
            self.last = one.seq
            if one.facts.run_id:
                self.runs[one.piece] = one.facts.run_id
            self._note_life(one)
            self._note_unreadable(one)
        for piece, one in final.items():
            self._note_taint(piece, self.index.statuses.get(piece), one.status)
            self.index.observe(piece, one.status, one.seq)

    def _note_taint(self, piece: Slice, before: SliceStatus | None, after: SliceStatus) -> None:
        change = after.tainted - (before is not None and before.tainted)
        if change:
            self.tainted[piece.entity] += change
            if not self.tainted[piece.entity]:
                del self.tainted[piece.entity]

    def _note_life(self, one: Transition) -> None:
        piece, run_state = one.piece, one.status.run_state
        for kept, wanted in ((self.ready, RunState.READY), (self.failed, RunState.FAILED)):
            if run_state is wanted:
                kept[piece] = None
            else:
                kept.pop(piece, None)
        if run_state is RunState.FAILED:
            self.tried[piece] = one.status.generation
        if run_state is RunState.LAUNCHED and piece not in self.under_way:
            self.under_way[piece], self.reads[piece] = one.facts.cluster, one.facts.inputs
        elif run_state not in _UNDER_WAY:
            self.under_way.pop(piece, None)
            self.reads.pop(piece, None)
        self._note_launch(one)

    def _note_launch(self, one: Transition) -> None:
        if run := self._own_run(one):
            self.launched[one.piece] = run
        elif one.piece not in self.under_way or self.runs.get(one.piece) != self.launched.get(one.piece):
            self.launched.pop(one.piece, None)

    def _own_run(self, one: Transition) -> str | None:
        """The run of a transition that is the center's own launch, and is the slice's last run still."""
        is_own = one.event is Event.LAUNCHED and one.facts.run_id == self.runs.get(one.piece)
        return one.facts.run_id if is_own else None

    def _note_unreadable(self, one: Transition) -> None:
        if one.unreadable:
            self.unreadable[one.piece] = one.unreadable
        else:
            self.unreadable.pop(one.piece, None)
