"""The plan of a repair of one partition (B9)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from deltalake.exceptions import DeltaError
from pyspark.sql import SparkSession

from tidemark.delta.delta_rs_table import Partition
from tidemark.delta.errors import ColumnsDifferError, TableFeatureError, VersionGoneError
from tidemark.delta.file_statistics import FileStatistics, file_statistics, require_table
from tidemark.delta.internals.transaction import OptimisticTransaction
from tidemark.delta.live_file import LiveFile, bytes_of, rows_of
from tidemark.system.errors import SchemaChangedError
from tidemark.system.table_location import TableLocation

Way = Literal["nothing", "metadata", "rewrite", "recompute"]


@dataclass(frozen=True)
class RepairPlan:
    """How `partition` of the table's version `at` becomes its state at version `source`, or gets computed rows.

    metadata: the old files still exist and are restored, without reading or writing rows. rewrite: the old rows are
    read and written again, because the old files do not fit the current table (`reason`). recompute: the caller's rows
    replace it (`source` and `rows_then` are None). nothing: it is equal already.
    """

    path: TableLocation
    partition: Partition
    at: int
    source: int | None
    way: Way
    reason: str
    removed: tuple[LiveFile, ...]
    restored: tuple[LiveFile, ...]
    rows_now: int
    rows_then: int | None

    @property
    def bytes_removed(self) -> int:
        return bytes_of(self.removed)

    @property
    def bytes_restored(self) -> int:
        return bytes_of(self.restored)


def plan_repair(spark: SparkSession, path: TableLocation, partition: Partition, source: int | None) -> RepairPlan:
    """Compare a partition with its state at version `source` (None: recompute). Nothing is written.

    Raises NotADeltaTableError, TableFeatureError (column mapping), ColumnsDifferError (other partition columns),
    VersionGoneError, and SchemaChangedError if the table no longer has a column of that version.
    """
    require_table(path)
    return plan_in_transaction(OptimisticTransaction(spark, path), path, partition, source)


def plan_in_transaction(
    txn: OptimisticTransaction, path: TableLocation, partition: Partition, source: int | None
) -> RepairPlan:
    """The plan inside a transaction; see `plan_repair`."""
    now = file_statistics(path, txn.version)
    if now.properties.get("delta.columnMapping.mode", "none") != "none":
        raise TableFeatureError.of(path, "column mapping", "repair")
    if set(partition) != set(now.partition_columns):
        raise ColumnsDifferError.of(path, list(partition), now.partition_columns)
    live = _files(txn, partition, None)
    if source is None:
        return _recompute(txn, path, partition, live)
    then = _statistics_then(path, source, txn.version)
    _refuse_other_columns(path, now, then)
    return _compare_files(txn, path, partition, source, now, then, live)


def _recompute(
    txn: OptimisticTransaction, path: TableLocation, partition: Partition, live: tuple[LiveFile, ...]
) -> RepairPlan:
    told = "its rows are computed"
    return RepairPlan(path, partition, txn.version, None, "recompute", told, live, (), rows_of(live), None)


def _compare_files(
    txn: OptimisticTransaction,
    path: TableLocation,
    partition: Partition,
    source: int,
    now: FileStatistics,
    then: FileStatistics,
    live: tuple[LiveFile, ...],
) -> RepairPlan:
    old = _files(txn, partition, source)
    kept = {file.identity for file in live} & {file.identity for file in old}
    removed = tuple(file for file in live if file.identity not in kept)
    restored = tuple(file for file in old if file.identity not in kept)
    gone = [file.name for file in restored if not txn.exists(file.handle)]
    if gone:
        raise VersionGoneError.files(path, source, gone, len(restored))
    reason = _unfit(now, then, restored)
    way: Way = "nothing" if not (removed or restored) else "rewrite" if reason and restored else "metadata"
    told = {"nothing": "the partition is unchanged", "metadata": "the old files still exist"}
    why = told.get(way, reason or "")
    return RepairPlan(path, partition, txn.version, source, way, why, removed, restored, rows_of(live), rows_of(old))


def _statistics_then(path: TableLocation, source: int, newest: int) -> FileStatistics:
    if not 0 <= source <= newest:
        raise VersionGoneError.unknown(path, source, newest)
    try:
        return file_statistics(path, source)
    except DeltaError as error:
        raise VersionGoneError.log(path, source, str(error)) from error


def _refuse_other_columns(path: TableLocation, now: FileStatistics, then: FileStatistics) -> None:
    if then.partition_columns != now.partition_columns:
        raise ColumnsDifferError.of(path, then.partition_columns, now.partition_columns)
    lost = [name for name in then.types if name not in now.types]
    if lost:
        raise SchemaChangedError.of(path, lost, [])


def _files(txn: OptimisticTransaction, partition: Partition, version: int | None) -> tuple[LiveFile, ...]:
    wanted = {name: str(value) for name, value in partition.items()}
    return tuple(LiveFile(told, add) for add, told in txn.descriptions_of_files([wanted], version))


def _unfit(now: FileStatistics, then: FileStatistics, restored: Sequence[LiveFile]) -> str | None:
    """Why old files cannot simply be restored; None if they can."""
    changed = sorted(name for name, kind in then.types.items() if now.types[name] != kind)
    if changed:
        return f"column {', '.join(changed)} had another type"
    if any(file.has_vector for file in restored) and "deletionVectors" not in now.features:
        return "the table no longer has deletion vectors"
    if now.properties.get("delta.enableRowTracking") == "true":
        return "the table tracks rows"
    rules = {name for name in now.properties if name.startswith("delta.constraints.")}
    if rules - set(then.properties):
        return "the table has new constraints"
    return None
