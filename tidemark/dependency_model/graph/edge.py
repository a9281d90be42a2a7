"""A dependency between two entities, ready to be asked in both directions."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.sub_partition import WHOLE, Sub
from tidemark.dependency_model.offset.default_offset import natural_offset
from tidemark.dependency_model.offset.mapping import Mapping, mapping_between
from tidemark.dependency_model.offset.offset import LAST_AVAILABLE, STATIC, Offset, OffsetKind
from tidemark.dependency_model.slice import STATIC_KEY, Slice, slices_of
from tidemark.errors import EntityError, ParseError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tidemark.dependency_model.entity.dependency import Dependency
    from tidemark.dependency_model.entity.entity import Entity
    from tidemark.dependency_model.graph.node import Node
    from tidemark.dependency_model.time.grid import Grid

_mapping = lru_cache(maxsize=65_536)(mapping_between)


class Edge:
    """One dependency of one state. All edges with the same periods and offset share one mapping."""

    __slots__ = ("_by_parts", "_mapping", "dependency", "down", "is_latest", "state", "up")

    def __init__(self, down: Node, up: Node, dependency: Dependency, state: str) -> None:
        self.down, self.up, self.state = down, up, state
        self.dependency = _resolved(dependency, down.entity, up.entity)
        self.is_latest = self.dependency.offset == LAST_AVAILABLE
        self._by_parts = down.parts != (WHOLE,) or up.parts != (WHOLE,)
        try:
            self._mapping = self._between(WHOLE, WHOLE)
        except ParseError as error:
            message, expected = error.message, error.expected
            raise EntityError(message, expected=expected, found=error.found, hint=error.hint) from error

    def mappings(self) -> Iterator[tuple[Mapping, Grid, Grid]]:
        """Each different mapping between parts of the two, with its grids; none where the upstream is static."""
        pairs = ((sub, part) for sub in self.down.parts for part in self._parts_needed(sub))
        between = {}
        for sub, part in pairs:
            mapping, down, up = self._between(sub, part), self.down.grid_of(sub), self.up.grid_of(part)
            if mapping and down and up:
                between[mapping] = (mapping, down, up)
        yield from between.values()

    def expand(self, ordinal: int, sub: Sub) -> tuple[Slice, ...]:
        """The upstream slices that a slice needs, in order of time, part by part."""
        if self._mapping is None:
            return tuple(Slice(self.up.name, STATIC_KEY, part) for part in self._parts_needed(sub))
        if not self._by_parts:
            return _slices(self.up, self._needed(self._mapping, ordinal, self.up.existing), self.up.existing)
        slices: list[Slice] = []
        for part in self._parts_needed(sub):
            mapping = self._between(sub, part)
            if mapping:
                existing = self.up.existing_of(part)
                slices += _slices(self.up, self._needed(mapping, ordinal, existing), existing, part)
        return tuple(slices)

    def _needed(self, mapping: Mapping, ordinal: int, existing: range) -> Sequence[int]:
        """What the offset names; of an upstream that has ended, its last slice stays the newest."""
        needed = mapping.expand(ordinal)
        return existing[-1:] if self.is_latest and needed and needed[0] >= existing.stop else needed

    def inverse(self, ordinal: int, sub: Sub, until: int | None) -> Iterator[tuple[int, Sub]]:
        """The downstream slices that need an upstream slice; `until` (seconds) ends what has no end of its own."""
        if not self._by_parts:
            existing = self.down.existing
            yield from [(down, WHOLE) for down in self._downstream(ordinal, sub, WHOLE, until) if down in existing]
            return
        for part in self.down.parts:
            if sub in self._parts_needed(part):
                existing = self.down.existing_of(part)
                yield from ((down, part) for down in self._downstream(ordinal, sub, part, until) if down in existing)

    def _downstream(self, ordinal: int, sub: Sub, part: Sub, until: int | None) -> Sequence[int]:
        mapping, grid = self._between(part, sub) if self._by_parts else self._mapping, self.down.grid_of(part)
        if grid is None:
            return (0,)
        last = grid.at(until) if until is not None else None
        if mapping is None:
            return () if last is None else range(self.down.existing_of(part).start, last + 1)
        ordinals = mapping.inverse(ordinal)
        if self.is_latest and last is not None and ordinals:
            return range(ordinals[0], last + 1)
        return ordinals

    def _parts_needed(self, sub: Sub) -> Sequence[Sub]:
        """The parts of the upstream: those chosen, else the same values, else all of them."""
        if self.up.parts == (WHOLE,):
            return (WHOLE,)
        chosen = {dimension: (value,) for dimension, value in sub} | (self.dependency.sub or {})
        return [part for part in self.up.parts if all(value in chosen.get(d, (value,)) for d, value in part)]

    def _between(self, sub: Sub, part: Sub) -> Mapping | None:
        """The mapping between two parts; None for a static upstream."""
        up, period = self.up.grid_of(part), self.down.entity.period
        offset = self.dependency.offset
        if offset is None or up is None or period is None:
            return None
        zoned = self.up.zoned.get(part) if self.up.zoned and not period.is_clock else None
        return _mapping(offset, (zoned or self.down.calendar_of(sub), period), up)


def _slices(node: Node, ordinals: Sequence[int], existing: range, sub: Sub = WHOLE) -> tuple[Slice, ...]:
    grid = node.grid_of(sub) if sub else node.grid
    if grid is None or not ordinals:
        return ()
    if ordinals[0] < existing.start or ordinals[-1] >= existing.stop:
        ordinals = ordinals[bisect_left(ordinals, existing.start) : bisect_left(ordinals, existing.stop)]
    return slices_of(node.name, grid.keys(ordinals), sub)


def _resolved(dependency: Dependency, down: Entity, up: Entity) -> Dependency:
    """The dependency with its offset filled in. Raises EntityError where the offset has no meaning between the two."""
    natural = natural_offset(down.period, up.period)
    offset = dependency.offset or natural
    if offset.kind is OffsetKind.TO_DATE and offset.within is None:
        offset = Offset(OffsetKind.TO_DATE, (), down.granularity)
    if (offset == STATIC) != up.is_static:
        what = "static" if up.is_static else "by period"
        raise EntityError(f"{up.name} is {what}: the offset '{offset}' names none of its slices", expected=str(natural))
    if down.is_static and not up.is_static:
        raise EntityError(f"a Static entity cannot follow {up.name}, which has periods", hint="declare a Snapshot")
    return dependency if offset is dependency.offset else replace(dependency, offset=offset)
