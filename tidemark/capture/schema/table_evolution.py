"""Creates the Delta table of a captured table from the recorded schema, and adds columns."""

from collections.abc import Mapping

from pyspark.sql import SparkSession

from tidemark.capture.errors import ColumnTypeError
from tidemark.capture.schema.column_names import META_COLUMNS
from tidemark.capture.source_table import SourceTable
from tidemark.delta.merge_target import MergeTarget
from tidemark.delta.open_table import open_if_there
from tidemark.delta.table_features import allow_types
from tidemark.quoting.spark import path_table, quote
from tidemark.system.table_location import TableLocation

_PROPERTIES = {
    # A tagged snapshot is a version: its log entries and files must outlive Delta's defaults of 30 and 7 days.
    "delta.logRetentionDuration": "interval 3650 days",
    "delta.deletedFileRetentionDuration": "interval 3650 days",
    "delta.checkpointInterval": "50",
}


def ensure_table(spark: SparkSession, target: MergeTarget, columns: Mapping[str, str]) -> None:
    """Create the Delta table, or add the `columns` (name -> type) that it lacks."""
    name, table = path_table(target.path), open_if_there(target.path)
    if table is None:
        listed = {**columns, **META_COLUMNS}
        partitioned = f"PARTITIONED BY ({quote(target.partition_column)})" if target.partition_column else ""
        properties = ", ".join(f"'{key}' = '{value}'" for key, value in _PROPERTIES.items())
        spark.sql(
            f"CREATE TABLE IF NOT EXISTS {name} ({_definitions(listed)}) USING delta {partitioned} "
            f"TBLPROPERTIES ({properties})"
        )
        return
    there = {field.name for field in table.schema().fields}
    missing = {name: kind for name, kind in columns.items() if name not in there}
    if missing:
        allow_types(spark, target.path, missing.values())
        spark.sql(f"ALTER TABLE {name} ADD COLUMNS ({_definitions(missing)})")


def _definitions(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{quote(name)} {kind}" for name, kind in columns.items())


def merge_target(table: SourceTable, kinds: Mapping[str, str], warehouse: TableLocation) -> MergeTarget:
    """The Delta table of a captured table with these columns (name -> type). Its key is (shard, primary key).

    Raises ColumnTypeError.
    """
    for name in (*table.key, *([table.partition_by] if table.partition_by else [])):
        if name not in kinds:
            raise ColumnTypeError.missing(table.name, name, kinds)
    return MergeTarget(
        path=warehouse / table.name,
        columns=(*kinds, *META_COLUMNS),
        key=("_shard", *table.key),
        newer="_offset",
        partition_column=table.partition_by,
        partition_type=kinds[table.partition_by] if table.partition_by else None,
    )
