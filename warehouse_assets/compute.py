"""Computing one slice: inputs as views, the entity's SQL, one partition replaced, checked. Idempotent."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from resources.delta.partition import replace_partition
from resources.delta.table import read_table, table_metrics
from warehouse_assets.business_time import partition_values
from warehouse_assets.errors import SnapshotMissingError
from warehouse_assets.inputs import Inputs
from warehouse_assets.metadata import PREVIEW_ROWS, preview_table
from warehouse_assets.quality import Audit, CheckResult, audit

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from dependency_model.slice import Slice
    from resources.delta.table import TableMetrics
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
        """Compute, check and write a slice of a SQL entity. Raises SnapshotMissingError, SchemaChangedError."""
        started = time.monotonic()
        path = self._warehouse.table_path(slice_.entity)
        rows = self._inputs.query(slice_).persist()
        try:
            found = audit(self._warehouse.entities[slice_.entity].quality, rows, self._inputs, slice_)
            written = replace_partition(rows, path, self._partition(slice_))
            preview = preview_table(rows.columns, rows.take(PREVIEW_ROWS))
        finally:
            rows.unpersist()
        return self._computed(slice_, started, written.metrics, found, preview)

    def snapshot(self, slice_: Slice) -> ComputedSlice:
        """Check and describe a named snapshot; nothing is written. Raises SnapshotMissingError."""
        started = time.monotonic()
        entity = self._warehouse.entities[slice_.entity]
        named = self._registry.get(slice_.entity, str(entity.period), slice_.key)
        if named is None:
            raise SnapshotMissingError.of(slice_)
        path = self._warehouse.table_path(slice_.entity)
        rows = read_table(self._session, path, named.version)
        if not entity.quality:
            return self._computed(slice_, started, table_metrics(path, version=named.version), Audit((), None), "")
        found = audit(entity.quality, rows, self._inputs, slice_)
        preview = preview_table(rows.columns, rows.take(PREVIEW_ROWS))
        return self._computed(slice_, started, table_metrics(path, version=named.version), found, preview)

    def rows(self, slice_: Slice) -> DataFrame:
        """The rows of a computed slice as stored, without its partition columns."""
        table = read_table(self._session, self._warehouse.table_path(slice_.entity))
        partition = self._partition(slice_)
        for name, value in partition.items():
            table = table.where(F.col(name) == F.lit(value))
        return table.drop(*partition)

    def _partition(self, slice_: Slice) -> dict[str, date | str]:
        return partition_values(str(self._warehouse.entities[slice_.entity].period), slice_.key)

    def _computed(
        self, slice_: Slice, started: float, metrics: TableMetrics, found: Audit, preview: str
    ) -> ComputedSlice:
        return ComputedSlice(
            slice=slice_,
            path=self._warehouse.table_path(slice_.entity),
            rows=metrics.rows,
            size_bytes=metrics.size_bytes,
            version=metrics.version,
            event_times=found.event_times,
            preview=preview,
            checks=found.checks,
            seconds=time.monotonic() - started,
        )
