"""Quality rules that an entity cannot have: no slices to compare with, or a source that cannot count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.entity.profile_settings import Anomalies
from tidemark.dependency_model.entity.quality_rules import (
    AcceptedValues,
    Drift,
    Freshness,
    NotNull,
    RowCount,
    Unique,
    WithinRange,
)
from tidemark.dependency_model.time.period import Period
from tidemark.errors import EntityError

if TYPE_CHECKING:
    from tidemark.dependency_model.entity.entity import Entity
    from tidemark.dependency_model.entity.probe import Probe
    from tidemark.dependency_model.entity.quality_rules import QualityRule

Broken = Iterator[tuple[str | tuple[str | int, ...], EntityError]]
"""A key or its path, and the problem there."""


def wrong_rules(entity: Entity) -> Broken:
    """(key, problem) of each."""
    yield from _of_times(entity)
    yield from _drift(entity)
    yield from _anomalies(entity)


def _of_times(entity: Entity) -> Broken:
    """Rules that compare times need an entity with a period."""
    for at, rule in enumerate(entity.quality):
        place = ("quality", at)
        if isinstance(rule, Freshness) and entity.period is None:
            yield place, EntityError("freshness needs the end of a slice", expected="an entity with a period")
        if not isinstance(rule, RowCount):
            continue
        if rule.looks_back and entity.period is None:
            yield place, _no_other_slices()
        elif rule.same_weekday is not None and entity.period is not None and Period.DAY.is_finer_than(entity.period):
            problem = EntityError("a slice has no weekday", expected="day or shorter", found=f"a {entity.period}")
            yield place, problem


def _drift(entity: Entity) -> Broken:
    """Drift compares profiles, so the column must be profiled."""
    rules = [("quality", at, rule) for at, rule in enumerate(entity.quality)]
    rules += [("quality_on_anomaly", at, rule) for at, rule in enumerate(entity.quality_on_anomaly)]
    for key, at, rule in rules:
        if not isinstance(rule, Drift) or entity.probe is not None:
            continue
        profiled = entity.profiled
        if entity.period is None:
            yield (
                (key, at),
                EntityError("there are no other slices to compare with", expected="an entity with a period"),
            )
        elif key != "quality":
            yield (
                (key, at),
                EntityError("drift finds the same as the search for anomalies", hint="write it below quality"),
            )
        elif profiled is None or not profiled.of((rule.column,)):
            hint = f"profile: {{columns: [{rule.column}]}}"
            yield (key, at), EntityError(f"{rule.column} has no profile to compare with", hint=hint)


def _no_other_slices() -> EntityError:
    return EntityError("there are no other slices to compare with", expected="an entity with a period")


def _anomalies(entity: Entity) -> Broken:
    is_compared = entity.profiled is not None and entity.anomalies is not Anomalies.OFF and entity.period is not None
    if entity.quality_on_anomaly and not is_compared:
        hint = "switch on its profile, or write the rules below quality"
        yield "quality_on_anomaly", EntityError("anomalies are never searched for, so these rules never run", hint=hint)


_COUNTING_SOURCES: Final = frozenset({"sql", "delta", "files", "partitions"})
"""Probes whose source can count the rows that break a rule."""
_COUNTED_BY_SOURCE: Final = tuple(
    rule.NAME for rule in (RowCount, NotNull, Unique, AcceptedValues, WithinRange, Freshness)
)


def uncountable_rules(entity: Entity, probe: Probe) -> Broken:
    """Rules that the source of an external entity cannot count."""
    counted = _COUNTED_BY_SOURCE if probe.kind in _COUNTING_SOURCES else (RowCount.NAME,)
    others = sorted({_in_short(rule) for rule in entity.quality} - set(counted))
    if others:
        problem = f"the probe {probe.kind} cannot count this"
        yield "quality", EntityError(problem, expected=", ".join(counted), found=", ".join(others))
    if entity.period is None and any(isinstance(rule, Freshness) for rule in entity.quality):
        yield "quality", EntityError("freshness needs the end of a slice", hint="give the entity a period")
    if entity.quality and not probe.counts_rows:
        yield (
            "quality",
            EntityError(
                "the probe does not count rows", hint="give http the field with their number: rows: data.count"
            ),
        )


def _in_short(rule: QualityRule) -> str:
    """A rule's name, with the keys that need more than a number of rows."""
    needs = tuple(name for name in ("where", "quarantine") if getattr(rule, name))
    if isinstance(rule, RowCount):
        needs += tuple(name for name in ("growth", "same_weekday") if getattr(rule, name) is not None)
    return f"{rule.NAME} with {' and '.join(needs)}" if needs else rule.NAME
