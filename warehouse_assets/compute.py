"""Computing one slice: inputs as views, the entity's SQL, one partition replaced, checked. Idempotent."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from resources.delta.partition import replace_partition
from resources.delta.table import read_table, table_metrics
from warehouse_assets.business_time import partition_columns, partition_values
from warehouse_assets.errors import SnapshotMissingError
from warehouse_assets.inputs import Inputs
from warehouse_assets.metadata import event_time_columns, preview_table
from warehouse_assets.quality import CheckResult, run_checks

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from dependency_model.slice import Slice
    from resources.state_store.registry import SnapshotRegistry
    from warehouse_assets.warehouse import Warehouse


@dataclass(frozen=True)
class ComputedSlice:
    """A slice as it now is in storage; `event_times` are the least and greatest time in its rows, as text."""

    slice: Slice
    path: Path
    rows: int
    size_bytes: int
    version: int
    seconds: float
    event_times: tuple[str, str] | None
    preview: str
    checks: tuple[CheckResult, ...]


class Computer:
    """Computes slices with one Spark session of its own; not for several threads at once."""

    def __init__(self, spark: SparkSession, warehouse: Warehouse, registry: SnapshotRegistry) -> None:
        self._session = spark.newSession()
        self._warehouse = warehouse
        self._registry = registry
        self._inputs = Inputs(self._session, warehouse, registry)

    def compute(self, slice_: Slice) -> ComputedSlice:
        """Compute, write and check a slice of a SQL entity."""
        started = time.monotonic()
        entity = self._warehouse.entities[slice_.entity]
        partition = partition_values(str(entity.period), slice_.key)
        path = self._warehouse.table_path(slice_.entity)
        written = replace_partition(self._inputs.query(slice_).coalesce(1), path, partition)
        rows = self.rows(slice_, written.metrics.version)
        return self._computed(
            slice_, started, rows, written.metrics.rows, written.metrics.size_bytes, written.metrics.version
        )

    def snapshot(self, slice_: Slice) -> ComputedSlice:
        """Check and describe a named snapshot; nothing is written. Raises SnapshotMissingError."""
        started = time.monotonic()
        named = self._registry.get(slice_.entity, str(self._warehouse.entities[slice_.entity].period), slice_.key)
        if named is None:
            raise SnapshotMissingError.of(slice_)
        path = self._warehouse.table_path(slice_.entity)
        metrics = table_metrics(path, version=named.version)
        rows = read_table(self._session, path, named.version)
        return self._computed(slice_, started, rows, metrics.rows, metrics.size_bytes, named.version)

    def rows(self, slice_: Slice, version: int | None = None) -> DataFrame:
        """The rows of a computed slice, without its partition columns."""
        period = str(self._warehouse.entities[slice_.entity].period)
        table = self.table(slice_.entity, version)
        for name, value in partition_values(period, slice_.key).items():
            table = table.where(F.col(name) == F.lit(value))
        return table.drop(*partition_columns(period))

    def table(self, name: str, version: int | None = None) -> DataFrame:
        """The whole table of a computed entity."""
        return read_table(self._session, self._warehouse.table_path(name), version)

    def _computed(
        self, slice_: Slice, started: float, rows: DataFrame, count: int, size: int, version: int
    ) -> ComputedSlice:
        checks = run_checks(self._warehouse.entities[slice_.entity].quality, rows, self._inputs, slice_)
        return ComputedSlice(
            slice=slice_,
            path=self._warehouse.table_path(slice_.entity),
            rows=count,
            size_bytes=size,
            version=version,
            event_times=_event_times(rows),
            preview=preview_table(rows),
            checks=checks,
            seconds=time.monotonic() - started,
        )


def _event_times(rows: DataFrame) -> tuple[str, str] | None:
    columns = event_time_columns(rows)
    if not columns:
        return None
    least = [F.min(F.col(name).cast("string")) for name in columns]
    most = [F.max(F.col(name).cast("string")) for name in columns]
    found = rows.select(*least, *most).first()
    values = [value for value in found or () if value is not None]
    return (min(values), max(values)) if values else None
