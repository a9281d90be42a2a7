"""Tags of a table's versions: from the capture for slices, from people, and from replications.

A captured table has the tags of every entity that is made from it. All tags keep their versions from VACUUM.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.compute.errors import RepairSourceError, SnapshotMissingError
from tidemark.delta.delta_rs_table import current_version, table_metrics
from tidemark.delta.errors import VersionGoneError
from tidemark.delta.iceberg_metadata import versions_in_use
from tidemark.delta.retention import Claim
from tidemark.state_store.slice_copies import SliceCopies
from tidemark.state_store.snapshot_registry import TaggedSnapshot
from tidemark.warehouse.dagster_partition_keys import period_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.snapshot_registry import SnapshotRegistry
    from tidemark.warehouse.warehouse import Warehouse

BY_HAND: Final = "name"
REPLICATION: Final = "replication"
"""Kinds of tags without a period, which have this in its place."""


def tags_of(warehouse: Warehouse, registry: SnapshotRegistry, entity: str) -> tuple[TaggedSnapshot, ...]:
    """All tags of versions of the entity's table, sorted by version."""
    sharing = warehouse.entities_sharing(warehouse.table_path(entity))
    tags = (tag for name in sharing for tag in registry.of(name))
    return tuple(sorted(tags, key=lambda tag: (tag.version, tag.entity, tag.period, tag.slice)))


def readable_snapshot(warehouse: Warehouse, registry: SnapshotRegistry, slice_: Slice) -> TaggedSnapshot:
    """The tagged version of the slice, after any wait for late events. Raises SnapshotMissingError."""
    period = period_of(warehouse.graph, slice_.entity)
    tagged = registry.get(slice_.entity, period, slice_.key)
    if tagged is None:
        candidate = registry.candidates.get(slice_.entity, period, slice_.key)
        if candidate is not None and not candidate.snapshot.waits_for_late:
            raise SnapshotMissingError.untagged(slice_, candidate.reason, _tagged_before(registry, slice_, period))
        tagged = candidate.snapshot if candidate else None
    return _require_whole(slice_, tagged)


def judged_snapshot(warehouse: Warehouse, registry: SnapshotRegistry, slice_: Slice) -> TaggedSnapshot:
    """The version that a run judges: the slice's candidate, or else its tag. Raises SnapshotMissingError."""
    return _require_whole(slice_, registry.newest(slice_.entity, period_of(warehouse.graph, slice_.entity), slice_.key))


def _require_whole(slice_: Slice, snapshot: TaggedSnapshot | None) -> TaggedSnapshot:
    if snapshot is None:
        raise SnapshotMissingError.of(slice_)
    if snapshot.waits_for_late:
        raise SnapshotMissingError.waits(slice_, snapshot.late_until)
    return snapshot


def _tagged_before(registry: SnapshotRegistry, slice_: Slice, period: str) -> TaggedSnapshot | None:
    """The newest tag of the entity before a slice."""
    before = [tag for tag in registry.of(slice_.entity, period) if tag.slice < slice_.key and not tag.waits_for_late]
    return before[-1] if before else None


def claims_of_tags(warehouse: Warehouse, registry: SnapshotRegistry, entity: str) -> list[Claim]:
    """The reasons why VACUUM must keep versions of the entity's table."""
    claims = [Claim(tag.version, _words(tag)) for tag in tags_of(warehouse, registry, entity)]
    sharing = warehouse.entities_sharing(warehouse.table_path(entity))
    candidates = (candidate.snapshot for name in sharing for candidate in registry.candidates.of(name))
    claims += [Claim(snapshot.version, f"{_words(snapshot)}, not tagged yet") for snapshot in candidates]
    return [*claims, *_claims_of_copies(warehouse, registry, sharing), *_claims_of_iceberg(warehouse, sharing)]


def _claims_of_copies(warehouse: Warehouse, registry: SnapshotRegistry, entities: Iterable[str]) -> Iterator[Claim]:
    """Versions that a replica does not have yet."""
    for name in entities:
        for place in warehouse.entities[name].replicate:
            for copy in SliceCopies(registry.database, place, name).all().values():
                if copy.is_open:
                    yield Claim(copy.version, f"{copy.slice} is not at {place} yet")


def _claims_of_iceberg(warehouse: Warehouse, entities: Iterable[str]) -> Iterator[Claim]:
    """Versions that readers of Iceberg's metadata read."""
    for name in entities:
        if "iceberg" in warehouse.entities[name].read_by:
            for version in versions_in_use(warehouse.settings.warehouse, name):
                yield Claim(version, f"{name} in Iceberg")


def _words(snapshot: TaggedSnapshot) -> str:
    return f"{snapshot.entity} {snapshot.slice} [{snapshot.period}]"


def version_of_tag(warehouse: Warehouse, registry: SnapshotRegistry, entity: str, name: str) -> int:
    """The version of a tag of the entity's table. Raises RepairSourceError."""
    there = tags_of(warehouse, registry, entity)
    versions = {tag.version for tag in there if tag.slice == name}
    if late := next((tag for tag in there if tag.slice == name and (tag.is_restated or tag.waits_for_late)), None):
        raise RepairSourceError.restated(entity, name, late.version)
    if len(versions) != 1:
        raise RepairSourceError.no_tag(entity, name, [tag.slice for tag in there])
    return versions.pop()


def tag_version(
    warehouse: Warehouse,
    registry: SnapshotRegistry,
    entity: str,
    name: str,
    now: datetime,
    version: int | None = None,
    kind: str = BY_HAND,
) -> TaggedSnapshot:
    """Tags a version, by default the newest. Raises VersionGoneError, SnapshotTagTakenError, FileNotFoundError."""
    path = warehouse.table_path(entity)
    newest = current_version(path)
    if version is not None and newest is not None and not 0 <= version <= newest:
        raise VersionGoneError.unknown(path, version, newest)
    metrics = table_metrics(path, version=version)
    tagged = TaggedSnapshot(entity, kind, name, metrics.version, metrics.rows, now)
    registry.tag([tagged])
    return tagged
