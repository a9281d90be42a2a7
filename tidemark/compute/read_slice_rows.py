"""The rows of exactly one slice, for people: a computed slice's partition, a captured slice's tagged version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from tidemark.compute.business_time import slice_values
from tidemark.compute.slice_clock import clock_of
from tidemark.compute.snapshot_reader import Snapshots
from tidemark.compute.table_version_tags import readable_snapshot
from tidemark.delta.delta_rs_table import current_version, is_readable, query_rows, read_table
from tidemark.delta.errors import ConditionRefusedError, VersionGoneError
from tidemark.delta.file_rows import as_arrow
from tidemark.delta.file_statistics import require_table
from tidemark.delta.open_table import open_table
from tidemark.delta.partition_predicate import partition_predicate
from tidemark.delta.rows_without_spark import equal_to
from tidemark.spark.temporary_settings import settings
from tidemark.system.errors import SchemaChangedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from tidemark.compute.runtime import Runtime
    from tidemark.dependency_model.slice import Slice
    from tidemark.system.table_location import TableLocation


def slice_rows(runtime: Runtime, slice_: Slice, where: str | None, limit: int) -> pa.Table:
    """At most `limit` rows of a slice that fulfil `where`, a condition in Spark's SQL on the entity's clock.

    Spark starts for a condition, and for late changes. Raises UnknownEntityError, ParseError, NotADeltaTableError,
    SnapshotMissingError, VersionGoneError if the tagged version is not in the log, ConditionRefusedError for a
    condition that cannot be evaluated, and SchemaChangedError if the table was written with another period.
    """
    warehouse = runtime.warehouse
    warehouse.graph.window(slice_)
    path = warehouse.table_path(slice_.entity)
    require_table(path)
    values = {} if warehouse.is_snapshot(slice_.entity) else slice_values(warehouse.entities[slice_.entity], slice_)
    version, is_restated = None, False
    if warehouse.is_snapshot(slice_.entity):
        tagged = readable_snapshot(warehouse, runtime.registry, slice_)
        version, is_restated = tagged.version, tagged.is_restated
        if not is_readable(path, version):
            raise VersionGoneError.log(path, version, f"a log that ends at version {current_version(path)}")
    if not warehouse.is_snapshot(slice_.entity) and not warehouse.is_external(slice_.entity):
        _require_partitioned(path, values)
    if where is None and not is_restated:
        return query_rows(path, equal_to(values), limit, version)
    session = runtime.spark.newSession()
    if is_restated:
        rows = Snapshots(session, runtime).read(slice_.entity, slice_.key)
    else:
        rows = read_table(session, path, version).where(partition_predicate(values))
    with settings(rows.sparkSession, clock_of(warehouse.graph, slice_)):
        return _those(rows, path, where or "true", limit)


def _require_partitioned(path: TableLocation, values: Mapping[str, object]) -> None:
    """Raises SchemaChangedError if the table is not partitioned by the columns of slices."""
    columns = open_table(path).metadata().partition_columns
    if set(columns) != set(values):
        raise SchemaChangedError.partitioned_otherwise(path, columns, list(values))


def _those(rows: DataFrame, path: TableLocation, condition: str, limit: int) -> pa.Table:
    try:
        return as_arrow(rows.where(condition).limit(limit))
    except (PySparkException, Py4JError) as error:
        raise ConditionRefusedError.of(path, condition, error) from error
