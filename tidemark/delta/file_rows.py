"""A few rows for display, with the types that delta-rs gives a table, without another read of the table's log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import Schema

from tidemark.delta.partition_predicate import partition_predicate
from tidemark.storage.stored_files import stored_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from tidemark.delta.delta_rs_table import Partition
    from tidemark.delta.live_file import LiveFile
    from tidemark.delta.partition_overwrite import Replaced
    from tidemark.storage.file_store import FileStore
    from tidemark.system.table_location import TableLocation

_READ_AT_ONCE: Final = 1 << 20
"""Bytes: a smaller file is fetched by one request, a larger one by its footer and pieces of `_PIECE` bytes."""
_PIECE: Final = 1 << 18


def first_rows_written(
    path: TableLocation, partitions: Sequence[Partition], written: Replaced, count: int
) -> list[pa.Table | None]:
    """At most `count` rows of each published partition, with its columns last; None for other partitions."""
    files: Sequence[Sequence[LiveFile] | None] = written.files or [None] * len(partitions)
    return [
        _first_rows(path, written.rows, partition, own, count) if is_there else None
        for partition, own, is_there in zip(partitions, files, written.published, strict=True)
    ]


def first_rows_of(rows: DataFrame, partition: Partition, count: int) -> pa.Table:
    """At most `count` rows of a partition, by a Spark query."""
    return as_arrow(rows.where(partition_predicate(partition)).limit(count))


def as_arrow(rows: DataFrame) -> pa.Table:
    """All rows, in the types by which delta-rs reads a table: instants in UTC, whatever the session's time zone."""
    return _as_declared(rows.toArrow(), _columns(rows), {})


def _columns(rows: DataFrame) -> pa.Schema:
    return pa.schema(Schema.from_json(rows.schema.json()).to_arrow())


def _first_rows(
    path: TableLocation, rows: DataFrame, partition: Partition, files: Sequence[LiveFile] | None, count: int
) -> pa.Table:
    if files is None:
        return first_rows_of(rows, partition, count)
    columns, store = _columns(rows), stored_files(path)
    names = [name for name in columns.names if name not in partition]
    some = columns.empty_table()
    for file in files:
        if some.num_rows < count:
            own = _rows_of(store, file, names, count - some.num_rows)
            some = pa.concat_tables([some, _as_declared(own, columns, partition)])
    return some


def _rows_of(store: FileStore, file: LiveFile, names: Sequence[str], count: int) -> pa.Table:
    """At most `count` rows of a file, with the columns that it has."""
    name = unquote(str(file.described["path"]))
    source = pa.BufferReader(store.read(name)) if file.size_bytes <= _READ_AT_ONCE else store.arrow_source(name)
    # INT96 in nanoseconds does not reach back to the year 1.
    with pq.ParquetFile(source, buffer_size=_PIECE, coerce_int96_timestamp_unit="us") as opened:
        there = [column for column in names if column in opened.schema_arrow.names]
        first = next(opened.iter_batches(batch_size=count, columns=there), None)
        if first is None:
            return pa.schema([opened.schema_arrow.field(column) for column in there]).empty_table()
        # `a.b` may name a struct's field and a column: Arrow reads both, in the file's order.
        return pa.Table.from_batches([first]).select(there)


def _as_declared(rows: pa.Table, columns: pa.Schema, partition: Partition) -> pa.Table:
    """The rows with all columns: NULL in missing ones, and the partition's values."""
    arrays = []
    for field in columns:
        if field.name in partition:
            arrays.append(pa.repeat(pa.scalar(partition[field.name]).cast(field.type), rows.num_rows))
        elif field.name in rows.column_names:
            arrays.append(rows[field.name].cast(field.type))
        else:
            arrays.append(pa.nulls(rows.num_rows, field.type))
    return pa.table(arrays, schema=columns)
