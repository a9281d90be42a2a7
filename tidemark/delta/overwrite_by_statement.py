"""Overwriting partitions by Spark's statement alone, where the interfaces of a transaction are missing.

It writes and commits in one step: what is to be judged before is written beside the table, and copied once released.
"""

import json
import uuid
from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import DataFrame

from tidemark.delta.delta_rs_table import TableMetrics, current_version, read_table, table_metrics
from tidemark.delta.open_table import open_table
from tidemark.delta.own_commit import WRITE
from tidemark.delta.partition_overwrite import PartitionOverwrite, Replaced, WrittenRows
from tidemark.delta.partition_predicate import partition_predicate, partitions_last
from tidemark.storage.stored_files import stored_files
from tidemark.system.table_location import TableLocation


def overwrite_by_statement(overwrite: PartitionOverwrite) -> Replaced:
    """Write beside the table, judge, copy what is released; of what is refused nothing stays."""
    path, spark = overwrite.path, overwrite.whole.sparkSession
    beside = path.with_name(f"_{path.name}_{uuid.uuid4().hex}")
    try:
        overwrite.whole.write.parquet(str(beside))
        copied = spark.read.schema(overwrite.whole.schema).parquet(str(beside))
        written = WrittenRows(partitions_last(copied, overwrite.partitions[0]))
        released = overwrite.verdicts(written, copied.count())
        return _publish(overwrite, copied, released)
    finally:
        stored_files(beside).delete_all()


def _publish(overwrite: PartitionOverwrite, copied: DataFrame, released: Sequence[bool]) -> Replaced:
    path, spark, nothing = overwrite.path, overwrite.whole.sparkSession, ((),) * len(released)
    if not any(released):
        version = current_version(path)
        at = -1 if version is None else version
        return Replaced(at, _refused(overwrite, copied, at), copied.limit(0), tuple(released), nothing)
    let = overwrite.only(released)
    version = _commit(let, copied if let.predicate is None else copied.where(let.predicate))
    stored = read_table(spark, path, version).where(let.predicate or "TRUE")
    metrics = tuple(
        table_metrics(path, partition, version) if is_let else refused
        for partition, is_let, refused in zip(
            overwrite.partitions, released, _refused(overwrite, copied, version), strict=True
        )
    )
    return Replaced(version, metrics, partitions_last(stored, overwrite.partitions[0]), tuple(released), nothing)


def _refused(overwrite: PartitionOverwrite, copied: DataFrame, version: int) -> tuple[TableMetrics, ...]:
    """Of each partition how many rows were written; files and bytes go."""
    counts = [copied.where(partition_predicate(partition)).count() for partition in overwrite.partitions]
    return tuple(replace(TableMetrics(version, 0, 0, 0), rows=count) for count in counts)


def _commit(overwrite: PartitionOverwrite, rows: DataFrame) -> int:
    mark = uuid.uuid4().hex
    writer = rows.write.format("delta").mode("overwrite").option("mergeSchema", "true")
    if overwrite.predicate is not None:
        writer = writer.partitionBy(*overwrite.columns).option("replaceWhere", overwrite.predicate)
    writer.option("userMetadata", json.dumps({WRITE: mark})).save(str(overwrite.path))
    return _version_of(overwrite.path, mark)


def _version_of(path: TableLocation, mark: str) -> int:
    """The version of the commit that carries `mark`; others may have committed since.

    Delta records no commit that changes nothing (no rows for partitions that have none): the version is as it was.
    """
    table = open_table(path)
    marked = (commit["version"] for commit in table.history() if mark in commit.get("userMetadata", ""))
    return int(next(marked, table.version()))
