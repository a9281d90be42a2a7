"""Names of a table's versions: those that the capture gives to slices, those of people, those of replications.

A captured table has the names of every entity that is cut from it; all of them keep their versions from VACUUM.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.compute.errors import RepairSourceError, SnapshotMissingError
from tidemark.delta.errors import VersionGoneError
from tidemark.delta.retention import Claim
from tidemark.delta.table import current_version, table_metrics
from tidemark.state_store.snapshot_registry import TaggedSnapshot
from tidemark.warehouse.partition_keys import period_of

if TYPE_CHECKING:
    from datetime import datetime

    from tidemark.compute.runtime import Runtime
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.snapshot_registry import SnapshotRegistry
    from tidemark.warehouse.warehouse import Warehouse

BY_HAND: Final = "name"
REPLICATION: Final = "replication"
"""Where slices have their period, such names have these words."""


def names_of(warehouse: Warehouse, registry: SnapshotRegistry, entity: str) -> tuple[TaggedSnapshot, ...]:
    """All names of versions of the entity's table, by version."""
    path = warehouse.table_path(entity)
    sharing = [name for name in warehouse.entities if warehouse.table_path(name) == path]
    found = (one for name in sharing for one in registry.of(name))
    return tuple(sorted(found, key=lambda one: (one.version, one.entity, one.period, one.slice)))


def readable_snapshot(warehouse: Warehouse, registry: SnapshotRegistry, slice_: Slice) -> TaggedSnapshot:
    """The version that the slice is a tag for, once nothing is waited for. Raises SnapshotMissingError."""
    tagged = registry.get(slice_.entity, period_of(warehouse.graph, slice_.entity), slice_.key)
    if tagged is None:
        raise SnapshotMissingError.of(slice_)
    if tagged.waits_for_late:
        raise SnapshotMissingError.waits(slice_, tagged.late_until)
    return tagged


def claims_of_names(warehouse: Warehouse, registry: SnapshotRegistry, entity: str) -> list[Claim]:
    """Why VACUUM has to keep versions of the entity's table."""
    return [
        Claim(one.version, f"{one.entity} {one.slice} [{one.period}]") for one in names_of(warehouse, registry, entity)
    ]


def version_named(runtime: Runtime, entity: str, name: str) -> int:
    """The version that a name of the entity's table stands for. Raises RepairSourceError."""
    there = names_of(runtime.warehouse, runtime.registry, entity)
    versions = {one.version for one in there if one.slice == name}
    if late := next((one for one in there if one.slice == name and (one.is_restated or one.waits_for_late)), None):
        raise RepairSourceError.reopened(entity, name, late.version)
    if len(versions) != 1:
        raise RepairSourceError.no_name(entity, name, [one.slice for one in there])
    return versions.pop()


def give_name(
    runtime: Runtime, entity: str, name: str, now: datetime, version: int | None = None, kind: str = BY_HAND
) -> TaggedSnapshot:
    """Name a version, the newest by default. Raises VersionGoneError, SnapshotTagTakenError, FileNotFoundError."""
    path = runtime.warehouse.table_path(entity)
    newest = current_version(path)
    if version is not None and newest is not None and not 0 <= version <= newest:
        raise VersionGoneError.unknown(path, version, newest)
    metrics = table_metrics(path, version=version)
    named = TaggedSnapshot(entity, kind, name, metrics.version, metrics.rows, now)
    runtime.registry.tag([named])
    return named
