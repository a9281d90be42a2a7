"""Combines the inputs of the SQL with the YAML, and reports differences.

SQL has the offsets. YAML adds what SQL cannot express (weak clauses, accepted states, sub-partitions) and offsets that
SQL leaves open. It may differ with a reason (`because`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.dependency import COMPLETED, Dependency
from tidemark.dependency_model.entity.entity import Entity, EntityKind, EntityState
from tidemark.dependency_model.lineage.inferred_read import Read
from tidemark.dependency_model.lineage.stated_offset import too_narrow, too_wide, with_enclosing
from tidemark.dependency_model.lineage.waits_for_later_slices import waits_for_later_slices
from tidemark.dependency_model.offset import mapping_between
from tidemark.dependency_model.time.sample_slices import sparse_slices
from tidemark.errors import EntityError, ParseError, QueryError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from tidemark.dependency_model.offset.offset import Offset


_HINT = "add a condition such as dt = :biz_date (of hours also hour = :biz_hour), or state it under depends_on"

_UNUSED = "a parameter, but nothing that is returned is computed of it"
_UNUSED_HINT = "leave it out, or say why it is waited for: because: ..."


@dataclass(frozen=True, slots=True)
class Agreement:
    """The entity with all dependencies. `missing` errors stop it from being computed, `differences` do not.

    `notices` are not errors.
    """

    entity: Entity
    missing: tuple[EntityError, ...] = ()
    differences: tuple[EntityError, ...] = ()
    notices: tuple[EntityError, ...] = ()


def agree_with_queries(entity: Entity, reads: Mapping[str, Read], entities: Mapping[str, Entity]) -> Agreement:
    """The entity with the inputs of its queries and of its declaration."""
    declared = entity.depends_on
    missing = (*_missing(entity, reads), *_stated_wrongly(entity, reads, entities, too_narrow))
    wider = _stated_wrongly(entity, reads, entities, too_wide)
    differences = (*_not_read(entity, reads, entities), *_different(entity, reads, entities), *wider)
    filled = tuple(entry for dependency in declared for entry in _filled(dependency, reads.get(dependency.entity)))
    stated = _stated(entity)
    inferred = tuple(
        Dependency(name, offset) for name, read in reads.items() if name not in stated for offset in read.offsets
    )
    notices = waits_for_later_slices(entity.period, (read for name, read in reads.items() if name not in stated))
    return Agreement(_with(entity, (*filled, *inferred)), missing, differences, tuple(notices))


def agree_with_plan(
    entity: Entity,
    parameters: Sequence[str],
    where: str,
    reads: Mapping[str, Read] | None,
    entities: Mapping[str, Entity],
) -> Agreement:
    """The entity with the inputs of its Python function: its parameters, at the offsets in its plans.

    Without plans (`reads` is None), or if they leave an offset open, the offset is the one in YAML, or the natural one.
    An offset that plans leave open is then a difference, and does not stop the entity from being computed.
    """
    known = {
        name: reads[name] if reads and name in reads else Read(name, where, undecidable=_UNUSED) for name in parameters
    }
    agreement = agree_with_queries(entity, known, entities)
    stated = {dependency.entity for dependency in entity.depends_on}
    natural = (Dependency(name) for name, read in known.items() if not read.offsets and name not in stated)
    entity = _with(agreement.entity, (*agreement.entity.depends_on, *natural))
    if reads is None:
        return replace(agreement, entity=entity, missing=())
    reasoned = {dependency.entity for dependency in entity.depends_on if dependency.because}
    unused = (
        QueryError(f"{name}: {_UNUSED}", where=where, hint=_UNUSED_HINT)
        for name in parameters
        if name not in reads and name not in reasoned
    )
    open_ = (problem for problem in agreement.missing if _UNUSED not in problem.message)
    return Agreement(entity, (), (*agreement.differences, *open_, *unused), agreement.notices)


def _filled(dependency: Dependency, read: Read | None) -> Iterable[Dependency]:
    """A dependency without an offset gets those of the SQL."""
    if dependency.offset is not None or read is None or not read.offsets:
        return (dependency,)
    return (replace(dependency, offset=offset) for offset in read.offsets)


def _with(entity: Entity, dependencies: tuple[Dependency, ...]) -> Entity:
    others = tuple(state for state in entity.states if state.entity_state != COMPLETED)
    return entity.with_states((*others, EntityState(COMPLETED, dependencies)))


def _stated(entity: Entity) -> set[str]:
    """The upstreams of all its states: a query for several states reads the inputs of all of them."""
    return {dependency.entity for state in entity.states for dependency in state.depends_on}


def _missing(entity: Entity, reads: Mapping[str, Read]) -> Iterator[EntityError]:
    stated = _stated(entity)
    for name, read in reads.items():
        if read.undecidable and name not in stated:
            yield QueryError(f"which slices of {name} are read: {read.undecidable}", where=read.where, hint=_HINT)


def _stated_wrongly(
    entity: Entity,
    reads: Mapping[str, Read],
    entities: Mapping[str, Entity],
    judge: Callable[[Entity, Entity, Sequence[Dependency], Read], QueryError | None],
) -> Iterator[EntityError]:
    """Errors of declared offsets where no offset fits the slices that the query reads."""
    depends_on = entity.depends_on
    for name, read in reads.items():
        declared = [dependency for dependency in depends_on if dependency.entity == name]
        problem = judge(entity, entities[name], declared, read) if declared and name in entities else None
        if problem is not None:
            yield problem


def _not_read(entity: Entity, reads: Mapping[str, Read], entities: Mapping[str, Entity]) -> Iterator[EntityError]:
    for dependency in entity.depends_on:
        up = entities.get(dependency.entity)
        is_signal = up is not None and up.kind in (EntityKind.VIRTUAL, EntityKind.PROJECT)
        if dependency.entity not in reads and not dependency.because and up is not None and not is_signal:
            problem = EntityError(
                f"{dependency.entity} is declared, but no query of {entity.name} reads it",
                where=entity.file,
                hint="leave it out, or say why it is waited for: because: ...",
            )
            problem.word = dependency.entity
            yield problem


def _different(entity: Entity, reads: Mapping[str, Read], entities: Mapping[str, Entity]) -> Iterator[EntityError]:
    depends_on = entity.depends_on
    for name, read in reads.items():
        declared = [dependency for dependency in depends_on if dependency.entity == name]
        stated = [dependency.offset for dependency in declared if dependency.offset is not None]
        if (
            read.undecidable
            or len(stated) < len(declared)
            or not stated
            or any(dependency.because for dependency in declared)
        ):
            continue
        if not _same(entity, entities[name], stated, read.offsets):
            yield QueryError(
                f"the query reads other slices of {name} than declared",
                expected=f"{read} (read by the query)",
                found=f"{' and '.join(map(str, stated))} (declared in {entity.file})",
                where=read.where,
                hint="leave depends_on to the query, or say why it differs: because: ...",
            )


def _same(down: Entity, up: Entity, stated: Sequence[Offset], read: Sequence[Offset]) -> bool:
    """Whether offsets name the same slices at every business time."""
    if set(stated) == set(read):
        return True
    if down.period is None or up.period is None or not all(mapping.is_exact for mapping in stated):
        return False
    grid = up.calendar.grid(up.period)
    try:
        ours, theirs = (
            [mapping_between(with_enclosing(offset, down), (down.calendar, down.period), grid) for offset in offsets]
            for offsets in (stated, read)
        )
    except ParseError:
        return False  # the graph reports offsets without meaning
    times = sparse_slices(down.calendar, down.period, down.start, closely=False)
    return all(
        {up for our in ours for up in our.expand(time)} == {up for their in theirs for up in their.expand(time)}
        for time in times
    )
