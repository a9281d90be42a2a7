"""Rows of a Delta table without Spark: by pyarrow, or by DataFusion if the files alone do not show the rows.

Deletion vectors may hide rows, and columns may have other names in files. delta-rs's reader by pyarrow refuses both,
but column names only if the protocol lists features. Otherwise it silently returns NULL.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from deltalake import QueryBuilder
from deltalake.exceptions import DeltaError

from tidemark.delta.errors import TableFeatureError
from tidemark.quoting.datafusion import quote, sql_literal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from datetime import date

    import pyarrow as pa
    import pyarrow.dataset as ds
    from arro3.core import RecordBatchReader
    from deltalake import DeltaTable

_MAPPING: Final = "delta.columnMapping.mode"
_STORED_NAME: Final = "delta.columnMapping.physicalName"
_OF_PLAIN_FILES: Final = frozenset({"timestampNtz", "variantType", "variantType-preview"})
"""Reader features under which files can be read directly."""
_INT96: Final = {"datafusion.execution.parquet.coerce_int96": "us"}
"""Spark's times in files, read in microseconds like pyarrow: nanoseconds only cover 1677 to 2262."""
_KNOWN: Final = _OF_PLAIN_FILES | {"columnMapping", "deletionVectors", "v2Checkpoint", "vacuumProtocolCheck"}


def rows_of_plain_files(table: DeltaTable) -> ds.Dataset | None:
    """The table's rows as a lazy dataset; None if DataFusion has to read its files.

    In plain files, all rows belong to the table, and columns have its names.
    """
    features = frozenset(table.protocol().reader_features or ())
    if _is_mapped(table) or not features <= _OF_PLAIN_FILES:
        return None
    from pyarrow import dataset as ds  # noqa: PLC0415 - it loads pandas

    return table.to_pyarrow_dataset(parquet_read_options=ds.ParquetReadOptions(coerce_int96_timestamp_unit="us"))


def stored_name(table: DeltaTable, column: str) -> str:
    """The name of a column in files and in the log's statistics."""
    named = (field.metadata.get(_STORED_NAME) for field in table.schema().fields if field.name == column)
    return str(next(named, None) or column) if _is_mapped(table) else column


def _is_mapped(table: DeltaTable) -> bool:
    return table.metadata().configuration.get(_MAPPING, "none") != "none"


@contextmanager
def unknown_features_told(table: DeltaTable, where: str) -> Iterator[None]:
    """Turn delta-rs's refusal of a feature into TableFeatureError. `where` is the table's name in messages."""
    try:
        yield
    except DeltaError as error:
        unknown = sorted(set(table.protocol().reader_features or ()) - _KNOWN)
        if not unknown:
            raise
        raise TableFeatureError.unreadable(where, unknown, sorted(_KNOWN)) from error


@dataclass(frozen=True)
class TableQuery:
    """A version of a table for SQL queries, with the name `t`, without rows that deletion vectors hide."""

    _session: QueryBuilder

    @classmethod
    def of(cls, table: DeltaTable, where: str) -> TableQuery:
        """A query of the table. `where` is its name in messages. Raises TableFeatureError before anything is read."""
        with unknown_features_told(table, where):
            return cls(QueryBuilder(_INT96).register("t", table))

    def rows(self, condition: str = "", columns: Collection[str] = (), limit: int | None = None) -> RecordBatchReader:
        """Rows that match an SQL condition, with these columns (all if empty), in batches."""
        wanted = ", ".join(map(quote, columns)) or "*"
        those = f" WHERE {condition}" if condition else ""
        at_most = "" if limit is None else f" LIMIT {int(limit)}"
        return self._session.execute(f"SELECT {wanted} FROM t{those}{at_most}")  # noqa: S608 - quoted names


@dataclass(frozen=True)
class QueriedRows:
    """Rows for readers of Arrow streams, such as DuckDB. Each scan runs the query again."""

    query: TableQuery
    condition: str
    columns: tuple[str, ...]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.query.rows(self.condition, self.columns).__arrow_c_stream__(requested_schema)


def equal_to(values: Mapping[str, date | str | int]) -> str:
    """The condition `"dt" = DATE '2026-03-23' AND "hour" = '07'`; empty without values."""
    return " AND ".join(f"{quote(name)} = {sql_literal(value)}" for name, value in values.items())


def queried_table(table: DeltaTable, where: str, partition: Mapping[str, date | str | int]) -> pa.Table:
    """All rows of a partition without its columns, in the table's declared types. Raises TableFeatureError."""
    import pyarrow as pa  # noqa: PLC0415 - a command that looks at the log alone needs no Arrow

    declared = pa.schema(table.schema().to_arrow())
    columns = pa.schema([field for field in declared if field.name not in partition])
    rows = TableQuery.of(table, where).rows(equal_to(partition), columns.names)
    return pa.table(rows.read_all()).cast(columns)
