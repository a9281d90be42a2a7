"""Rules between the fields of one entity."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.entity.dependency import ASKED, UNANNOUNCED
from tidemark.dependency_model.entity.entity import Entity, EntityKind, LateEvents
from tidemark.dependency_model.entity.rule_consistency import Broken, uncountable_rules, wrong_rules
from tidemark.dependency_model.entity.slice_text import KEY, LEVELS, TIMES
from tidemark.dependency_model.entity.sub_partition import SUB_PARTITION_LIMIT, combinations
from tidemark.dependency_model.suggestion import did_you_mean
from tidemark.dependency_model.time.local_calendar import Calendar
from tidemark.dependency_model.time.partition_columns import units_of
from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.zone import Zone
from tidemark.errors import EntityError, ParseError, TidemarkError

if TYPE_CHECKING:
    from datetime import datetime

_SECONDS_TO_2000: Final = 946_684_800
_OF_TABLES: Final = (
    *(
        "period",
        "granularity",
        "sub_partitions",
        "columns",
        "quality",
        "probe",
        "ready_by",
        "earliest",
        "source",
        "key",
    ),
    *("partition_by", "cluster_by", "snapshot_of", "series", "export", "center", "replicate", "refresh", "own_asset"),
)
"""Keys that only an entity with slices can have, without the keys that a project's defaults can set."""


def broken_rules(entity: Entity) -> Broken:
    """(key, problem) of each rule that the entity breaks."""
    if entity.kind is EntityKind.VIEW:
        yield from _view(entity)
        return
    yield from _period(entity)
    yield from _granularity(entity)
    yield from _times(entity)
    yield from _promise(entity)
    yield from _states(entity)
    yield from _snapshot(entity)
    yield from _sub_partitions(entity)
    yield from _probe(entity)
    yield from _partition_columns(entity)
    yield from _columns(entity)
    yield from _completeness(entity)
    yield from _replicate(entity)
    yield from _refresh(entity)
    yield from wrong_rules(entity)


def _period(entity: Entity) -> Broken:
    if entity.kind is EntityKind.STATIC and entity.period is not None:
        yield "period", EntityError("a Static entity has no period", hint="a table refreshed by period is a Snapshot")
    if entity.kind is not EntityKind.STATIC and entity.period is None:
        allowed = ", ".join(period.value for period in Period)
        yield "period", EntityError(f"a {entity.kind.value} entity needs a period", expected=f"one of {allowed}")


def _view(entity: Entity) -> Broken:
    """A view has only a query: it has no slices and stores no rows."""
    plain = Entity(entity.name)
    for key in _OF_TABLES:
        if getattr(entity, key) != getattr(plain, key):
            hint = "a view is read at the business time of the query that names it"
            yield key, EntityError("a View has no slices and is not a table", expected=f"no {key}", hint=hint)
    if any(state.depends_on for state in entity.states) or len(entity.states) > 1:
        yield "depends_on", EntityError("a View depends on what its query reads", expected="no dependencies")


def _columns(entity: Entity) -> Broken:
    names = [name.lower() for name in entity.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        yield "columns", EntityError("a column that is listed twice", found=twice)


def _promise(entity: Entity) -> Broken:
    if entity.alert_margin and entity.ready_by is None:
        yield "alert_margin", EntityError("the entity has no promise", expected="ready_by together with alert_margin")


def _granularity(entity: Entity) -> Broken:
    if entity.granularity is None or entity.period is None:
        return
    if entity.kind is EntityKind.SNAPSHOT:
        yield "granularity", EntityError("a Snapshot is always the full table", hint="its period says how often")
    if entity.kind is EntityKind.CUMULATIVE and entity.granularity.is_finer_than(entity.period):
        yield (
            "granularity",
            EntityError(
                "a Cumulative entity grows within its granularity",
                expected=f"{entity.period} or longer",
                found=entity.granularity.value,
            ),
        )


def _times(entity: Entity) -> Broken:
    try:
        start = _instant(entity.time_zone, entity.week_start, entity.start)
        end = _instant(entity.time_zone, entity.week_start, entity.end)
    except TidemarkError as error:
        key = "start" if isinstance(error, ParseError) else "week_start"
        yield key, EntityError(error.message, expected=error.expected, found=error.found, hint=error.hint)
        return
    if start and end and end <= start:
        yield "end", EntityError("it ends before it starts", expected=f"later than {entity.start}", found=entity.end)


@lru_cache(maxsize=4096)
def _instant(time_zone: str, week_start: str, text: str | None) -> datetime | None:
    """The instant at which a declared day or hour begins. Raises ParseError if the zone's clock skips it."""
    calendar = Calendar(time_zone, week_start)
    return calendar.start_of(text) if text else None


def _states(entity: Entity) -> Broken:
    names = entity.state_names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        yield "states", EntityError(f"the state '{twice}' is declared twice")
    for name in {UNANNOUNCED, ASKED}.intersection(names):
        yield (
            "states",
            EntityError(f"'{name}' cannot be the name of a state", hint="the state store uses this name itself"),
        )


def _sub_partitions(entity: Entity) -> Broken:
    if entity.sub_partitions and prod(len(values) for values in entity.sub_partitions.values()) > SUB_PARTITION_LIMIT:
        problem = EntityError("too many sub-partitions", expected=f"at most {SUB_PARTITION_LIMIT} combinations")
        yield "sub_partitions", problem
        return
    yield from _parts(entity)
    yield from _quorum(entity)


def _parts(entity: Entity) -> Broken:
    """`within` must name values of another dimension, and `start` a time that the clock has."""
    for dimension, values in entity.sub_partitions.items():
        others = {value for name, known in entity.sub_partitions.items() if name != dimension for value in known}
        for value, declared in values.items():
            if declared.within is not None and declared.within not in others:
                message = f"'{value}' is not within a value of another dimension"
                around, expected = declared.within, ", ".join(sorted(others)) or "a second dimension"
                problem = EntityError(message, expected=expected, found=around, hint=did_you_mean(around, others))
                yield f"sub_partitions.{dimension}.{value}.within", problem
            try:
                _instant(declared.time_zone or entity.time_zone, entity.week_start, declared.start)
            except TidemarkError as error:
                problem = EntityError(error.message, expected=error.expected, found=error.found, hint=error.hint)
                yield f"sub_partitions.{dimension}.{value}.start", problem
    if entity.sub_partitions and not any(combinations(entity.sub_partitions)):
        yield "sub_partitions", EntityError("the dimensions have no combination of values")


def _quorum(entity: Entity) -> Broken:
    if entity.quorum is None:
        return
    parts = sum(1 for _ in combinations(entity.sub_partitions))
    if not entity.sub_partitions:
        yield "quorum", EntityError("a quorum needs sub-partitions", expected="sub_partitions together with quorum")
    elif (entity.quorum.count or 0) > parts:
        problem = EntityError(
            "the quorum is larger than the number of sub-partitions",
            expected=f"at most {parts}",
            found=str(entity.quorum),
        )
        yield "quorum", problem


def _probe(entity: Entity) -> Broken:
    """A probe must look at exactly one slice, so that the success of one day never releases another."""
    if entity.probe is None:
        return
    if entity.kind is not EntityKind.VIRTUAL:
        yield (
            "probe",
            EntityError("only data of another system can be probed", expected="kind: Virtual", found=entity.kind.value),
        )
    named = entity.probe.named()
    times = [column.name for column in entity.times]
    unknown = sorted(named - {"window", KEY, *TIMES, *times, *entity.sub_partitions})
    if unknown:
        names = (KEY, *sorted(TIMES), *times, *entity.sub_partitions)
        hint = f"write {', '.join(f'{{{name}}}' for name in dict.fromkeys(names))}"
        yield "probe", EntityError("the slice has no part with this name", found=", ".join(unknown), hint=hint)
    if entity.period is not None and not named & {"window", KEY, *TIMES} and not named.issuperset(times):
        hint = (
            f"name the slice, as {''.join(f'{{{name}}}' for name in times)} or {{start:%Y-%m-%d}}, or give time_column"
        )
        yield "probe", EntityError("the probe would check the same data for every slice", hint=hint)
    if not set(entity.sub_partitions) <= named and entity.probe.own is None:
        missing = ", ".join(f"{{{name}}}" for name in sorted(set(entity.sub_partitions) - named))
        yield "probe", EntityError("the probe would check the same data for every part", expected=missing)
    yield from uncountable_rules(entity, entity.probe)


def _partition_columns(entity: Entity) -> Broken:
    """The columns must distinguish slices, also in the hour that a clock repeats in autumn."""
    if entity.period is None or not entity.partition_columns:
        return
    units = {unit for column in entity.times for unit in column.units}
    missing = [unit for unit in units_of(entity.period) if unit not in units]
    if missing:
        problem = EntityError(
            f"the partition columns do not distinguish each {entity.period}",
            expected=f"also a column with {', '.join(missing)}",
            found=", ".join(f"{column.name}: {column.declared}" for column in entity.partition_columns),
        )
        yield "partition_columns", problem
    number = next((column for column in entity.times if "HH" in column.units and column.type != "string"), None)
    if number is not None and _changes_clock(entity.time_zone):
        yield (
            "partition_columns",
            EntityError(
                f"{number.name} is a number, and cannot distinguish the hour that {entity.time_zone} repeats in autumn",
                expected=f"a text: {number.pattern}",
                found=number.declared,
            ),
        )
    joined = next((column for column in entity.times if {"HH", "mm"} <= {*column.units}), None)
    if joined is not None and _changes_clock(entity.time_zone):
        hint = f"{joined.pattern.partition('mm')[0]} and a separate column with mm"
        yield (
            "partition_columns",
            EntityError(f"{joined.name} does not grow with time when {entity.time_zone} repeats an hour", hint=hint),
        )
    taken = next((column.name for column in entity.times if column.name in entity.sub_partitions), None)
    if taken is not None:
        yield "partition_columns", EntityError(f"'{taken}' is both a sub-partition and a column of time")


def _completeness(entity: Entity) -> Broken:
    if entity.completeness is None:
        return
    if entity.snapshot_of or entity.kind in (EntityKind.VIRTUAL, EntityKind.PROJECT):
        kind = "snapshot_of" if entity.snapshot_of else entity.kind.value
        yield "completeness", EntityError("completeness needs a table of the lake", expected="a table", found=kind)
    if entity.start is None:
        yield "completeness", EntityError("the start of the counts is not declared", expected="start")
    if entity.completeness.capture and entity.source is None:
        yield (
            "completeness",
            EntityError("the source of the counts is not declared", expected="source: {table: ...}, or sql, kafka"),
        )
    if entity.completeness.capture and entity.source is not None and entity.source.start != "earliest":
        problem = "capture counts only changes, not the rows before them"
        yield "completeness", EntityError(problem, expected="start: earliest in source, or sql", hint="count by sql")


def _replicate(entity: Entity) -> Broken:
    is_computed = not (entity.is_static or entity.source or entity.snapshot_of)
    if entity.center and (entity.kind in (EntityKind.VIRTUAL, EntityKind.PROJECT) or not is_computed):
        yield (
            "center",
            EntityError(
                "only a table that is computed by period belongs to a center",
                found="a captured table" if entity.source or entity.snapshot_of else entity.kind.value,
                hint="each center captures and probes for itself: remove `center`",
            ),
        )
    if entity.replicate and entity.kind in (EntityKind.VIRTUAL, EntityKind.PROJECT):
        yield "replicate", EntityError("only a table of the lake can be replicated", found=entity.kind.value)


def _refresh(entity: Entity) -> Broken:
    """Refreshed objects must be named by the slice, or by a longer period that contains the whole slice."""
    if entity.refresh and entity.kind is EntityKind.PROJECT:
        yield (
            "refresh",
            EntityError(
                "a project's start or end has no rows to refresh", hint="declare refresh at a table of the project"
            ),
        )
    known = [KEY, *(sorted(TIMES) if entity.period else ()), *_levels(entity), *entity.sub_partitions]
    is_partition = entity.source is None and entity.snapshot_of is None and entity.kind is not EntityKind.VIRTUAL
    for at, told in enumerate(entity.refresh):
        unknown = sorted(told.named() - {*known})
        if unknown:
            hint = f"write {', '.join(f'{{{name}}}' for name in known)}"
            yield (
                ("refresh", at),
                EntityError("the slice has no part with this name", found=", ".join(unknown), hint=hint),
            )
        if told.table is not None and not is_partition:
            problem = "its slices are not partitions of a table"
            yield ("refresh", at), EntityError(problem, hint="declare refresh at a table that is computed from it")


def _levels(entity: Entity) -> list[str]:
    if entity.period is None or entity.period is Period.WEEK:
        return []
    return [name for name, period in LEVELS.items() if not period.is_finer_than(entity.period)]


@lru_cache(maxsize=1024)
def _changes_clock(time_zone: str) -> bool:
    """Whether the clock of a zone has changes since 2000."""
    return any(change >= _SECONDS_TO_2000 for change in Zone.load(time_zone).changes)


def _snapshot(entity: Entity) -> Broken:
    if entity.snapshot_of and entity.kind is not EntityKind.SNAPSHOT:
        yield "snapshot_of", EntityError("only a Snapshot can tag versions of another entity", found=entity.kind.value)
    if entity.snapshot_of and entity.source:
        yield "source", EntityError("a snapshot of another entity cannot have a source")
    if entity.source or entity.snapshot_of:
        return
    of_captured = {
        "late_events": (entity.late_events is LateEvents.RESTATE, "only snapshots of a captured table can be restated"),
        "allowed_lateness": (entity.allowed_lateness, "only snapshots of a captured table can wait for late events"),
        "keep_snapshots": (entity.keep_snapshots is not None, "only snapshots of a captured table are kept by tags"),
    }
    for field, (is_set, message) in of_captured.items():
        if is_set:
            yield field, EntityError(message, hint="it needs source or snapshot_of")
