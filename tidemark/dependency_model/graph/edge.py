"""A dependency between two entities, which answers in both directions."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.dependency import Weak
from tidemark.dependency_model.entity.sub_partition import WHOLE, Sub
from tidemark.dependency_model.graph.needed_keys import needed_keys
from tidemark.dependency_model.graph.requirement import Requirement
from tidemark.dependency_model.offset.default_offset import natural_offset
from tidemark.dependency_model.offset.last_available import Latest
from tidemark.dependency_model.offset.mapping import mapping_between
from tidemark.dependency_model.offset.offset import LAST_AVAILABLE, SINCE_START, STATIC, Offset, OffsetKind
from tidemark.dependency_model.slice import STATIC_KEY, Slice, slices_of
from tidemark.errors import EntityError, ParseError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tidemark.dependency_model.entity.dependency import Dependency
    from tidemark.dependency_model.entity.entity import Entity
    from tidemark.dependency_model.graph.needed_keys import NeededKeys
    from tidemark.dependency_model.graph.node import Node
    from tidemark.dependency_model.offset.mapping_protocol import Mapping
    from tidemark.dependency_model.time.grid import Grid

_mapping = lru_cache(maxsize=65_536)(mapping_between)


class Edge:
    """One dependency of one state. Edges with the same periods and offset share one mapping."""

    __slots__ = (
        "_asks_by_time",
        "_by_sub_partition",
        "_mapping",
        "_needed",
        "dependency",
        "down",
        "is_bounded",
        "is_latest",
        "shape",
        "state",
        "up",
    )

    def __init__(self, down: Node, up: Node, dependency: Dependency, state: str) -> None:
        self.down, self.up, self.state = down, up, state
        self.dependency = _resolve(dependency, down.entity, up.entity)
        self.is_latest = self.dependency.offset == LAST_AVAILABLE
        self._by_sub_partition = down.subs != (WHOLE,) or up.subs != (WHOLE,)
        self._asks_by_time = up.entity.quorum is not None and not self.dependency.weak
        try:
            self._mapping = self._between(WHOLE, WHOLE)
        except ParseError as error:
            message, expected = error.message, error.expected
            raise EntityError(message, expected=expected, found=error.found, hint=error.hint) from error
        self._needed = needed_keys(self._mapping, up.grid) if self._mapping and up.grid else None
        self.is_bounded = self._by_sub_partition or down is up or self._mapping is None
        """Whether the downstream entities of all edges of this shape have the same existing slices."""
        existing = down.existing if self.is_bounded else None
        self.shape = object() if self._by_sub_partition else _shape(self._mapping, down.grid, existing)
        """Edges of one shape have the same downstream slices, by number, as far as these exist."""

    def mappings(self) -> Iterator[tuple[Mapping, Grid, Grid]]:
        """Each different mapping between sub-partitions of the two entities, with its grids;

        none if the upstream is static.
        """
        between = {}
        for sub, upstream_sub in self.sub_pairs():
            mapping, down, up = self._between(sub, upstream_sub), self.down.grid_of(sub), self.up.grid_of(upstream_sub)
            if mapping and down and up:
                between[mapping] = (mapping, down, up)
        yield from between.values()

    def requirements(self, ordinal: int, sub: Sub) -> tuple[Requirement, ...]:
        """The requirements of a slice:

        one, or one for each business time if a quorum of the upstream's parts suffices.
        """
        slices, beyond = self.expand(ordinal, sub), self._beyond(ordinal, sub)
        if not self._asks_by_time or len(self._upstream_subs(sub)) < len(self.up.subs):
            return (Requirement(self.dependency, slices, self.is_latest, beyond=beyond),)
        dependency = replace(self.dependency, weak=Weak(at_least=self.up.entity.quorum))
        by_time = dict[str, list[Slice]]()
        for slice_ in slices:
            by_time.setdefault(slice_.key, []).append(slice_)
        by_parts = [tuple(parts) for parts in by_time.values()]
        return tuple([Requirement(dependency, parts, self.is_latest, beyond=beyond) for parts in by_parts])

    def _beyond(self, ordinal: int, sub: Sub) -> int | None:
        """The instant (seconds) that the high watermarks of the inputs must have reached."""
        grid = self.down.grid_of(sub)
        if grid is None or self.dependency.beyond is None:
            return None
        return grid.start(ordinal if self.dependency.beyond == "start" else ordinal + 1)

    def expand(self, ordinal: int, sub: Sub) -> tuple[Slice, ...]:
        """The upstream slices that a slice needs, by sub-partition and then in order of time."""
        if self._needed is None:
            return tuple(Slice(self.up.name, STATIC_KEY, upstream_sub) for upstream_sub in self._upstream_subs(sub))
        if not self._by_sub_partition:
            return self._existing_slices(self._needed, ordinal, self.up.existing, WHOLE)
        slices: list[Slice] = []
        for upstream_sub in self._upstream_subs(sub):
            mapping, grid = self._between(sub, upstream_sub), self.up.grid_of(upstream_sub)
            if mapping and grid:
                needed, existing = needed_keys(mapping, grid), self.up.existing_of(upstream_sub)
                slices += self._existing_slices(needed, ordinal, existing, upstream_sub)
        return tuple(slices)

    def _existing_slices(self, needed: NeededKeys, ordinal: int, existing: range, sub: Sub) -> tuple[Slice, ...]:
        """The existing slices that the offset names.

        With `last_available`, the last slice of an ended upstream stays the newest.
        """
        ordinals, keys = needed.of(ordinal)
        if not ordinals:
            return ()
        if ordinals[0] < existing.start or ordinals[-1] >= existing.stop:
            if self.is_latest and ordinals[0] >= existing.stop:
                keys = needed.upstream.keys(existing[-1:])
            else:
                keys = keys[bisect_left(ordinals, existing.start) : bisect_left(ordinals, existing.stop)]
        return slices_of(self.up.name, keys, sub)

    def inverse(self, ordinal: int, sub: Sub, until: int | None) -> Iterator[tuple[int, Sub]]:
        """The downstream slices that need an upstream slice. `until` (seconds) limits endless ones."""
        if not self._by_sub_partition:
            existing = self.down.existing
            yield from [
                (down, WHOLE) for down in self.downstream_numbers(ordinal, sub, WHOLE, until) if down in existing
            ]
            return
        for down_sub in self.down.subs:
            if sub in self._upstream_subs(down_sub):
                existing = self.down.existing_of(down_sub)
                yield from (
                    (down, down_sub)
                    for down in self.downstream_numbers(ordinal, sub, down_sub, until)
                    if down in existing
                )

    def sub_pairs(self) -> Iterator[tuple[Sub, Sub]]:
        """Each downstream sub-partition with each upstream sub-partition that it reads."""
        return ((sub, upstream_sub) for sub in self.down.subs for upstream_sub in self._upstream_subs(sub))

    def downstream_numbers(self, ordinal: int, sub: Sub, down_sub: Sub, until: int | None) -> Sequence[int]:
        """The numbers of a downstream sub-partition's slices that need an upstream slice; some may not exist."""
        mapping = self._between(down_sub, sub) if self._by_sub_partition else self._mapping
        grid = self.down.grid_of(down_sub)
        if grid is None:
            return (0,)
        last = grid.at(until) if until is not None else None
        if mapping is None:
            return () if last is None else range(self.down.existing_of(down_sub).start, last + 1)
        if isinstance(mapping, Latest) and last is not None:
            return range(mapping.first_user(ordinal), last + 1)
        users = mapping.inverse(ordinal)
        if not self._goes_on:
            return users
        return range(users[0], last + 1) if users and last is not None else users[:1]

    @property
    def _goes_on(self) -> bool:
        return self.dependency.offset is not None and self.dependency.offset.goes_on

    def _upstream_subs(self, sub: Sub) -> Sequence[Sub]:
        """The upstream's sub-partitions: by the dependency's choice, else with the same values, else all of them."""
        if self.up.subs == (WHOLE,):
            return (WHOLE,)
        chosen = {dimension: (value,) for dimension, value in sub} | (self.dependency.sub or {})
        return [
            upstream_sub
            for upstream_sub in self.up.subs
            if all(value in chosen.get(d, (value,)) for d, value in upstream_sub)
        ]

    def _between(self, sub: Sub, upstream_sub: Sub) -> Mapping | None:
        """The mapping between two sub-partitions; None for a static upstream."""
        up, period = self.up.grid_of(upstream_sub), self.down.entity.period
        offset = self.dependency.offset
        if offset is None or up is None or period is None:
            return None
        zoned = self.up.zoned.get(upstream_sub) if self.up.zoned and not period.is_clock else None
        return _mapping(offset, (zoned or self.down.calendar_of(sub), period), up)


@lru_cache(maxsize=65_536)
def _shape(_mapping: Mapping | None, _grid: Grid | None, _existing: range | None) -> object:
    """One object for all edges with equal arguments."""
    return object()


def _resolve(dependency: Dependency, down: Entity, up: Entity) -> Dependency:
    """The dependency with its offset filled in. Raises EntityError if the offset has no meaning between the two."""
    natural = natural_offset(down.period, up.period)
    offset = dependency.offset or natural
    if offset.kind is OffsetKind.TO_DATE and offset.within is None:
        offset = Offset(OffsetKind.TO_DATE, (), down.granularity)
    if (offset == STATIC) != up.is_static:
        what = "static" if up.is_static else "by period"
        raise EntityError(f"{up.name} is {what}: the offset '{offset}' matches no slice of it", expected=str(natural))
    if offset == SINCE_START and up.start is None:
        raise EntityError(
            f"'since start' is not possible with {up.name}: it has no start",
            hint="declare its start: 2024-01-01, or write the day: since 2024-01-01",
        )
    if down.is_static and dependency.beyond:
        raise EntityError("a Static entity has no window that a watermark could be beyond", hint="remove `beyond`")
    if down.is_static and not up.is_static:
        raise EntityError(f"a Static entity cannot follow {up.name}, which has periods", hint="declare a Snapshot")
    return dependency if offset is dependency.offset else replace(dependency, offset=offset)
