"""What is complete, and needs more since the project has changed: an input begins earlier or ends later, a part came.

Which slices each entity has is noted. Where they are more than at the last start, those that read them are compared
with what they read: what they lack is told (`lacking`), and once it comes their policy says whether they are computed
again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.center.fact import Fact
from tidemark.dependency_model.entity.sub_partition import WHOLE
from tidemark.dependency_model.status import Event, RunState
from tidemark.dependency_model.status.propagation import REPROCESS
from tidemark.state_store.notes import Notes
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.graph.node import Node
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.store import StateStore

    Extent = dict[str, tuple[str, int, int]]
    """By sub-partition how slices are cut, and the numbers of the first and of the last but one."""

_NOTE: Final = "all"


class NewSlices(NamedTuple):
    """Slices of an entity, by number, that it did not have before."""

    sub: Sub
    numbers: tuple[range, ...]


class WidenedNeeds:
    """Of one store; `note` is to be called once what `facts` says is durable."""

    def __init__(self, graph: DependencyGraph, store: StateStore) -> None:
        self._graph, self._store = graph, store
        self._notes = Notes(store.database, "extent")
        self._now = {name: _extent(graph.node(name)) for name in graph}

    def facts(self, now: datetime) -> list[Fact]:
        """What readers lack that are complete; nothing where nothing was noted yet."""
        told = json.loads(self._notes.get(_NOTE) or "{}")
        noted: dict[str, Extent] = {name: {sub: tuple(cut) for sub, cut in own.items()} for name, own in told.items()}
        new = {name: _new_slices(self._graph.node(name), noted[name], self._now[name]) for name in self._now
               if name in noted and noted[name] != self._now[name]}  # fmt: skip
        return [fact for name, slices in new.items() if slices for fact in self._lacking(name, slices, now)]

    def note(self) -> None:
        """Which slices there are from now on."""
        text, fence = json_text(self._now, separators=(",", ":")), self._store.write.fence
        if text != self._notes.get(_NOTE):
            self._notes.put({_NOTE: text}, [fence] if fence else [])

    def _lacking(self, name: str, new: Sequence[NewSlices], now: datetime) -> Iterator[Fact]:
        node = self._graph.node(name)
        readers = {edge.down.name for edge in self._graph.downstream_edges(name)} | (
            {name} if node.is_parted else set()
        )
        for reader in sorted(readers):
            there = [current.slice for current in self._store.read.completed_slices(reader)]
            reads = self._store.read.reads(there)
            for slice_ in there:
                read = {used for used, _ in reads.get(slice_) or ()}
                lacks = [used for used in self._needed(slice_, name, new) if used not in read]
                if lacks:
                    yield self._fact(slice_, lacks, now)

    def _needed(self, slice_: Slice, name: str, new: Iterable[NewSlices]) -> Iterator[Slice]:
        """The new slices of an entity that a slice cannot go without."""
        if not self._graph.has(slice_):
            return
        node = self._graph.node(name)
        numbers = dict(new)
        for requirement in self._graph.requirements(slice_):
            if requirement.dependency.weak is not None or requirement.or_older:
                continue
            for used in requirement.slices:
                if used.entity == name and any(node.ordinal(used) in some for some in numbers.get(used.sub, ())):
                    yield used

    def _fact(self, slice_: Slice, lacks: Sequence[Slice], now: datetime) -> Fact:
        """Its policy where all of it is there, else that it lacks something."""
        there = {current.slice: current.status.run_state for current in self._store.read.currents(lacks)}
        event = Event.LACKING
        if all(there.get(used) is RunState.COMPLETED for used in lacks):
            event = Event(REPROCESS[self._graph.entity(slice_.entity).reprocess].changed)
            event = Event.LACKING if event is Event.KEPT else event
        told = ", ".join(map(str, lacks[:5])) + ("" if len(lacks) <= 5 else f" and {len(lacks) - 5} more")
        ident = f"widened:{slice_}:{lacks[0]}:{len(lacks)}:{now.isoformat()}"
        return Fact(ident, slice_, event, now, "center", f"as declared now it needs {told}, which it did not read")


def _extent(node: Node) -> Extent:
    extent: Extent = {}
    for sub in {WHOLE, *node.subs}:
        grid, existing = node.grid_of(sub), node.existing_of(sub)
        cut = f"{node.period} {node.entity.week_start} {grid.zone.name if grid else ''}"
        extent[json_text(sub)] = cut, existing.start, existing.stop
    return dict(sorted(extent.items()))


def _new_slices(node: Node, before: Extent, now: Extent) -> list[NewSlices]:
    """Of slices that are cut as before those that there were not, and all of a sub-partition that came."""
    new = []
    for sub in {WHOLE, *node.subs}:
        text = json_text(sub)
        cut, first, stop = now[text]
        if text not in before:
            new.append(NewSlices(sub, (range(first, stop),)))
            continue
        cut_before, first_before, stop_before = before[text]
        ranges = range(first, min(first_before, stop)), range(max(stop_before, first), stop)
        if cut_before == cut and any(ranges):
            new.append(NewSlices(sub, ranges))
    return new
