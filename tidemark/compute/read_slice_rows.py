"""The rows of exactly one slice, for people who look: a computed one's partition, a captured one's tagged version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.compute.business_time import slice_values
from tidemark.compute.snapshot_reader import Snapshots
from tidemark.compute.table_version_tags import readable_snapshot
from tidemark.delta.delta_rs_table import query_rows
from tidemark.delta.file_statistics import require_table
from tidemark.delta.rows_without_spark import equal_to

if TYPE_CHECKING:
    import pyarrow as pa

    from tidemark.compute.runtime import Runtime
    from tidemark.dependency_model.slice import Slice


def slice_rows(runtime: Runtime, slice_: Slice, where: str | None, limit: int) -> pa.Table:
    """At most so many rows of a slice for which `where`, a condition in SQL, holds. Spark starts for late changes only.

    Raises UnknownEntityError, ParseError, NotADeltaTableError, SnapshotMissingError, and ConditionRefusedError for a
    condition that cannot be evaluated.
    """
    warehouse = runtime.warehouse
    warehouse.graph.window(slice_)
    path = warehouse.table_path(slice_.entity)
    require_table(path)
    condition = "true" if where is None else where
    if not warehouse.is_snapshot(slice_.entity):
        values = slice_values(warehouse.entities[slice_.entity], slice_)
        own = [equal_to(values)] if values else []
        return query_rows(path, " AND ".join([*own, f"({condition})"]), limit)
    tagged = readable_snapshot(warehouse, runtime.registry, slice_)
    if not tagged.is_restated:
        return query_rows(path, condition, limit, tagged.version)
    return Snapshots.of(runtime).read(slice_.entity, slice_.key).where(condition).limit(limit).toArrow()
