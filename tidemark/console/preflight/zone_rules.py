"""Checks whether Java has the same time zone rules as the slices."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from tidemark.spark.java import java_command
from tidemark.spark.java_zone_rules import differences, java_zone_rules
from tidemark.system.check_finding import Finding
from tidemark.warehouse.declarations import read_declarations

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.dependency_model.entity import Entity
    from tidemark.system.settings import Settings

_SUBJECT: Final = "Rules of time zones"
_TO_DO: Final = "update Java: runs of later slices are refused until its rules equal those of the package tzdata"


def zone_rules(settings: Settings, env: Mapping[str, str], now: datetime | None = None) -> list[Finding]:
    """A finding for each zone whose rules differ during the project's slices."""
    command = java_command(env)
    java = java_zone_rules(command)
    if java is None:
        return []
    instant = int((now or datetime.now(UTC)).timestamp())
    findings = []
    for zone, start in sorted(_starts(read_declarations(settings.declarations, settings).entities.values()).items()):
        touched = [first for first, after in differences(zone, command) if after > start]
        if touched:
            first = max(touched[0], start)
            day = datetime.fromtimestamp(first, UTC).date().isoformat()
            told = f"{zone} from {day} on: Java has {java.version}, slices go by {version('tzdata')}"
            findings.append(Finding(_SUBJECT, "problem" if first <= instant else "warning", told, _TO_DO))
    return findings


def _starts(entities: Iterable[Entity]) -> dict[str, int]:
    """Time zones of entities and parts, each with the instant from which it is used."""
    starts: dict[str, int] = {}
    for entity in entities:
        first = int(entity.calendar.start_of(entity.start).timestamp()) if entity.start else 0
        parts = [part for values in entity.sub_partitions.values() for part in values.values()]
        for zone in {entity.time_zone, *(part.time_zone for part in parts if part.time_zone)}:
            starts[zone] = min(first, starts.get(zone, first))
    return starts
