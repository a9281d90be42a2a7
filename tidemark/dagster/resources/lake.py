"""The lake as a Dagster resource: its folders, and slices of its tables for assets that users write."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa
from pydantic import Field

from tidemark.compute.business_time import slice_values
from tidemark.compute.errors import SnapshotRestatedError
from tidemark.compute.table_version_tags import readable_snapshot

# Dagster reads the annotations of a resource's fields.
from tidemark.dagster.resources.state_store import StateStoreResource  # noqa: TC001
from tidemark.dagster_internals.fixed_resource import FixedResource
from tidemark.delta.delta_rs_table import read_partition, read_rows
from tidemark.delta.open_table import open_table
from tidemark.dependency_model.slice import STATIC_KEY, Slice
from tidemark.system.settings import Settings
from tidemark.system.table_location import table_location
from tidemark.warehouse.dagster_partition_keys import slice_of
from tidemark.warehouse.warehouse import Warehouse, load_warehouse

if TYPE_CHECKING:
    from deltalake import DeltaTable

    from tidemark.dependency_model.slice import Slice


class LakeResource(FixedResource):
    """The place of the Delta tables, from which a plain asset reads slices.

    Snapshots are read at their tagged version and computed tables by partition, without Spark.
    """

    tables: str = Field(
        description="The folder with one Delta table for each entity, on disk, in an object store or in HDFS."
    )
    data: str = Field(description="The folder of locks, caches and recorded filters.")
    declarations: str = Field(description="The folder of the entities' declarations.")
    state_store: StateStoreResource

    @classmethod
    def of(cls, settings: Settings, state_store: StateStoreResource) -> Self:
        """The resource with the project's settings."""
        return cls(
            tables=str(settings.warehouse),
            data=str(settings.data),
            declarations=str(settings.declarations),
            state_store=state_store,
        )

    def as_settings(self) -> dict[str, Any]:
        """The fields of Settings that this resource decides."""
        return {"warehouse": table_location(self.tables), "data": Path(self.data)}

    def read(self, entity: str, partition: str) -> pa.Table:
        """The rows of a slice, without columns of its business time; `partition` is Dagster's name.

        Raises UnknownEntityError, SnapshotMissingError, SnapshotRestatedError.
        """
        slice_ = self._slice(entity, partition)
        path = self._warehouse.table_path(entity)
        if self._warehouse.is_snapshot(entity):
            return read_rows(path, self._version(slice_))
        return read_partition(path, slice_values(self._warehouse.entities[entity], slice_))

    def read_whole(self, entity: str, partition: str | None) -> pa.Table:
        """The rows of a slice, with the columns of its business time last; no partition means a static table.

        Raises the errors of `read`.
        """
        slice_ = self._slice(entity, partition)
        rows, declared = self.read(entity, partition or STATIC_KEY), self._warehouse.entities[entity]
        for name, value in slice_values(declared, slice_).items():
            if name not in rows.column_names:
                rows = rows.append_column(name, pa.repeat(pa.scalar(value), rows.num_rows))
        return rows

    def has(self, entity: str) -> bool:
        """Whether the table is declared in Tidemark."""
        return entity in self._warehouse.entities

    def table(self, entity: str, partition: str) -> DeltaTable:
        """The Delta table for other readers: a snapshot's tagged version, a computed table's newest one.

        Raises the errors of `read`.
        """
        is_snapshot = self._warehouse.is_snapshot(entity)
        version = self._version(self._slice(entity, partition)) if is_snapshot else None
        return open_table(self._warehouse.table_path(entity), version)

    def _slice(self, entity: str, partition: str | None) -> Slice:
        self._warehouse.graph.entity(entity)
        return slice_of(self._warehouse.entities[entity], partition)

    def _version(self, slice_: Slice) -> int:
        tagged = readable_snapshot(self._warehouse, self.state_store.registry(), slice_)
        if tagged.is_restated:
            raise SnapshotRestatedError.of(slice_, tagged.version)
        return tagged.version

    @property
    def _warehouse(self) -> Warehouse:
        return _warehouse_at(Settings.at(Path(self.data), warehouse=self.tables), Path(self.declarations))


@functools.lru_cache(maxsize=4)
def _warehouse_at(settings: Settings, declarations: Path) -> Warehouse:
    """Load the warehouse once in a process, because a process ends when its sources change."""
    return load_warehouse(settings, declarations)
