"""Which slices are older than what computes them now: each materialization holds the version of its code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.warehouse.code_version import code_version
from tidemark.warehouse.dagster_partition_keys import slice_key

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tidemark.dependency_model.entity import Entity
    from tidemark.warehouse.code_version import DeclaredCode

_CODE: Final = "dagster/code_version"
_LOOKED_AT: Final = 1_000
"""So many of an asset's newest materializations are looked at."""


def outdated_slices(home: Path, declared: DeclaredCode, entities: Iterable[Entity]) -> dict[str, list[str]]:
    """By entity the keys of the slices that other code computed, in order of time; entities without any are left out.

    `home` is Dagster's folder. A materialization that says nothing of its code (one that was reported) is passed over.
    """
    with dg.DagsterInstance.from_config(str(home)) as instance:
        outdated = {
            entity.name: _outdated(instance, entity, code_version(declared, entity))
            for entity in entities
            if entity.name in declared.queries or entity.name in declared.functions
        }
    return {name: keys for name, keys in outdated.items() if keys}


def _outdated(instance: dg.DagsterInstance, entity: Entity, current: str) -> list[str]:
    wanted = dg.AssetRecordsFilter(asset_key=dg.AssetKey([entity.name]))
    newest: dict[str, str] = {}
    for record in instance.fetch_materializations(wanted, limit=_LOOKED_AT).records:
        event = record.asset_materialization
        if event and event.partition and event.tags and _CODE in event.tags:
            newest.setdefault(event.partition, event.tags[_CODE])
    period = str(entity.period)
    return sorted(slice_key(period, partition) for partition, version in newest.items() if version != current)
