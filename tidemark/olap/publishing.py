"""The steps to publish a partition inside one open transaction, for any store."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from tidemark.olap.arrow_types import canonical
from tidemark.olap.errors import OlapComparisonError, OlapSchemaError
from tidemark.olap.partition_values import describe, with_partition_columns
from tidemark.olap.store import Publication
from tidemark.system.crash_points import crash_point

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.olap.partition_values import Partition


class PublishTransaction(Protocol):
    """An open transaction on a store. Its opener commits it, or rolls it back after an error."""

    def columns(self, table: str) -> Mapping[str, pa.DataType]:
        """The table's columns in order; empty if there is no such table."""
        ...

    def lock_schema(self, table: str) -> None:
        """Prevent other transactions from creating or altering the table until the end of this one."""
        ...

    def create(self, table: str, schema: pa.Schema) -> None: ...

    def add_columns(self, table: str, fields: Sequence[pa.Field]) -> None: ...

    def lock_partition(self, table: str, partition: Partition) -> None:
        """Prevent other transactions from replacing the same partition until the end of this one."""
        ...

    def delete(self, table: str, partition: Partition) -> None: ...

    def insert(self, table: str, data: pa.Table) -> None: ...

    def select(self, table: str, columns: Mapping[str, pa.DataType], partition: Partition) -> pa.Table: ...


def publish_partition(transaction: PublishTransaction, table: str, data: pa.Table, partition: Partition) -> Publication:
    """All steps up to the commit; see OlapStore.publish for results and errors."""
    incoming = canonical(with_partition_columns(table, data, partition))
    added = _fit_table(transaction, table, incoming.schema)
    transaction.lock_partition(table, partition)
    transaction.delete(table, partition)
    crash_point("olap.after_delete")
    transaction.insert(table, incoming)
    crash_point("olap.after_insert")
    stored = transaction.select(table, _types(incoming.schema), partition)
    return _compare(table, partition, incoming, stored, added)


def _fit_table(transaction: PublishTransaction, table: str, wanted: pa.Schema) -> tuple[str, ...]:
    """Create the table or add missing columns. Returns the added columns."""
    if not _lacking(table, transaction.columns(table), wanted):
        return ()
    transaction.lock_schema(table)
    present = transaction.columns(table)
    lacking = _lacking(table, present, wanted)
    if not present:
        transaction.create(table, wanted)
    elif lacking:
        transaction.add_columns(table, lacking)
    return tuple(field.name for field in lacking)


def _lacking(table: str, present: Mapping[str, pa.DataType], wanted: pa.Schema) -> list[pa.Field]:
    for field in wanted:
        if field.name in present and present[field.name] != field.type:
            raise OlapSchemaError(table, field.name, str(present[field.name]), str(field.type))
    return [field for field in wanted if field.name not in present]


def _types(schema: pa.Schema) -> dict[str, pa.DataType]:
    return {field.name: field.type for field in schema}


def _compare(table: str, partition: Partition, sent: pa.Table, stored: pa.Table, added: tuple[str, ...]) -> Publication:
    expected, actual = content_checksum(sent), content_checksum(stored)
    if (stored.num_rows, actual) != (sent.num_rows, expected):
        raise OlapComparisonError(
            table, describe(partition), f"{sent.num_rows} rows {expected}", f"{stored.num_rows} rows {actual}"
        )
    return Publication(table, stored.num_rows, actual, added)


_NULL_CELL: Final = "-"
_BITS: Final = 128


def content_checksum(data: pa.Table) -> str:
    """128 bits as 32 hexadecimal digits, over all rows and columns of `data` (stored types, see arrow_types)."""
    total = sum(_row_hash(row) for row in _row_texts(data))
    return f"{total % (1 << _BITS):0{_BITS // 4}x}"


def _row_texts(data: pa.Table) -> list[str]:
    if data.num_columns == 0:
        return [""] * data.num_rows
    cells = [_cells(column) for column in data.columns]
    rows: list[str] = pc.binary_join_element_wise(*cells, "").to_pylist()
    return rows


def _cells(column: pa.ChunkedArray) -> pa.ChunkedArray:
    text = column.cast(pa.string())
    length = pc.utf8_length(text).cast(pa.string())
    return pc.fill_null(pc.binary_join_element_wise(length, text, ":"), _NULL_CELL)


def _row_hash(row: str) -> int:
    return int.from_bytes(hashlib.blake2b(row.encode(), digest_size=_BITS // 8).digest(), "big")
