"""Finds completed slices that need other inputs than they read after a change of the project.

An input begins earlier or ends later, has another part or period, an offset reaches further, or a dependency is new.
The slices and inputs of each entity are stored. If they differ from the last start, existing slices are compared with
what they read: missing inputs are reported (`lacking`), and when these are complete, the policy of the slice applies. A
project's root and end have no rows and lack nothing.

An entity, its slices or a dependency may also come back after a while. What happened to its inputs meanwhile did not
reach it. So its inputs count as not read if they were computed again or found wrong since.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tidemark.center.fact import Fact
from tidemark.dependency_model.entity.dependency import COMPLETED, Dependency
from tidemark.dependency_model.entity.entity import Reprocess
from tidemark.dependency_model.entity.sub_partition import WHOLE, Sub
from tidemark.dependency_model.graph.edge import Edge
from tidemark.dependency_model.offset.offset import Offset
from tidemark.dependency_model.readiness.release import release
from tidemark.dependency_model.readiness.unread_needs import unread_needs
from tidemark.dependency_model.status import Event, RunState
from tidemark.dependency_model.status.consequence import borne_flags
from tidemark.dependency_model.status.propagation import REPROCESS
from tidemark.errors import TidemarkError
from tidemark.state_store.notes import Notes
from tidemark.state_store.row_codec import sub_text
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.graph.node import Node
    from tidemark.dependency_model.readiness.known_slices import KnownSlices
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status import SliceStatus
    from tidemark.state_store.database import Database
    from tidemark.state_store.reader import StateReader
    from tidemark.state_store.store import StateStore

    Extent = list[Any]
    """The grid of a sub-partition's slices, and the numbers of the first and the last but one."""

_NOTE: Final = "all"
_SHOWN: Final = 5


class WidenedSlice(NamedTuple):
    """A complete slice, and the inputs that it needs now and did not read as they are now.

    `is_wrong`: it read an input that was found wrong since.
    """

    slice: Slice
    lacks: tuple[Slice, ...]
    is_wrong: bool = False


class _Needs(NamedTuple):
    """For an entity: its slices by sub-partition, and its inputs as entity, offset and chosen sub-partitions."""

    extents: dict[str, Extent]
    reads: list[list[Any]]


class WidenedNeeds:
    """Compares the project with its state at the last start of a center."""

    def __init__(self, graph: DependencyGraph, database: Database, read: StateReader) -> None:
        self._graph, self._read, self._notes = graph, read, Notes(database, "needs")
        self._now = {name: _needs(graph, name) for name in graph}
        told: dict[str, list[Any]] = json.loads(self._notes.get(_NOTE) or "{}")
        self._before = {name: _Needs(*needs) for name, needs in told.items()}

    @property
    def extents_before(self) -> Mapping[str, Mapping[str, Extent]]:
        """The slices of each entity at the last start of a center, by sub-partition; empty if none has started."""
        return {name: needs.extents for name, needs in self._before.items()}

    def slices(self) -> Iterator[WidenedSlice]:
        """Slices that lack inputs; none if nothing was stored yet."""
        if not self._before:
            return
        for name in self._changed():
            there = [current.slice for current in self._read.completed_slices(name)]
            there = [slice_ for slice_ in there if self._graph.has(slice_)]
            reads = self._read.reads(there) if there else {}
            unseen = {slice_: [*self._unseen(slice_, reads.get(slice_) or ())] for slice_ in there}
            inputs = {used for own in unseen.values() for used, _ in own}
            now = {current.slice: current.status for current in self._read.currents(inputs)} if inputs else {}
            for slice_ in there:
                told = reads.get(slice_)
                read = self._read_before(slice_) if told is None else (used for used, _ in told)
                lacks = dict.fromkeys(unread_needs(self._graph, slice_, read))
                borne = borne_flags(self._graph, slice_, now)
                wrong = [used for used, _ in unseen[slice_] if used in now and now[used].is_flawed_beyond(borne)]
                lacks.update(dict.fromkeys((*wrong, *self._computed_again(slice_, unseen[slice_], now))))
                if lacks:
                    yield WidenedSlice(slice_, tuple(lacks), is_wrong=bool(wrong))

    def facts(self, known: KnownSlices, last: int, now: datetime) -> Iterator[Fact]:
        """Facts for each: its policy if all inputs are complete, otherwise that it lacks some.

        `last` is the number of the last transition.
        """
        for slice_, lacks, is_wrong in self.slices():
            event = Event(REPROCESS[self._graph.entity(slice_.entity).reprocess].changed)
            requirements = self._graph.requirements(slice_)
            if is_wrong:
                event = Event.TAINTED
            elif event is Event.KEPT or not release(requirements, known, now, now).is_released:
                event = Event.LACKING
            why = f"as declared now it needs {_shortened(lacks)}, which it did not read"
            is_question = event is Event.TAINTED and not is_wrong
            yield Fact(f"widened:{last}:{slice_}", slice_, event, now, "center", why, is_question=is_question)

    def note(self, store: StateStore) -> None:
        """Store the project's state, after the effects are durable."""
        if self._now != self._before:
            fence = store.write.fence
            self._notes.put({_NOTE: json_text(self._now, separators=(",", ":"))}, [fence] if fence else [])

    def _changed(self) -> Iterator[str]:
        """Entities whose slices may need more than before, upstream before downstream."""
        moved = {name for name, needs in self._now.items() if self._extents_before(name) != needs.extents}
        for name in self._graph.topological():
            node, before = self._graph.node(name), self._before.get(name)
            if node.entity.is_project:
                continue
            has_changed = before is None or before.reads != self._now[name].reads or name in moved
            if has_changed or any(edge.up.name in moved for edge in self._graph.upstream_edges(name)):
                yield name

    def _unseen(self, slice_: Slice, reads: Iterable[tuple[Slice, int]]) -> Iterator[tuple[Slice, int]]:
        """The inputs whose changes did not reach the slice before: it, or the dependency, was not there."""
        before, node = self._before.get(slice_.entity), self._graph.node(slice_.entity)
        is_new = before is None or not any(self._there_before(node, [slice_]))
        told = before.reads if before and not is_new else []
        came = {name for name, *_ in (own for own in self._now[slice_.entity].reads if own not in told)}
        yield from (read for read in reads if read[0].entity in came - node.entity.rule_inputs)

    def _computed_again(
        self, slice_: Slice, reads: Iterable[tuple[Slice, int]], now: Mapping[Slice, SliceStatus]
    ) -> Iterator[Slice]:
        """Inputs of a later generation than the one that was read, if they are complete and the policy follows them."""
        if self._graph.entity(slice_.entity).reprocess is Reprocess.NEVER:
            return
        for used, generation in reads:
            status = now.get(used)
            if status and status.run_state is RunState.COMPLETED and status.generation > generation:
                yield used

    def _extents_before(self, name: str) -> Mapping[str, Extent]:
        before = self._before.get(name)
        return before.extents if before else {}

    def _read_before(self, slice_: Slice) -> Iterator[Slice]:
        """The declared inputs of a slice whose run did not report them."""
        before, node = self._before.get(slice_.entity), self._graph.node(slice_.entity)
        if before is None:  # it did not exist: its inputs of that time are unknown
            yield from unread_needs(self._graph, slice_, ())
        elif slice_.sub == WHOLE and node.is_parted:
            parts = (used for requirement in self._graph.requirements(slice_) for used in requirement.slices)
            yield from self._there_before(node, parts)
        else:
            for name, offset, sub in before.reads:
                if name in self._graph:
                    yield from self._expanded(node, self._graph.node(name), (offset, sub), slice_)

    def _expanded(
        self, node: Node, up: Node, told: tuple[str, Mapping[str, list[str]] | None], slice_: Slice
    ) -> Iterator[Slice]:
        offset, sub = told
        chosen = {dimension: tuple(values) for dimension, values in sub.items()} if sub else None
        try:
            edge = Edge(node, up, Dependency(up.name, Offset.parse(offset), sub=chosen), COMPLETED)
            used = edge.expand(node.ordinal(slice_), slice_.sub)
        except TidemarkError:  # the offset has no meaning between the two any more
            return
        yield from self._there_before(up, used)

    def _there_before(self, node: Node, slices: Iterable[Slice]) -> Iterator[Slice]:
        """Slices that the project had before: with the same grid, and within the former bounds."""
        extents, now = self._extents_before(node.name), self._now[node.name].extents
        for slice_ in slices:
            sub = sub_text(slice_.sub)
            cut, first, stop = extents.get(sub, ("", 0, 0))
            if cut == now[sub][0] and first <= node.ordinal(slice_) < stop:
                yield slice_


def _shortened(slices: tuple[Slice, ...]) -> str:
    """The first slices, and the number of the others."""
    more = f" and {len(slices) - _SHOWN:,} more" if len(slices) > _SHOWN else ""
    return ", ".join(map(str, slices[:_SHOWN])) + more


def _needs(graph: DependencyGraph, name: str) -> _Needs:
    node = graph.node(name)
    reads = [
        [edge.up.name, str(edge.dependency.offset), _as_lists(edge.dependency.sub)]
        for edge in graph.upstream_edges(name)
        if edge.state == COMPLETED and not edge.dependency.weak
    ]
    return _Needs({sub_text(sub): _extent(node, sub) for sub in sorted({WHOLE, *node.subs})}, reads)


def _as_lists(sub: Mapping[str, tuple[str, ...]] | None) -> dict[str, list[str]] | None:
    return {dimension: [*values] for dimension, values in sorted(sub.items())} if sub else None


def _extent(node: Node, sub: Sub) -> Extent:
    grid, existing = node.grid_of(sub), node.existing_of(sub)
    cut = f"{node.period} {node.entity.week_start} {grid.zone.name if grid else ''}"
    return [cut, existing.start, existing.stop]
