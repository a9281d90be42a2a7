"""Rows of a Delta table without Spark: pyarrow reads its files, or where they are not what they seem, DataFusion does.

Rows may be hidden by deletion vectors, and columns may have other names in the files. delta-rs's reader by pyarrow
refuses both, but the names only where the protocol lists features: otherwise it answers NULL in silence.
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
"""Reader features that leave the files to be read as they are."""
_INT96: Final = {"datafusion.execution.parquet.coerce_int96": "us"}
"""Spark's times in files, read as pyarrow reads them: nanoseconds do not reach back to 1677, nor on to 2262."""
_KNOWN: Final = _OF_PLAIN_FILES | {"columnMapping", "deletionVectors", "v2Checkpoint", "vacuumProtocolCheck"}


def rows_of_plain_files(table: DeltaTable) -> ds.Dataset | None:
    """The table's rows, of which no more is read than is asked for; None where DataFusion has to read its files.

    All rows of plain files are rows of the table, by the names that its columns have.
    """
    features = frozenset(table.protocol().reader_features or ())
    if _is_mapped(table) or not features <= _OF_PLAIN_FILES:
        return None
    from pyarrow import dataset as ds  # noqa: PLC0415 - it loads pandas

    return table.to_pyarrow_dataset(parquet_read_options=ds.ParquetReadOptions(coerce_int96_timestamp_unit="us"))


def stored_name(table: DeltaTable, column: str) -> str:
    """The name by which files, and the log's statistics of them, have a column."""
    named = (field.metadata.get(_STORED_NAME) for field in table.schema().fields if field.name == column)
    return str(next(named, None) or column) if _is_mapped(table) else column


def _is_mapped(table: DeltaTable) -> bool:
    return table.metadata().configuration.get(_MAPPING, "none") != "none"


@contextmanager
def unknown_features_told(table: DeltaTable, where: str) -> Iterator[None]:
    """Raise TableFeatureError where delta-rs refuses a table for a feature; `where` is how messages name the table."""
    try:
        yield
    except DeltaError as error:
        unknown = sorted(set(table.protocol().reader_features or ()) - _KNOWN)
        if not unknown:
            raise
        raise TableFeatureError.unreadable(where, unknown, sorted(_KNOWN)) from error


@dataclass(frozen=True)
class TableQuery:
    """A version of a table, to be asked in SQL by the name `t`; rows that deletion vectors hide are not in it."""

    _session: QueryBuilder

    @classmethod
    def of(cls, table: DeltaTable, where: str) -> TableQuery:
        """`where` is how messages name the table. Raises TableFeatureError, before anything is read."""
        with unknown_features_told(table, where):
            return cls(QueryBuilder(_INT96).register("t", table))

    def rows(self, condition: str = "", columns: Collection[str] = (), limit: int | None = None) -> RecordBatchReader:
        """Rows for which a condition in SQL holds, of these columns (of all without any), a batch at a time."""
        wanted = ", ".join(map(quote, columns)) or "*"
        those = f" WHERE {condition}" if condition else ""
        at_most = "" if limit is None else f" LIMIT {int(limit)}"
        return self._session.execute(f"SELECT {wanted} FROM t{those}{at_most}")  # noqa: S608 - quoted names


@dataclass(frozen=True)
class QueriedRows:
    """Rows for a reader of Arrow streams, such as DuckDB: whenever it scans them, they are queried anew."""

    query: TableQuery
    condition: str
    columns: tuple[str, ...]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.query.rows(self.condition, self.columns).__arrow_c_stream__(requested_schema)


def equal_to(values: Mapping[str, date | str | int]) -> str:
    """`"dt" = DATE '2026-03-23' AND "hour" = '07'`; empty without values."""
    return " AND ".join(f"{quote(name)} = {sql_literal(value)}" for name, value in values.items())


def queried_table(table: DeltaTable, where: str, partition: Mapping[str, date | str | int]) -> pa.Table:
    """All rows of a partition without its columns, in the types that the table declares. Raises TableFeatureError."""
    import pyarrow as pa  # noqa: PLC0415 - a command that looks at the log alone needs no Arrow

    declared = pa.schema(table.schema().to_arrow())
    columns = pa.schema([field for field in declared if field.name not in partition])
    rows = TableQuery.of(table, where).rows(equal_to(partition), columns.names)
    return pa.table(rows.read_all()).cast(columns)
