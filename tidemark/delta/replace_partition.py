"""Overwriting partitions of a Delta table: how every DWD, DWS and ADS slice is written."""

import functools
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from delta.exceptions import MetadataChangedException, ProtocolChangedException
from deltalake import DeltaTable
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from tidemark.delta.commit_conflict import RETRYABLE, BackOff, with_retries
from tidemark.delta.delta_rs_table import (
    Partition,
    TableMetrics,
    read_table,
    table_exists,
    table_metrics,
)
from tidemark.delta.file_statistics import file_statistics
from tidemark.delta.internals.probe import has_private_interfaces
from tidemark.delta.internals.transaction import OptimisticTransaction
from tidemark.delta.live_file import LiveFile, bytes_of, rows_of, write_counts
from tidemark.delta.own_commit import WRITE
from tidemark.delta.schema_evolution import new_columns
from tidemark.dependency_model.time.partition_columns import PartitionValue
from tidemark.quoting.spark import quote, sql_literal
from tidemark.system.crash_points import crash_point
from tidemark.system.errors import SchemaChangedError


@dataclass(frozen=True)
class Replaced:
    """One committed overwrite: what is in each partition now, and all of it as `rows`, partition columns last."""

    version: int
    metrics: tuple[TableMetrics, ...]
    rows: DataFrame


def replace_partition(df: DataFrame, path: Path, partition: Partition) -> Replaced:
    """`replace_partitions` of one."""
    return replace_partitions([(partition, df)], path)


def replace_partitions(parts: Sequence[tuple[Partition, DataFrame]], path: Path) -> Replaced:
    """Make each frame the whole content of its partition, all in one commit, creating the table at the first write.

    The partition columns (DATE, STRING or INT) are appended here; frames must not have them. The partition
    without columns is the whole table. Columns new in the
    frames are added to the table (NULL in older rows). Where another writer gets in between, the frames are evaluated
    and written again. Raises, before anything is written, SchemaChangedError when they lack a column of the table or
    have it with another type, and after many attempts CommitConflictError.
    """
    whole = functools.reduce(DataFrame.unionByName, [_with_columns(df, path, partition) for partition, df in parts])
    partitions = [partition for partition, _ in parts]
    if table_exists(path):
        replaced = _replace_in_table(whole, path, partitions)
    else:
        crash_point("delta.before_replace")
        replaced = _first(whole, path, partitions)
    crash_point("delta.after_replace")
    return replaced


def _first(whole: DataFrame, path: Path, partitions: Sequence[Partition]) -> Replaced:
    """Make the table with its first rows. Of two first writers one makes it; the other writes into what is there then.

    Delta refuses the second one before anything of it is committed.
    """
    try:
        return _by_statement(whole, path, partitions)
    except (ProtocolChangedException, MetadataChangedException, *RETRYABLE):
        if not table_exists(path):
            raise
    return _replace_in_table(whole, path, partitions)


def _replace_in_table(whole: DataFrame, path: Path, partitions: Sequence[Partition]) -> Replaced:
    """The same into a table that is there, again where another writer gets in between."""
    attempt = _attempt if has_private_interfaces(whole.sparkSession) else _public_attempt
    replaced, _ = with_retries(path, lambda: attempt(whole, path, partitions), BackOff())
    return replaced


def _with_columns(df: DataFrame, path: Path, partition: Partition) -> DataFrame:
    clash = sorted(set(partition) & set(df.columns))
    if clash:
        raise SchemaChangedError.partition_columns_given(path, clash)
    return df.withColumns({name: literal(value) for name, value in partition.items()})


def _attempt(whole: DataFrame, path: Path, partitions: Sequence[Partition]) -> Replaced:
    """One transaction on the newest version: half of what Spark's overwrite statement costs for small partitions."""
    txn = OptimisticTransaction(whole.sparkSession, path)
    _require_partitioned(path, txn.partition_columns, partitions)
    grows = new_columns(path, txn.schema, whole.schema)
    needs_statement = grows or not partitions[0] or txn.property("delta.columnMapping.mode")
    crash_point("delta.before_replace")
    if needs_statement:
        return _by_statement(whole, path, partitions)
    predicate = _predicate(partitions)
    txn.depends_on(predicate)
    texts = [{name: str(value) for name, value in partition.items()} for partition in partitions]
    gone = txn.files_in(texts)
    added = txn.write(txn.cast_to_table(whole))
    files = [LiveFile(described) for described in txn.describe(added)]
    version = txn.version
    if gone or added:
        operation = txn.overwrite_operation(predicate, write_counts(files))
        version = txn.commit([*txn.removal(gone), *added], operation, None, "")
    metrics = tuple(_metrics(files, text, version) for text in texts)
    return Replaced(version, metrics, partitions_last(txn.read(added), partitions[0]))


def _public_attempt(whole: DataFrame, path: Path, partitions: Sequence[Partition]) -> Replaced:
    """By Spark's overwrite alone, where the interfaces of a transaction are missing."""
    _require_partitioned(path, file_statistics(path).partition_columns, partitions)
    new_columns(path, read_table(whole.sparkSession, path).schema, whole.schema)
    crash_point("delta.before_replace")
    return _by_statement(whole, path, partitions)


def _require_partitioned(path: Path, columns: Sequence[str], partitions: Sequence[Partition]) -> None:
    if set(columns) != set(partitions[0]):
        raise SchemaChangedError.partitioned_otherwise(path, columns, list(partitions[0]))


def _metrics(files: Sequence[LiveFile], partition: Mapping[str, str], version: int) -> TableMetrics:
    own = [file for file in files if file.described["partitionValues"] == partition]
    return TableMetrics(version, rows_of(own), len(own), bytes_of(own))


def _by_statement(whole: DataFrame, path: Path, partitions: Sequence[Partition]) -> Replaced:
    """Spark's own overwrite: it makes tables, adds columns, and knows what a transaction of ours does not."""
    mark = uuid.uuid4().hex
    writer = whole.write.format("delta").mode("overwrite").option("mergeSchema", "true")
    if partitions[0]:
        writer = writer.partitionBy(*partitions[0]).option("replaceWhere", _predicate(partitions))
    writer.option("userMetadata", json.dumps({WRITE: mark})).save(str(path))
    version = _version_of(path, mark)
    rows = read_table(whole.sparkSession, path, version).where(_predicate(partitions))
    metrics = tuple(table_metrics(path, partition, version) for partition in partitions)
    return Replaced(version, metrics, partitions_last(rows, partitions[0]))


def _version_of(path: Path, mark: str) -> int:
    """The version of the commit that carries `mark`; others may have committed since.

    Delta records no commit that changes nothing (no rows for partitions that have none): the version is as it was.
    """
    table = DeltaTable(str(path))
    marked = (commit["version"] for commit in table.history() if mark in commit.get("userMetadata", ""))
    return int(next(marked, table.version()))


def _predicate(partitions: Sequence[Partition]) -> str:
    return " OR ".join(f"({partition_predicate(partition)})" for partition in partitions)


def partition_predicate(partition: Partition) -> str:
    """`dt = DATE'2026-03-23' AND hour = '07'`, quoted for Spark SQL; of the whole table `TRUE`."""
    if not partition:
        return "TRUE"
    return " AND ".join(f"{quote(name)} = {sql_literal(value)}" for name, value in partition.items())


def literal(value: PartitionValue) -> Column:
    """A value of a partition column with its type."""
    return sf.lit(value).cast(_type_of(value))


def _type_of(value: PartitionValue) -> str:
    if isinstance(value, int):
        return "int"
    return "date" if isinstance(value, date) else "string"


def partitions_last(rows: DataFrame, partition: Partition) -> DataFrame:
    """The rows with the partition's columns at the end."""
    return rows.select(*(quote(name) for name in rows.columns if name not in partition), *map(quote, partition))
