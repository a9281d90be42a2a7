"""Ready slices to runs: what a run's own steps make ready joins the run, neighbours in time go together.

A run costs a second before its first step, a step a second before its first row. A day's chain from ODS to ADS is one
run whose steps start each when its inputs are complete; days or hours that arrived together are one run over a range of
partitions, each of whose steps writes one commit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tidemark.dependency_model.slice import Slice
from tidemark.warehouse.partition_keys import period_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.dependency_model.graph import DependencyGraph


class Tracker(Protocol):
    """What the grouping asks: keys of `in_company` are not put together again, as one of them failed in company."""

    in_company: set[str]

    @property
    def failed(self) -> frozenset[Slice]:
        """Slices whose last run failed."""

    def ready(self) -> tuple[Slice, ...]:
        """Slices all of whose inputs are there."""

    def missing(self, piece: Slice, /) -> tuple[Slice, ...]:
        """The inputs that a slice waits for."""

    def is_complete(self, piece: Slice, /) -> bool:
        """Whether the slice is there."""


@dataclass(frozen=True)
class RunGroup:
    """One run: each of `entities` (upstream first) for each of `keys` (consecutive, oldest first)."""

    period: str
    keys: tuple[str, ...]
    entities: tuple[str, ...]

    def slices(self) -> tuple[Slice, ...]:
        """Every slice that the run computes."""
        return tuple(Slice(entity, key) for entity in self.entities for key in self.keys)

    @property
    def title(self) -> str:
        """`day 2026-03-29` or `hour 2026-03-30T00..2026-03-30T05`."""
        ends = self.keys[0] if len(self.keys) == 1 else f"{self.keys[0]}..{self.keys[-1]}"
        return f"{self.period} {ends}"


def group_ready(graph: DependencyGraph, tracker: Tracker) -> tuple[RunGroup, ...]:
    """All ready slices in runs, oldest first; nothing that waits for another run is in any of them."""
    pending = dict.fromkeys(tracker.ready())
    taken: set[Slice] = set()
    groups = []
    while pending:
        period = period_of(graph, next(iter(pending)).entity)
        group = _group(graph, tracker, period, pending, taken)
        taken.update(group.slices())
        pending = {one: None for one in pending if one not in taken}
        groups.append(group)
    return tuple(sorted(groups, key=lambda group: group.keys[0]))


def _group(
    graph: DependencyGraph, tracker: Tracker, period: str, pending: Mapping[Slice, None], taken: set[Slice]
) -> RunGroup:
    """The widest run from the oldest pending slice of a period on: neighbours in time as far as they take the same."""
    names = [name for name in graph.topological() if period_of(graph, name) == period]
    keys = sorted({one.key for one in pending if period_of(graph, one.entity) == period})
    neighbours = _neighbours(graph, tracker, names[0], keys)
    for run in (neighbours, neighbours[:1]):
        entities = _entities(graph, tracker, names, run, pending, taken)
        if entities:
            break
    return RunGroup(period, run, entities)


def _entities(
    graph: DependencyGraph,
    tracker: Tracker,
    names: Sequence[str],
    keys: Sequence[str],
    pending: Mapping[Slice, None],
    taken: set[Slice],
) -> tuple[str, ...]:
    """Entities whose slices at all of the keys are ready, or become so through what the run computes before them."""
    granted: dict[Slice, None] = {}
    entities = []
    for name in names:
        slices = [Slice(name, key) for key in keys]
        if all(one not in taken and (one in pending or _follows(graph, tracker, granted, one)) for one in slices):
            granted.update(dict.fromkeys(slices))
            entities.append(name)
    return tuple(entities)


def _follows(graph: DependencyGraph, tracker: Tracker, granted: Mapping[Slice, None], slice_: Slice) -> bool:
    """Does the slice become ready through what the run computes before it?"""
    if tracker.is_complete(slice_) or slice_ in tracker.failed or not graph.exists(slice_):
        return False
    missing = tracker.missing(slice_)
    return bool(missing) and all(one in granted for one in missing)


def _neighbours(graph: DependencyGraph, tracker: Tracker, name: str, keys: Sequence[str]) -> tuple[str, ...]:
    """The first keys, as long as each follows on the one before and none failed in company."""
    run = [keys[0]]
    for key in keys[1:]:
        touches = graph.window(Slice(name, run[-1])).end == graph.window(Slice(name, key)).start
        if not touches or not tracker.in_company.isdisjoint((run[0], key)):
            break
        run.append(key)
    return tuple(run)
