"""When which slice's time comes: one entry an entity and part, which moves on slice by slice."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from dependency_model.graph.node import WHOLE
from dependency_model.readiness.scheduled import is_scheduled
from dependency_model.time.cron import Cron
from dependency_model.time.zone import Zone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dependency_model.entity.entity import Entity
    from dependency_model.entity.sub_partition import Sub
    from dependency_model.graph.graph import DependencyGraph
    from dependency_model.graph.node import Node
    from dependency_model.slice import Slice
    from dependency_model.time.grid import Grid


def not_before(entity: Entity, grid: Grid, ordinal: int) -> int:
    """The earliest time of a slice, in seconds since 1970: its end, or the first time of its cron text after that."""
    end = grid.start(ordinal + 1)
    return end if entity.earliest is None else Cron.parse(entity.earliest).next(end, Zone.load(entity.time_zone))


class Schedule:
    """Names every slice of every scheduled entity once, from the one of `since` (seconds) on, as time goes on."""

    def __init__(self, graph: DependencyGraph, since: int) -> None:
        self._graph, self._since = graph, since
        self._first: dict[tuple[str, Sub], int] = {}
        self._heap: list[tuple[int, str, Sub, int, Node]] = []
        for name in graph:
            self._heap += self._entries(name)
        heapq.heapify(self._heap)

    def first(self, entity: str, sub: Sub) -> int | None:
        """The first slice that the schedule names; None where it names none of them."""
        return self._first.get((entity, sub))

    @property
    def next_time(self) -> int | None:
        """When the next slice's time comes."""
        return self._heap[0][0] if self._heap else None

    def take(self, until: int) -> Slice | None:
        """The next slice whose time comes by `until` (seconds)."""
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
        """The entity came, changed or went; its slices are named anew from the first one."""
        for key in [key for key in self._first if key[0] == entity]:
            del self._first[key]
        self._heap = [entry for entry in self._heap if entry[1] != entity]
        if entity in self._graph:
            self._heap += self._entries(entity)
        heapq.heapify(self._heap)

    def _entries(self, name: str) -> Iterator[tuple[int, str, Sub, int, Node]]:
        node = self._graph.node(name)
        if not is_scheduled(node.entity):
            return
        for sub in node.parts if node.parts == (WHOLE,) else (WHOLE, *node.parts):
            grid = node.grid_of(sub)
            if grid is not None:
                existing = node.existing_of(sub)
                ordinal = max(existing.start, grid.at(self._since))
                self._first[name, sub] = ordinal
                if ordinal in existing:
                    yield not_before(node.entity, grid, ordinal), name, sub, ordinal, node
