"""Declared facts of slices (times, inputs, pools), cached for the next forecast of a graph."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.center.pools import tag_of
from tidemark.dependency_model.baseline.slice_network import NO_POOL
from tidemark.dependency_model.readiness.earliest_time import earliest, ready_by
from tidemark.dependency_model.readiness.self_starting_slices import is_marker, is_scheduled
from tidemark.dependency_model.time.zone import zone_info

if TYPE_CHECKING:
    from tidemark.center.pools import Pools
    from tidemark.dependency_model.baseline.learned_times import Groups
    from tidemark.dependency_model.entity.entity import Entity
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.time.window import Window

KEPT: Final = 500_000
"""Most cached slices; the cache is then cleared."""
_DAY: Final = timedelta(hours=23)


class DeclaredSlice(NamedTuple):
    """Instants are seconds since 1970.

    `release` is the earliest start, or the window's end of an arriving slice. `inputs` have the instant until which
    each is waited for, infinite for a strong one. `due` is the promise, or None.
    """

    release: float
    is_computed: bool
    """False for slices that arrive from outside; true for markers."""
    is_marker: bool
    pool: int
    groups: Groups
    due: float | None
    inputs: tuple[tuple[Slice, float], ...]


class DeclaredSlices:
    """For one immutable graph with one setting of pools; safe between threads."""

    def __init__(self, graph: DependencyGraph, pools: Pools) -> None:
        self.graph, self.pools = graph, pools
        self._numbers = {name: number for number, name in enumerate(pools.capacity)}
        self._kept: dict[Slice, DeclaredSlice] = {}

    def __getitem__(self, slice_: Slice) -> DeclaredSlice:
        declared = self._kept.get(slice_)
        if declared is None:
            if len(self._kept) >= KEPT:
                self._kept.clear()
            self._kept[slice_] = declared = self._declared(slice_)
        return declared

    def _declared(self, slice_: Slice) -> DeclaredSlice:
        node = self.graph.node(slice_.entity)
        entity, window = node.entity, self.graph.window(slice_)
        is_computed, is_nothing = is_scheduled(entity), is_marker(node, slice_)
        released = earliest(entity, window)
        due = ready_by(entity, window)
        return DeclaredSlice(
            (released if is_computed else window.end).timestamp(),
            is_computed,
            is_nothing,
            NO_POOL if is_nothing or not is_computed else self._pool(entity),
            groups_of(entity, window),
            None if due is None else due.timestamp(),
            self._inputs(slice_, released.timestamp()) if is_computed else (),
        )

    def _pool(self, entity: Entity) -> int:
        return self._numbers.get(tag_of(entity).partition(",")[0].strip(), NO_POOL)

    def _inputs(self, slice_: Slice, released: float) -> tuple[tuple[Slice, float], ...]:
        inputs: list[tuple[Slice, float]] = []
        for requirement in self.graph.requirements(slice_):
            weak = requirement.dependency.weak
            until = float("inf") if weak is None or weak.timeout is None else released + weak.timeout.total_seconds()
            inputs += [(input_, until) for input_ in requirement.slices if input_ != slice_]
        return tuple(inputs)


def groups_of(entity: Entity, window: Window) -> Groups:
    """The group of a slice for comparisons.

    The weekday, or for shorter periods hour and weekday, in its entity's zone.
    """
    local = window.start.astimezone(zone_info(entity.time_zone))
    return (local.weekday(),) if window.duration >= _DAY else (local.hour, local.weekday())
