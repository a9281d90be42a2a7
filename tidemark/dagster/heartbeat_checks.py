"""The check `heartbeat` of every captured entity. It fails while a broken instance holds its snapshots back (B3).

The heartbeat sensor reports changes. A run of the asset and a button on Dagster's page run it too. It does not block: a
tagged snapshot is complete, whatever happened since.
"""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.capture.heartbeat.idle_or_broken import Health
from tidemark.capture.heartbeat.liveness import Liveness
from tidemark.state_store.database import Database

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.capture.heartbeat.idle_or_broken import Diagnosis
    from tidemark.warehouse.warehouse import Warehouse

NAME: Final = "heartbeat"

Broken = tuple["Diagnosis", ...]


def broken_by_entity(warehouse: Warehouse, heard: Liveness, now: datetime) -> dict[str, Broken]:
    """The instances that hold back each captured entity, including entities that are snapshots of another's table."""
    by_entity: dict[str, Broken] = {}
    for source in warehouse.source_tables():
        judged = [heard.diagnosis(instance, None, now, source.threshold) for instance in source.instances]
        broken = tuple(diagnosis for diagnosis in judged if diagnosis.health is Health.BROKEN)
        by_entity.update((entity, broken) for entity, _, _ in source.snapshot_series)
    return by_entity


def describe_broken(broken: Sequence[Diagnosis]) -> str:
    """The broken instances, since when and why."""
    if not broken:
        return "no instance is broken"
    return "; ".join(
        f"instance {diagnosis.instance} is broken since {_since(diagnosis)}: {diagnosis.reason}" for diagnosis in broken
    )


def metadata(broken: Sequence[Diagnosis]) -> Mapping[str, str]:
    """The broken instances as metadata, one entry for each."""
    return {f"{diagnosis.instance} broken since": _since(diagnosis) for diagnosis in broken}


def heard(warehouse: Warehouse) -> Liveness:
    """The liveness after the last steps of the capture. Raises StateStoreDownError."""
    with closing(Database.of(warehouse.settings)) as database:
        return Liveness.of(database)


def heartbeat_checks(warehouse: Warehouse) -> list[dg.AssetChecksDefinition]:
    """A check for each captured entity; none if no heartbeats are written."""
    if not warehouse.settings.databases.get_secret_value():
        return []
    return [
        _check(warehouse, entity) for source in warehouse.source_tables() for entity, _, _ in source.snapshot_series
    ]


def _check(warehouse: Warehouse, entity: str) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=entity, name=NAME, description="Fails while an instance whose heartbeats do not arrive holds it back."
    )
    def check() -> dg.AssetCheckResult:
        broken = broken_by_entity(warehouse, heard(warehouse), datetime.now(UTC))[entity]
        return dg.AssetCheckResult(passed=not broken, description=describe_broken(broken), metadata=metadata(broken))

    return check


def _since(diagnosis: Diagnosis) -> str:
    return diagnosis.since.isoformat(sep=" ", timespec="seconds") if diagnosis.since else "the beginning"
