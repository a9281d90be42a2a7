"""The slices of every entity at one time: late, failed, invalid, under way, or waiting, and for what.

The declarations and the time say which slices should exist; their statuses say the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.dependency_model.readiness.earliest_time import earliest, ready_by
from tidemark.dependency_model.readiness.release import release
from tidemark.dependency_model.readiness.self_starting_slices import is_scheduled, next_state
from tidemark.dependency_model.slice import Slice  # noqa: TC001 - of a NamedTuple
from tidemark.dependency_model.status.slice_status import FOREIGN, PARTIAL, RunState, SliceStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tidemark.dependency_model.graph.graph import DependencyGraph
    from tidemark.dependency_model.graph.node import Node
    from tidemark.dependency_model.readiness.known_slices import Accepts, KnownSlices

_UNDER_WAY: Final = (RunState.READY, RunState.LAUNCHED, RunState.RUNNING)
_UNKNOWN: Final = SliceStatus()
_DEEPEST: Final = 64


@dataclass(slots=True)
class EntityOverview:
    """The slices of one entity whose earliest time has come, oldest first. `late` slices are missing ones.

    `invalid`: flagged by a failed rule. `tainted`: an input was found wrong. `incomplete`: computed without some
    inputs. `absent`: the data is gone. `foreign`: another program changed the data. `anomalous`: the stored profile is
    unusual, which the status does not show.
    """

    entity: str
    layer: str
    owner: str
    completed: int = 0
    newest: Slice | None = None
    late: list[Slice] = field(default_factory=list)
    failed: list[Slice] = field(default_factory=list)
    invalid: list[Slice] = field(default_factory=list)
    tainted: list[Slice] = field(default_factory=list)
    incomplete: list[Slice] = field(default_factory=list)
    absent: list[Slice] = field(default_factory=list)
    foreign: list[Slice] = field(default_factory=list)
    anomalous: list[Slice] = field(default_factory=list)
    under_way: list[Slice] = field(default_factory=list)
    waiting: list[Slice] = field(default_factory=list)


class SlicesInMemory:
    """Statuses in memory, with the interface that readiness needs."""

    def __init__(self, graph: DependencyGraph, statuses: Mapping[Slice, SliceStatus]) -> None:
        self._graph, self._statuses = graph, statuses

    def status(self, slice_: Slice) -> SliceStatus:
        """The status of a slice; an unknown slice waits."""
        return self._statuses.get(slice_, _UNKNOWN)

    def newest(self, slice_: Slice, accepts: Accepts) -> Slice | None:
        """The newest known slice up to this one, of the same entity and sub-partition, whose status is accepted."""
        node = self._graph.node(slice_.entity)
        last = node.ordinal(slice_)
        accepted = [
            (node.ordinal(other), other)
            for other, status in self._statuses.items()
            if other.entity == slice_.entity and other.sub == slice_.sub and accepts(status)
        ]
        return max((pair for pair in accepted if pair[0] <= last), default=(0, None))[1]


def overview(graph: DependencyGraph, statuses: Mapping[Slice, SliceStatus], now: datetime) -> list[EntityOverview]:
    """One entry for each entity, upstream first. Roots and ends of projects and static entities are left out."""
    return [
        _entity_overview(graph.node(name), statuses, now)
        for name in graph.topological()
        if not (graph.entity(name).is_static or graph.entity(name).is_project)
    ]


class ChainLink(NamedTuple):
    """A waiting slice, the number of its inputs, and the missing ones; the cause itself has none."""

    slice: Slice
    inputs: int
    missing: tuple[Slice, ...]


def waiting_chain(graph: DependencyGraph, slice_: Slice, known: KnownSlices, now: datetime) -> list[ChainLink]:
    """From a waiting slice to the furthest upstream slice that it waits for; only the slice if nothing is missing.

    If that one is invalid by the flag of another slice, the chain ends with the other slice.
    """
    chain, seen = [_link(graph, slice_, known, now)], {slice_}
    for _ in range(_DEEPEST):
        missing = next((input_ for input_ in chain[-1].missing if input_ not in seen), None)
        if missing is None:
            break
        seen.add(missing)
        chain.append(_link(graph, missing, known, now))
    last = chain[-1].slice
    issues = known.status(last).issues
    flagged = last if last in issues else min(issues, default=last)
    return chain if flagged == last else [*chain, ChainLink(flagged, 0, ())]


def root_cause(graph: DependencyGraph, slice_: Slice, known: KnownSlices, now: datetime) -> Slice:
    """The end of the slice's chain."""
    return waiting_chain(graph, slice_, known, now)[-1].slice


def missing_inputs(graph: DependencyGraph, slice_: Slice, known: KnownSlices, now: datetime) -> tuple[Slice, ...]:
    """The missing inputs of unmet clauses; empty for a slice that does not wait, or that arrives from outside."""
    return _link(graph, slice_, known, now).missing


def _link(graph: DependencyGraph, slice_: Slice, known: KnownSlices, now: datetime) -> ChainLink:
    entity, status = graph.entity(slice_.entity), known.status(slice_)
    state = next_state(entity, status)
    if status.run_state is not RunState.WAITING or state is None or not is_scheduled(entity):
        return ChainLink(slice_, 0, ())
    not_before = earliest(entity, graph.window(slice_))
    verdicts = release(graph.requirements(slice_, state), known, not_before, now).verdicts
    missing = tuple(missing for verdict in verdicts if not verdict.is_met for missing in verdict.missing)
    return ChainLink(slice_, sum(len(verdict.requirement.slices) for verdict in verdicts), missing)


def _entity_overview(node: Node, statuses: Mapping[Slice, SliceStatus], now: datetime) -> EntityOverview:
    told = EntityOverview(node.name, node.entity.layer, node.entity.owner)
    for slice_, not_before, promised in _come(node, now):
        status = statuses.get(slice_, _UNKNOWN)
        is_there = status.run_state is RunState.COMPLETED
        if is_there:
            told.completed += 1
            told.newest = slice_
        elif promised is not None and promised < now:
            told.late.append(slice_)
        _note_flaws(told, slice_, status)
        if status.run_state is RunState.FAILED:
            told.failed.append(slice_)
        elif status.run_state in _UNDER_WAY:
            told.under_way.append(slice_)
        elif status.run_state is not RunState.ABSENT and not is_there and not_before <= now:
            told.waiting.append(slice_)
    return told


def _note_flaws(told: EntityOverview, slice_: Slice, status: SliceStatus) -> None:
    flaws = (
        (told.invalid, bool(status.issues)),
        (told.tainted, status.tainted),
        (told.incomplete, PARTIAL in status.states),
        (told.absent, status.run_state is RunState.ABSENT),
        (told.foreign, FOREIGN in status.states),
    )
    for slices, has_it in flaws:
        if has_it:
            slices.append(slice_)


def _come(node: Node, now: datetime) -> Iterator[tuple[Slice, datetime, datetime | None]]:
    """Each slice whose window is over, with its earliest time and its promised time."""
    for sub in node.subs:
        grid = node.grid_of(sub)
        if grid is None:
            continue
        for ordinal in node.existing_of(sub):
            window = grid.window(ordinal)
            if window.end > now.astimezone(UTC):
                break
            yield node.slice(ordinal, sub), earliest(node.entity, window), ready_by(node.entity, window)
