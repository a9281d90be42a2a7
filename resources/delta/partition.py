"""Overwriting partitions of a Delta table: how every DWD, DWS and ADS slice is written."""

import functools
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from deltalake import DeltaTable
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import DataType, StructField, StructType

from resources.crash import crash_point
from resources.delta.identifiers import quoted, sql_literal
from resources.delta.table import Partition, PartitionValue, TableMetrics, table_exists, table_metrics, table_schema
from resources.errors import SchemaChangedError


@dataclass(frozen=True)
class PartitionWrite:
    """One committed overwrite; `metrics` are of the partition alone, `metrics.version` is the commit's."""

    partition: Partition
    metrics: TableMetrics


def replace_partition(df: DataFrame, path: Path, partition: Partition) -> PartitionWrite:
    """`replace_partitions` of one."""
    return replace_partitions([(partition, df)], path)[0]


def replace_partitions(parts: Sequence[tuple[Partition, DataFrame]], path: Path) -> tuple[PartitionWrite, ...]:
    """Make each frame the whole content of its partition, all in one commit, creating the table at the first write.

    The partition columns (dates as DATE, else STRING) are appended here; frames must not have them. Columns new in the
    frames are added to the table (NULL in older rows). Raises SchemaChangedError, before anything is written, when they
    lack a column of the table or have it with another type.
    """
    whole = functools.reduce(DataFrame.unionByName, [_with_columns(df, path, partition) for partition, df in parts])
    if table_exists(path):
        check_additive(path, table_schema(path), whole.schema)
    crash_point("delta.before_replace")
    version = _overwrite(whole, path, [partition for partition, _ in parts])
    crash_point("delta.after_replace")
    return tuple(PartitionWrite(partition, table_metrics(path, partition, version)) for partition, _ in parts)


def _with_columns(df: DataFrame, path: Path, partition: Partition) -> DataFrame:
    clash = sorted(set(partition) & set(df.columns))
    if clash:
        raise SchemaChangedError.partition_columns_given(path, clash)
    return df.withColumns({name: literal(value) for name, value in partition.items()})


def _overwrite(df: DataFrame, path: Path, partitions: Sequence[Partition]) -> int:
    mark = uuid.uuid4().hex
    (
        df.write.format("delta")
        .mode("overwrite")
        .partitionBy(*partitions[0])
        .option("replaceWhere", " OR ".join(f"({partition_predicate(one)})" for one in partitions))
        .option("mergeSchema", "true")
        .option("userMetadata", json.dumps({"write": mark}))
        .save(str(path))
    )
    return _version_of(path, mark)


def _version_of(path: Path, mark: str) -> int:
    """The version of the commit that carries `mark`; others may have committed since.

    Delta records no commit that changes nothing (no rows for partitions that have none): the version is as it was.
    """
    table = DeltaTable(str(path))
    marked = (commit["version"] for commit in table.history() if mark in commit.get("userMetadata", ""))
    return int(next(marked, table.version()))


def partition_predicate(partition: Partition) -> str:
    """`dt = DATE'2026-03-23' AND hour = '07'`, quoted for Spark SQL."""
    return " AND ".join(f"{quoted(name)} = {sql_literal(value)}" for name, value in partition.items())


def literal(value: PartitionValue) -> Column:
    return sf.lit(value).cast("date" if isinstance(value, date) else "string")


def check_additive(path: Path, table: StructType, incoming: StructType) -> None:
    """Raise SchemaChangedError unless `incoming` has every column of `table` with the same type."""
    new = {field.name: field.dataType for field in incoming}
    lost = [field.name for field in table if field.name not in new]
    changed = [_change(field, new[field.name].simpleString()) for field in table if _differs(field, new)]
    if lost or changed:
        raise SchemaChangedError.of(path, lost, changed)


def _differs(field: StructField, new: dict[str, DataType]) -> bool:
    return field.name in new and new[field.name] != field.dataType


def _change(field: StructField, found: str) -> str:
    return f"{field.name} {field.dataType.simpleString()} -> {found}"
