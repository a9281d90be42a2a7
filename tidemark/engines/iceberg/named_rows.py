"""The slices and tags of an entity that get a tag in Iceberg, from the state store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from sqlalchemy import select

from tidemark.catalog.catalog import TO_COME
from tidemark.catalog.told_data import NOTHING, told_data
from tidemark.compute.business_time import slice_values
from tidemark.compute.table_version_tags import BY_HAND
from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.state_store.row_codec import CURRENT, current_of
from tidemark.state_store.schema import SLICES

if TYPE_CHECKING:
    from tidemark.delta.delta_rs_table import Partition
    from tidemark.state_store.snapshot_registry import SnapshotRegistry
    from tidemark.warehouse.warehouse import Warehouse

MAIN: Final = "main"
"""Iceberg's branch of the newest version. No tag can have this name."""
MOST: Final = 1_000
"""The most slices of an entity that have a tag: the newest ones. All metadata is one file."""


class NamedRows(NamedTuple):
    """All rows of `version`, or those of a partition if it has columns. A slice with an unknown version has None."""

    name: str
    version: int | None
    generation: int
    partition: Partition
    is_fixed: bool
    """Whether the version is tagged, so that VACUUM keeps it."""


def named_rows(warehouse: Warehouse, registry: SnapshotRegistry, entity: str) -> list[NamedRows]:
    """The newest slices that are complete, and tags by hand. Restated snapshots are not one version: left out."""
    period = str(warehouse.entities[entity].period)
    tags = [tag for tag in registry.of(entity) if not tag.is_restated and not tag.waits_for_late]
    by_hand = [tag for tag in tags if tag.period == BY_HAND]
    slices = [tag for tag in tags if tag.period == period][-MOST:]
    named = [NamedRows(tag.slice, tag.version, tag.generation, {}, is_fixed=True) for tag in (*by_hand, *slices)]
    if not warehouse.is_snapshot(entity):
        named += _computed(warehouse, registry, entity)
    return [*{rows.name: rows for rows in named if rows.name != MAIN}.values()]


def _computed(warehouse: Warehouse, registry: SnapshotRegistry, entity: str) -> list[NamedRows]:
    columns, declared = SLICES.c, warehouse.entities[entity]
    query = select(*(columns[name] for name in CURRENT)).where(columns.entity == entity, columns.life.not_in(TO_COME))
    with registry.database.reading() as connection:
        held = connection.execute(query.order_by(columns.key.desc(), columns.sub).limit(MOST)).all()
    complete = [current for current in map(current_of, held) if COMPLETED in current.status.states]
    told = told_data(registry.database, [current.slice for current in complete])
    return [
        NamedRows(
            str(current.slice).partition("@")[2],
            told.get(current.slice, NOTHING).version,
            current.status.generation,
            slice_values(declared, current.slice),
            is_fixed=False,
        )
        for current in reversed(complete)
    ]
