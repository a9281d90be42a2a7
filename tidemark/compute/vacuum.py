"""VACUUM of an entity's table: tagged versions are kept, also for tags that the state store has lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.capture.snapshots.tagging import tag_missing
from tidemark.compute.table_version_tags import claims_of_tags
from tidemark.delta.vacuum import plan_vacuum
from tidemark.delta.vacuum import vacuum as vacuum_table

if TYPE_CHECKING:
    from tidemark.delta.retention import Claim, Retention
    from tidemark.delta.vacuum import VacuumPlan
    from tidemark.state_store.snapshot_registry import SnapshotRegistry
    from tidemark.warehouse.warehouse import Warehouse


def plan_entity_vacuum(
    warehouse: Warehouse, registry: SnapshotRegistry, entity: str, retention: Retention
) -> VacuumPlan:
    """The effect of `vacuum_entity`, without deleting. Raises UnknownEntityError, and errors of plan_vacuum."""
    claims = _claims(warehouse, registry, entity)
    return plan_vacuum(warehouse.table_path(entity), retention, claims, registry.database)


def vacuum_entity(warehouse: Warehouse, registry: SnapshotRegistry, entity: str, retention: Retention) -> VacuumPlan:
    """Deletes the files that no kept version needs. Raises UnknownEntityError, and errors of tidemark.delta.vacuum."""
    claims = _claims(warehouse, registry, entity)
    return vacuum_table(warehouse.table_path(entity), retention, claims, registry.database)


def _claims(warehouse: Warehouse, registry: SnapshotRegistry, entity: str) -> list[Claim]:
    """Restores tags that the store lost or never had: they are still in the table's log."""
    warehouse.graph.entity(entity)
    path = warehouse.table_path(entity)
    audited = [name for name in warehouse.entities_sharing(path) if warehouse.entities[name].has_blocking_rules]
    tag_missing(registry, path, audited=audited)
    return claims_of_tags(warehouse, registry, entity)


def vacuum_as_data(entity: str, plan: VacuumPlan, dry_run: bool) -> dict[str, Any]:  # noqa: FBT001 - reported, not decided by
    """The plan as data."""
    kept = [
        {"version": version.version, "reasons": list(version.reasons), "only_bytes": plan.only.get(version.version, 0)}
        for version in plan.kept
    ]
    return {
        "entity": entity,
        "version": plan.newest,
        "dry_run": dry_run,
        "kept": kept,
        "files_deleted": len(plan.needless),
        "bytes_deleted": plan.needless_bytes,
        "live_bytes": plan.live_bytes,
        "history_bytes": plan.history_bytes,
    }
