"""The schedule of earliest times: one entry for each entity and sub-partition, which advances slice by slice.

A start must not process the whole past again. So the schedule stores the time up to which everything was scheduled, and
a text for each entity's schedule. An entity with a new or changed schedule starts from its first slice.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.sub_partition import WHOLE
from tidemark.dependency_model.readiness.self_starting_slices import is_released
from tidemark.dependency_model.time.cron import Cron
from tidemark.dependency_model.time.zone import Zone

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tidemark.dependency_model.entity.entity import Entity
    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.dependency_model.graph.graph import DependencyGraph
    from tidemark.dependency_model.graph.node import Node
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.time.grid import Grid


def not_before(entity: Entity, grid: Grid | None, ordinal: int) -> int:
    """The earliest time of a slice, in seconds since 1970: its end, or the first time of its cron text after it.

    A static slice, which has no grid, may start at any time.
    """
    if grid is None:
        return 0
    end = grid.start(ordinal + 1)
    return end if entity.earliest is None else Cron.parse(entity.earliest).next(end, Zone.load(entity.time_zone))


@dataclass(frozen=True, slots=True)
class ScheduleProgress:
    """All slices of entities with these schedules and an earliest time up to `until` (seconds) were scheduled."""

    until: int = 0
    schedules: Mapping[str, str] = field(default_factory=dict)


class Schedule:
    """Yields every slice of every scheduled entity once, from the one at `since` (seconds) on, as time advances.

    Slices that were scheduled according to `progress` are skipped.
    """

    def __init__(self, graph: DependencyGraph, since: int, progress: ScheduleProgress) -> None:
        self._graph, self._since = graph, since
        self.until, self._noted = progress.until, dict(progress.schedules)
        self._first: dict[tuple[str, Sub], int] = {}
        self.unnoted: dict[str, None] = {name: None for name in self._noted if name not in graph}
        """Entities whose present schedule is not stored."""
        self._heap: list[tuple[int, str, Sub, int, Node]] = []
        for name in graph:
            self._heap += self._entries(name)
        heapq.heapify(self._heap)

    def first(self, entity: str, sub: Sub) -> int | None:
        """The first scheduled slice; None if the entity has no schedule."""
        return self._first.get((entity, sub))

    @property
    def next_time(self) -> int | None:
        """The earliest time of the next slice."""
        return self._heap[0][0] if self._heap else None

    def take(self, until: int) -> Slice | None:
        """The next slice whose earliest time is at or before `until` (seconds)."""
        while self._heap and self._heap[0][0] <= until:
            time, name, sub, ordinal, node = self._heap[0]
            if name not in self._graph or self._graph.node(name) is not node:
                heapq.heappop(self._heap)
                continue
            grid = node.grid_of(sub)
            if grid is not None and ordinal + 1 < min(node.existing_of(sub).stop, grid.last):
                following = max(time, not_before(node.entity, grid, ordinal + 1))
                heapq.heapreplace(self._heap, (following, name, sub, ordinal + 1, node))
            else:
                heapq.heappop(self._heap)
            return node.slice(ordinal, sub)
        return None

    def refresh(self, entity: str) -> None:
        """Schedules an entity again from its first slice, after it was added, changed or removed."""
        for key in [key for key in self._first if key[0] == entity]:
            del self._first[key]
        self._heap = [entry for entry in self._heap if entry[1] != entity]
        self._noted.pop(entity, None)
        self.unnoted[entity] = None
        if entity in self._graph:
            self._heap += self._entries(entity)
        heapq.heapify(self._heap)

    def text_of(self, entity: str) -> str:
        """A text of all parts of an entity's schedule; empty without a schedule."""
        if entity not in self._graph:
            return ""
        node = self._graph.node(entity)
        firsts = [
            f"{sub} {grid.zone.name if (grid := node.grid_of(sub)) else 'static'} {self._first[entity, sub]}"
            for sub in self._subs(entity)
            if (entity, sub) in self._first
        ]
        declared = node.entity
        return f"{declared.period} {declared.week_start} {declared.earliest} {declared.end} {firsts}" if firsts else ""

    def _entries(self, name: str) -> Iterator[tuple[int, str, Sub, int, Node]]:
        node = self._graph.node(name)
        subs = [sub for sub in self._subs(name) if is_released(node, sub)]
        for sub in subs:
            grid = node.grid_of(sub)
            self._first[name, sub] = max(node.existing_of(sub).start, grid.at(self._since)) if grid else 0
        is_noted = name in self._noted and self._noted[name] == self.text_of(name)
        if not is_noted and (subs or name in self._noted):
            self.unnoted[name] = None
        for sub in subs:
            grid, first = node.grid_of(sub), self._first.get((name, sub))
            if first is None:
                continue
            ordinal = max(first, _next(node.entity, grid, self.until)) if is_noted else first
            if ordinal in node.existing_of(sub):
                yield not_before(node.entity, grid, ordinal), name, sub, ordinal, node

    def _subs(self, name: str) -> tuple[Sub, ...]:
        subs = self._graph.node(name).subs
        return subs if subs == (WHOLE,) else (WHOLE, *subs)


def _next(entity: Entity, grid: Grid | None, until: int) -> int:
    """The first slice whose earliest time is after an instant."""
    if grid is None:
        return 1
    ordinal = grid.at(until)
    while ordinal > grid.first and not_before(entity, grid, ordinal - 1) > until:
        ordinal -= 1
    return ordinal
