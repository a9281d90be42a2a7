"""Ready slices to runs: what a run's own steps make ready joins the run, neighbours in time go together.

A run costs a second before its first step. A day's chain from ODS to ADS is one run whose steps start each when its
inputs are complete; six hours that arrived at once are one run over a range of partitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from dependency_model.slice import Slice
from warehouse_assets.partitions import period_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dependency_model.graph import DependencyGraph
    from sensors.dependency_center.tracker import SliceTracker


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


def group_ready(graph: DependencyGraph, tracker: SliceTracker) -> tuple[RunGroup, ...]:
    """All ready slices in runs, oldest first; nothing that waits for another run is in any of them."""
    chains = _chains(graph, tracker)
    groups = []
    for period in dict.fromkeys(period for period, _ in chains):
        of_period = {key: names for (other, key), names in chains.items() if other == period}
        groups += _consecutive(graph, period, of_period)
    return tuple(sorted(groups, key=lambda group: group.keys[0]))


def _chains(graph: DependencyGraph, tracker: SliceTracker) -> dict[tuple[str, str], tuple[str, ...]]:
    """For each business time that has a ready slice: the entities that one run can take there, upstream first."""
    ready = set(tracker.ready())
    of_period: dict[str, list[str]] = {}
    for name in graph.topological():
        of_period.setdefault(period_of(graph, name), []).append(name)
    times = sorted({(period_of(graph, one.entity), one.key) for one in ready})
    return {(period, key): _chain(graph, tracker, ready, of_period[period], key) for period, key in times}


def _chain(
    graph: DependencyGraph, tracker: SliceTracker, ready: set[Slice], names: Sequence[str], key: str
) -> tuple[str, ...]:
    granted: dict[Slice, str] = {}
    for name in names:
        slice_ = Slice(name, key)
        if slice_ in ready or _follows(graph, tracker, granted, slice_):
            granted[slice_] = name
    return tuple(granted.values())


def _follows(graph: DependencyGraph, tracker: SliceTracker, granted: Mapping[Slice, str], slice_: Slice) -> bool:
    """Does the slice become ready through what the run computes before it?"""
    if tracker.is_complete(slice_) or slice_ in tracker.failed or not graph.exists(slice_):
        return False
    missing = tracker.missing(slice_)
    return bool(missing) and all(one in granted for one in missing)


def _consecutive(graph: DependencyGraph, period: str, chains: Mapping[str, tuple[str, ...]]) -> list[RunGroup]:
    """Join neighbours that take the same entities."""
    return [
        RunGroup(period, run, names)
        for names, keys in groupby(sorted(chains), key=lambda key: chains[key])
        for run in _runs_of_neighbours(graph, names[0], tuple(keys))
    ]


def _runs_of_neighbours(graph: DependencyGraph, name: str, keys: Sequence[str]) -> list[tuple[str, ...]]:
    runs: list[tuple[str, ...]] = []
    for key in keys:
        previous = runs[-1][-1] if runs else None
        if previous is not None and graph.window(Slice(name, previous)).end == graph.window(Slice(name, key)).start:
            runs[-1] = (*runs[-1], key)
        else:
            runs.append((key,))
    return runs
