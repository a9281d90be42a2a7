"""Facts about a Delta table from its log, without a Spark job or a JVM: delta-rs reads the log."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self
from urllib.parse import unquote

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from tidemark.delta.errors import ConditionRefusedError
from tidemark.delta.hidden_rows import hidden_rows
from tidemark.delta.live_file import file_name
from tidemark.delta.open_table import answer_for, delta_rs_options, open_if_there, open_table
from tidemark.delta.rows_without_spark import TableQuery, queried_table, rows_of_plain_files
from tidemark.dependency_model.time.partition_columns import PartitionValue
from tidemark.storage.stored_files import stored_files

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyspark.sql import DataFrame, SparkSession

    from tidemark.system.table_location import TableLocation

Partition = Mapping[str, PartitionValue]


@dataclass(frozen=True)
class TableMetrics:
    """Live files of a version, of the whole table or one partition. `rows` are from the files' statistics."""

    version: int
    rows: int
    files: int
    size_bytes: int


def table_exists(path: TableLocation) -> bool:
    """Whether `path` holds a Delta table of any version."""
    with answer_for(path):
        return bool(DeltaTable.is_deltatable(str(path), storage_options=delta_rs_options(path)))


def current_version(path: TableLocation) -> int | None:
    """The newest version; None if there is no table."""
    table = open_if_there(path)
    return None if table is None else table.version()


def column_names(path: TableLocation) -> tuple[str, ...] | None:
    """The columns of the newest version; None if there is no table or its log cannot be read."""
    try:
        return tuple(field.name for field in open_table(path).schema().fields)
    except DeltaError:
        return None


def partitions_of(path: TableLocation) -> tuple[tuple[str, ...], list[dict[str, str]]] | None:
    """The newest version's partition columns, and all partitions as texts; None as in `column_names`."""
    try:
        table = open_table(path)
    except DeltaError:
        return None
    return tuple(table.metadata().partition_columns), table.partitions()


def is_readable(path: TableLocation, version: int) -> bool:
    """Whether the log still holds a version. Versions before its retention cannot be opened."""
    try:
        return open_table(path, version).version() == version
    except DeltaError:
        return False


def applied_transaction(path: TableLocation, app: str) -> tuple[int, int | None]:
    """(newest version, number of the newest commit of the application `app`, or None)."""
    table = open_table(path)
    return table.version(), table.transaction_version(app)


def table_metrics(path: TableLocation, partition: Partition | None = None, version: int | None = None) -> TableMetrics:
    """Rows, files and bytes from the log's file statistics.

    Raises FileNotFoundError if there is no table, TableFeatureError if hidden rows cannot be counted.
    """
    import pyarrow.compute as pc  # noqa: PLC0415 - a command that looks at the log alone needs no Arrow

    try:
        table = open_table(path, version)
    except TableNotFoundError:
        raise FileNotFoundError(f"no Delta table at {path}") from None
    files, hidden = _live_files(table, partition or {}), hidden_rows(table, str(path))
    hiding = [hidden[name] for name in map(file_name, files["path"].to_pylist()) if name in hidden]
    return TableMetrics(
        version=table.version(),
        rows=(pc.sum(files["num_records"]).as_py() or 0) - sum(rows.count for rows in hiding),
        files=files.num_rows,
        size_bytes=pc.sum(files["size_bytes"]).as_py() or 0,
    )


class TableLog:
    """One version of a table by its log, opened once for several queries."""

    def __init__(self, table: DeltaTable) -> None:
        self._table = table
        self.version = table.version()

    @classmethod
    def of(cls, path: TableLocation, version: int | None = None) -> Self:
        """The log of a version, the newest by default. Raises the errors of `open_table`."""
        return cls(open_table(path, version))

    @classmethod
    def if_there(cls, path: TableLocation) -> Self | None:
        """The log of the newest version; None if there is no table."""
        table = open_if_there(path)
        return None if table is None else cls(table)

    def written_rows(self, partitions: Sequence[Partition] = ()) -> int:
        """Rows in the files of these partitions, or of all if there are none.

        Rows that deletion vectors hide count too.
        """
        import pyarrow as pa  # noqa: PLC0415 - a command that looks at the log alone needs no Arrow
        import pyarrow.compute as pc  # noqa: PLC0415

        files = pa.table(self._table.get_add_actions(flatten=True))
        for column in partitions[0] if partitions else ():
            texts = pa.array({str(partition[column]) for partition in partitions}, pa.string())
            files = files.filter(pc.is_in(pc.cast(files[f"partition.{column}"], pa.string()), value_set=texts))
        return int(pc.sum(files["num_records"]).as_py() or 0)


def files_gone(path: TableLocation, version: int, partition: Partition | None = None) -> tuple[list[str], int]:
    """The missing files of a version, of the whole table or one partition, and the number of its files."""
    files = _live_files(open_table(path, version), partition or {})
    names = [unquote(name) for name in files["path"].to_pylist()]
    store = stored_files(path)
    return [name for name in names if not store.exists(name)], len(names)


def first_rows(path: TableLocation, count: int, version: int | None = None) -> pa.Table:
    """At most `count` rows of a version."""
    return read_rows(path, version, limit=count)


def read_rows(
    path: TableLocation, version: int | None = None, columns: Sequence[str] = (), limit: int | None = None
) -> pa.Table:
    """The rows of a version without Spark, without rows that deletion vectors hide.

    Raises TableFeatureError.
    """
    import pyarrow as pa  # noqa: PLC0415 - a command that looks at the log alone needs no Arrow

    query = TableQuery.of(open_table(path, version), str(path))
    return pa.table(query.rows(columns=columns, limit=limit).read_all())


def query_rows(path: TableLocation, condition: str, limit: int, version: int | None = None) -> pa.Table:
    """At most `limit` rows of a version that match an SQL condition.

    Raises ConditionRefusedError, TableFeatureError.
    """
    import pyarrow as pa  # noqa: PLC0415 - a command that looks at the log alone needs no Arrow

    query = TableQuery.of(open_table(path, version), str(path))
    try:
        return pa.table(query.rows(condition, limit=limit).read_all())
    except DeltaError as error:
        raise ConditionRefusedError.of(path, condition, error) from error


def read_partition(path: TableLocation, partition: Partition, version: int | None = None) -> pa.Table:
    """All rows of a partition, now or at `version`, without its columns. Raises TableFeatureError."""
    table = open_table(path, version)
    plain = rows_of_plain_files(table)
    if plain is None:
        return queried_table(table, str(path), partition)
    return plain.to_table(filter=_is_in(partition)).drop_columns(list(partition))


def _is_in(partition: Partition) -> pc.Expression | None:
    import pyarrow as pa  # noqa: PLC0415 - a command that looks at the log alone needs no Arrow
    import pyarrow.compute as pc  # noqa: PLC0415

    equal = [pc.field(name) == pa.scalar(value) for name, value in partition.items()]
    return functools.reduce(lambda a, b: a & b, equal) if equal else None


def _live_files(table: DeltaTable, partition: Partition) -> pa.Table:
    import pyarrow as pa  # noqa: PLC0415 - a command that looks at the log alone needs no Arrow
    import pyarrow.compute as pc  # noqa: PLC0415

    files = pa.table(table.get_add_actions(flatten=True))
    for column, value in partition.items():
        files = files.filter(pc.equal(pc.cast(files[f"partition.{column}"], pa.string()), str(value)))
    return files


def read_table(spark: SparkSession, path: TableLocation, version: int | None = None) -> DataFrame:
    """The table at `version`, or its current state."""
    reader = spark.read.format("delta")
    return (reader if version is None else reader.option("versionAsOf", version)).load(str(path))
