"""Checks offsets that YAML states for a read without a matching offset: they must name all slices read.

A wider offset waits for more than is read, and needs a reason (`because`). A narrower one is an error: the slice would
be computed before all its input exists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.lineage.offset_fitting import shown
from tidemark.dependency_model.lineage.stretches import stretches_of, union_of, without
from tidemark.dependency_model.offset import mapping_between
from tidemark.dependency_model.offset.default_offset import natural_offset
from tidemark.dependency_model.offset.offset import Offset, OffsetKind
from tidemark.dependency_model.time.window import seconds_of
from tidemark.errors import ParseError, QueryError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tidemark.dependency_model.entity.dependency import Dependency
    from tidemark.dependency_model.entity.entity import Entity
    from tidemark.dependency_model.lineage.inferred_read import Read, Runs
    from tidemark.dependency_model.offset import Mapping
    from tidemark.dependency_model.time.grid import Grid
    from tidemark.dependency_model.time.period import Period

_SAFE = "a wider offset is safe, a narrower one computes without what it lacks; or say why: because: ..."
_WIDER = "state a narrower one, or say what the others are waited for: because: ..."


def too_narrow(down: Entity, up: Entity, declared: Sequence[Dependency], read: Read) -> QueryError | None:
    """The first business time at which declared offsets lack slices that the query reads."""
    for time, named, needed in _at_each_time(down, up, declared, read.evaluated or read.at_least):
        if lacking := without(needed, named):
            return _error(
                f"the declared offset does not name all slices of {up.name} that the query reads",
                f"{shown(lacking, _grid(up))} too, at {down.calendar.grid(_period(down)).key(time)}",
                declared,
                read,
                _SAFE,
            )
    return None


def too_wide(down: Entity, up: Entity, declared: Sequence[Dependency], read: Read) -> QueryError | None:
    """The first business time at which declared offsets name slices that the query does not read."""
    for time, named, needed in _at_each_time(down, up, declared, read.evaluated):
        if without(named, needed):
            return _error(
                f"the declared offset names slices of {up.name} that the query does not read",
                f"{shown(needed, _grid(up))} alone, at {down.calendar.grid(_period(down)).key(time)}",
                declared,
                read,
                _WIDER,
            )
    return None


def with_enclosing(offset: Offset, down: Entity) -> Offset:
    """The offset; a plain `to_date` gets the downstream's granularity."""
    if offset.kind is OffsetKind.TO_DATE and offset.within is None:
        return Offset(OffsetKind.TO_DATE, (), down.granularity)
    return offset


def _at_each_time(
    down: Entity, up: Entity, declared: Sequence[Dependency], evaluated: Sequence[tuple[int, Runs]]
) -> Iterator[tuple[int, list[range], list[range]]]:
    """The business times, with the slices that offsets name and the slices read; none if they are unknown."""
    if not evaluated or down.period is None or up.period is None:
        return
    if any(dependency.because for dependency in declared):
        return
    mappings = _mappings(down, up, declared)
    first = _first(up)
    for time, runs in evaluated if mappings else ():
        named = union_of(stretch for mapping in mappings for stretch in _stretches(mapping.expand(time)))
        yield time, _from(named, first), _from([range(start, last + 1) for start, last in runs], first)


def _mappings(down: Entity, up: Entity, declared: Sequence[Dependency]) -> list[Mapping]:
    """The mappings of the offsets; empty if an offset has no fixed slices or is invalid, which the graph reports."""
    offsets = [
        with_enclosing(dependency.offset or natural_offset(down.period, up.period), down) for dependency in declared
    ]
    if not all(offset.is_exact for offset in offsets):
        return []
    try:
        return [mapping_between(offset, (down.calendar, _period(down)), _grid(up)) for offset in offsets]
    except ParseError:
        return []


def _stretches(slices: Sequence[int]) -> Sequence[range]:
    return [slices] if isinstance(slices, range) and slices.step == 1 else stretches_of(slices)


def _from(stretches: Iterable[range], first: int) -> list[range]:
    return [range(max(stretch.start, first), stretch.stop) for stretch in stretches if stretch.stop > first]


def _first(up: Entity) -> int:
    grid = _grid(up)
    return grid.first if up.start is None else grid.at(seconds_of(up.calendar.start_of(up.start)))


def _grid(entity: Entity) -> Grid:
    return entity.calendar.grid(_period(entity))


def _period(entity: Entity) -> Period:
    if entity.period is None:
        raise TypeError(f"{entity.name} is static")
    return entity.period


def _error(message: str, expected: str, declared: Sequence[Dependency], read: Read, hint: str) -> QueryError:
    stated = " and ".join(str(dependency.offset or "no offset") for dependency in declared)
    return QueryError(message, expected=expected, found=stated, where=read.where, hint=hint)
