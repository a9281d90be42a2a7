"""Overwrites partitions of a Delta table. Every DWD, DWS and ADS slice is written, judged and published by it (A5)."""

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from delta.exceptions import MetadataChangedException, ProtocolChangedException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from tidemark.delta.commit_conflict import BackOff, StaleReadError, with_retries
from tidemark.delta.delta_rs_table import Partition
from tidemark.delta.internals.overwrite_transaction import OverwriteTransaction
from tidemark.delta.live_file import LiveFile, files_of, rows_of, write_counts
from tidemark.delta.partition_overwrite import (
    PartitionOverwrite,
    Release,
    Replaced,
    WrittenRows,
    always_allowed,
    release_all,
)
from tidemark.delta.partition_predicate import literal, partitions_last, type_of
from tidemark.delta.schema_evolution import fitted, grown_schema, is_same
from tidemark.delta.table_features import allow_types, sql_kinds
from tidemark.dependency_model.time.partition_columns import PartitionValue
from tidemark.quoting.spark import quote
from tidemark.system.crash_points import crash_point
from tidemark.system.errors import SchemaChangedError
from tidemark.system.table_location import TableLocation


def replace_partition(df: DataFrame, path: TableLocation, partition: Partition) -> Replaced:
    """`replace_partitions` of one partition, without a check of its rows."""
    return replace_partitions([(partition, df)], path)


def replace_partitions(
    parts: Sequence[tuple[Partition, DataFrame]],
    path: TableLocation,
    release: Release | None = None,
    still_allowed: Callable[[], None] = always_allowed,
) -> Replaced:
    """Make each frame the whole content of its partition, all in one commit; the first write creates the table.

    The files are written, and `release` judges exactly their rows. Then one commit makes the released partitions
    visible. Readers never see refused rows. The partition columns (DATE, STRING or INT) are appended here. If a frame
    has one itself, a row of another partition is an error. The partition without columns is the whole table. New
    columns are added to the table, as NULL in older rows.

    If another writer commits meanwhile, the same files are committed on its version, unless `still_allowed` raises. The
    frames are evaluated, written and judged again only if the commit adds columns or the table's definition changed.
    Raises before anything is written SchemaChangedError, if a frame lacks a column or has another type, and after many
    attempts CommitConflictError.
    """
    whole = functools.reduce(DataFrame.unionByName, [_with_columns(df, path, partition) for partition, df in parts])
    partitions = [partition for partition, _ in parts]
    overwrite = PartitionOverwrite(whole, path, partitions, release or release_all(partitions), still_allowed)
    replaced, _ = with_retries(path, _Attempts(overwrite), BackOff())
    crash_point("delta.after_replace")
    return replaced


@contextmanager
def _as_first() -> Iterator[None]:
    """Create the table. Of two first writers, one creates it. The other commits nothing, and retries."""
    crash_point("delta.before_replace")
    try:
        yield
    except (ProtocolChangedException, MetadataChangedException) as error:
        raise StaleReadError from error


def _with_columns(df: DataFrame, path: TableLocation, partition: Partition) -> DataFrame:
    given = Counter(name.lower() for name in df.columns)
    if twice := sorted(name for name in partition if given[name.lower()] > 1):
        raise SchemaChangedError.partition_columns_given(path, twice)
    for name, value in partition.items():
        if given[name.lower()]:
            df = df.where(_is_own(name, value)).drop(name)
    return df.withColumns({name: literal(value) for name, value in partition.items()})


def _is_own(name: str, value: PartitionValue) -> Column:
    """True on every row, or the write fails: a row of another partition would be written to the wrong one."""
    column, own = sf.col(quote(name)), literal(value)
    is_own = column.try_cast(type_of(value)).eqNullSafe(own)
    shown = sf.coalesce(column.cast("string"), sf.lit("NULL"))
    told = f"the partition column {name} is only removed if its value is the slice's own, {value}; found in a row: "
    advice = f" - leave {name} out of the SELECT list, or keep the slice's rows alone"
    failing = sf.raise_error(sf.concat(sf.lit(told), shown, sf.lit(advice)))
    return sf.when(is_own, sf.lit(True)).otherwise(failing.cast("boolean"))  # noqa: FBT003 - a value of SQL


@dataclass(frozen=True)
class _Judged:
    """Uncommitted files, their rows, and which of their partitions may be published.

    They fit only a table with this `definition`.
    """

    files: Sequence[LiveFile]
    rows: DataFrame
    released: tuple[bool, ...]
    definition: str


class _Attempts:
    """Attempts at one overwrite, each on the newest version.

    For small partitions it costs half of Spark's statement. The files and verdicts of the first attempt are used again,
    so a conflict costs no computation.
    """

    def __init__(self, overwrite: PartitionOverwrite) -> None:
        self._overwrite = overwrite
        self._judged: _Judged | None = None

    def __call__(self) -> Replaced:
        overwrite = self._overwrite
        txn = OverwriteTransaction(overwrite.whole.sparkSession, overwrite.path)
        if txn.version < 0:
            grown_schema(overwrite.path, StructType([]), overwrite.whole.schema)
            with _as_first():
                return _by_spark(txn, overwrite)
        if self._judged is None or self._judged.definition != txn.definition:
            _require_partitioned(overwrite.path, txn.partition_columns, overwrite.partitions)
            grown = grown_schema(overwrite.path, txn.schema, overwrite.whole.schema)
            overwrite = replace(overwrite, whole=fitted(overwrite.whole, grown))
            crash_point("delta.before_replace")
            grows = not is_same(txn.schema, grown)
            if grows or txn.property("delta.columnMapping.mode"):
                return _by_spark(_allowing(txn, overwrite, grown) if grows else txn, overwrite)
            self._judged = _judge(txn, overwrite)
        else:
            overwrite.still_allowed()
        return _publish(txn, overwrite, self._judged)


def _allowing(txn: OverwriteTransaction, overwrite: PartitionOverwrite, grown: StructType) -> OverwriteTransaction:
    """The transaction after the table allows the types of its new columns."""
    allow_types(overwrite.whole.sparkSession, overwrite.path, sql_kinds(grown) - sql_kinds(txn.schema))
    return OverwriteTransaction(overwrite.whole.sparkSession, overwrite.path)


def _judge(txn: OverwriteTransaction, overwrite: PartitionOverwrite) -> _Judged:
    added = txn.write(txn.cast_to_table(overwrite.whole))
    files = [LiveFile(described, handle) for described, handle in zip(txn.describe(added), added, strict=True)]
    rows = partitions_last(txn.read(added), overwrite.partitions[0])
    return _Judged(files, rows, overwrite.verdicts(overwrite.written(rows, files), rows_of(files)), txn.definition)


def _publish(txn: OverwriteTransaction, overwrite: PartitionOverwrite, judged: _Judged) -> Replaced:
    version = txn.version
    if any(judged.released):
        let = overwrite.only(judged.released)
        added = files_of(judged.files, let.texts)
        txn.depends_on(let.predicate)
        gone = txn.files_in(let.texts) if let.columns else txn.files_matching(None)
        if gone or added:
            operation = txn.overwrite_operation(let.predicate, write_counts(added))
            version = txn.commit([*txn.removal(gone), *(file.handle for file in added)], operation, None, "")
    return overwrite.replaced(judged.files, version, judged.rows, judged.released)


def _by_spark(txn: OverwriteTransaction, overwrite: PartitionOverwrite) -> Replaced:
    """Spark's own overwrite in two steps, which creates tables, adds columns, and supports column mapping."""
    written = txn.write_overwrite(overwrite.whole, overwrite.columns, overwrite.predicate)
    rows = partitions_last(txn.read_overwrite(written), overwrite.partitions[0])
    is_named_otherwise = bool(txn.property("delta.columnMapping.mode"))
    told = WrittenRows(rows) if is_named_otherwise else overwrite.written(rows, written.added)
    released, version = overwrite.verdicts(told, rows_of(written.added)), txn.version
    if any(released):
        let = overwrite.only(released)
        kept = written.only(let.texts) if let.columns else written
        version = txn.commit_overwrite(kept, let.predicate, write_counts(kept.added))
    return overwrite.replaced(written.added, version, rows, released, is_named_otherwise=is_named_otherwise)


def _require_partitioned(
    path: TableLocation, columns: Sequence[str], partitions: Sequence[Mapping[str, object]]
) -> None:
    if set(columns) != set(partitions[0]):
        raise SchemaChangedError.partitioned_otherwise(path, columns, list(partitions[0]))
