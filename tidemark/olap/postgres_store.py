"""The served OLAP store: a PostgreSQL database, through psycopg2 and COPY.

Publishers of different partitions do not wait for each other. Two publishers of one partition do, by an advisory lock
for the transaction; otherwise both would delete nothing and both insert. The same holds for two that create or widen a
table.
"""

from __future__ import annotations

import hashlib
import io
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import psycopg2
import pyarrow as pa
import pyarrow.compute as pc
from psycopg2 import extensions

from tidemark.olap.errors import OlapBusyError, OlapDownError, OlapRefusedError, OlapTableMissingError
from tidemark.olap.partition_values import describe
from tidemark.olap.publishing import publish_partition
from tidemark.olap.sql_types import arrow_type, sql_type
from tidemark.quoting.standard import quote
from tidemark.system.crash_points import crash_point
from tidemark.system.masked_urls import masked_url, without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlalchemy import URL

    from tidemark.olap.partition_values import Partition
    from tidemark.olap.store import Publication

_CONNECT_SECONDS: Final = 10
_LOCK_SECONDS: Final = 60
_FETCH_ROWS: Final = 10_000
# Temporary conditions: no free connections, server starting or stopping, lock not free, deadlock.
_PASSING_CODES: Final = ("53300", "57P01", "57P03", "55P03", "40P01", "40001")
_UNREACHABLE: Final = (
    "Connection refused",
    "Connection reset",
    "No route to host",
    "Network is unreachable",
    "timeout expired",
    "could not translate host name",
    "server closed the connection unexpectedly",
    "Is the server running",
    "too many clients",
    "the database system is",
)


@dataclass(frozen=True)
class PostgresStore:
    """An OlapStore in the database of `url`; its tables are in the user's default schema."""

    url: URL = field(repr=False)
    lock_seconds: int = _LOCK_SECONDS

    def publish(self, table: str, data: pa.Table, partition: Partition) -> Publication:
        """See OlapStore.publish."""
        with self._connection() as connection:
            publication = publish_partition(_PostgresTransaction(connection), table, data, partition)
            crash_point("olap.before_commit")
            connection.commit()
        crash_point("olap.after_commit")
        return publication

    def read(self, table: str, partition: Partition) -> pa.Table:
        """See OlapStore.read."""
        with self._connection() as connection:
            transaction = _PostgresTransaction(connection)
            columns = transaction.columns(table)
            if not columns:
                raise OlapTableMissingError(table, self.where)
            return transaction.select(table, columns, partition)

    def remove(self, table: str, partition: Partition) -> None:
        """See OlapStore.remove."""
        with self._connection() as connection:
            transaction = _PostgresTransaction(connection)
            if transaction.columns(table):
                transaction.lock_partition(table, partition)
                transaction.delete(table, partition)
            connection.commit()

    def refresh_view(self, view: str) -> None:
        """Compute a materialized view again. Readers wait only if it has no unique index.

        Raises OlapTableMissingError if there is no such view, OlapBusyError, OlapDownError, OlapRefusedError.
        """
        with self._connection() as connection:
            can_be_read = _PostgresTransaction(connection).can_be_read_meanwhile(view)
            if can_be_read is None:
                raise OlapTableMissingError(view, self.where)
            with connection.cursor() as cursor:
                cursor.execute(f"REFRESH MATERIALIZED VIEW {'CONCURRENTLY ' * can_be_read}{_quote(view)}")
            connection.commit()

    @property
    def where(self) -> str:
        """The URL with its secrets masked."""
        return masked_url(self.url)

    @contextmanager
    def _connection(self) -> Iterator[extensions.connection]:
        try:
            connection = self._connect()
            try:
                yield connection
            finally:
                connection.close()
        except psycopg2.Error as error:
            # Not chained: the driver's text and traceback may hold the connection string.
            raise self._translate(error) from None

    def _connect(self) -> extensions.connection:
        """A connection. The URL's parameters (`sslmode=verify-full`, ...) override the defaults here."""
        _, given = self.url.get_dialect()().create_connect_args(self.url)
        ours = f"-c timezone=UTC -c lock_timeout={self.lock_seconds}s"
        options = f"{given.pop('options', '')} {ours}".strip()
        defaults = {"connect_timeout": _CONNECT_SECONDS, "application_name": "tidemark"}
        return psycopg2.connect(**{**defaults, **given, "options": options})

    def _translate(self, error: psycopg2.Error) -> OlapRefusedError | OlapBusyError | OlapDownError:
        message = without_secrets(str(error).strip(), self.url)
        if error.pgcode in _PASSING_CODES:
            return OlapBusyError(self.where, message, self.lock_seconds)
        if isinstance(error, psycopg2.OperationalError) and _is_unreachable(message):
            return OlapDownError(self.where, message)
        return OlapRefusedError(self.where, message)


def _is_unreachable(message: str) -> bool:
    """Whether the server did not answer, or was not ready. While connecting, the driver gives only a text, no code."""
    return any(words in message for words in _UNREACHABLE)


@dataclass(frozen=True)
class _PostgresTransaction:
    """A PublishTransaction on a connection without autocommit: its first statement opens the transaction."""

    connection: extensions.connection

    def columns(self, table: str) -> Mapping[str, pa.DataType]:
        rows = self._rows(
            "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute "
            "WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
            [_quote(table)],
        )
        return {name: arrow_type(name, declared, "postgresql") for name, declared in rows}

    def can_be_read_meanwhile(self, view: str) -> bool | None:
        """Whether readers can go on during a refresh of a materialized view; None if there is no such view."""
        rows = self._rows(
            "SELECT relispopulated AND EXISTS (SELECT FROM pg_index WHERE indrelid = pg_class.oid AND indisunique "
            "AND indisvalid AND indpred IS NULL AND indexprs IS NULL) "
            "FROM pg_class WHERE oid = to_regclass(%s) AND relkind = 'm'",
            [_quote(view)],
        )
        return bool(rows[0][0]) if rows else None

    def lock_schema(self, table: str) -> None:
        self._lock(f"schema of {table}")

    def lock_partition(self, table: str, partition: Partition) -> None:
        self._lock(f"partition {table}/{describe(partition)}")

    def create(self, table: str, schema: pa.Schema) -> None:
        self._execute(f"CREATE TABLE {_name(table)} ({', '.join(map(_definition, schema))})")

    def add_columns(self, table: str, fields: Sequence[pa.Field]) -> None:
        additions = ", ".join(f"ADD COLUMN {_definition(added)}" for added in fields)
        self._execute(f"ALTER TABLE {_name(table)} {additions}")

    def delete(self, table: str, partition: Partition) -> None:
        where, values = _condition(partition)
        self._execute(f"DELETE FROM {_name(table)} {where}", values)  # noqa: S608 - quoted, bound

    def insert(self, table: str, data: pa.Table) -> None:
        names = ", ".join(_quote(name) for name in data.column_names)
        with self.connection.cursor() as cursor:
            cursor.copy_expert(f"COPY {_quote(table)} ({names}) FROM STDIN", io.StringIO(_copy_text(data)))

    def select(self, table: str, columns: Mapping[str, pa.DataType], partition: Partition) -> pa.Table:
        names = ", ".join(_name(name) for name in columns)
        where, values = _condition(partition)
        rows = self._rows(f"SELECT {names} FROM {_name(table)} {where}", values)  # noqa: S608 - quoted, bound
        cells = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
        arrays = [pa.array(column, stored) for column, stored in zip(cells, columns.values(), strict=True)]
        return pa.table(arrays, names=list(columns))

    def _lock(self, subject: str) -> None:
        """Wait for the advisory lock of `subject`. PostgreSQL releases it with the transaction."""
        key = int.from_bytes(hashlib.blake2b(subject.encode(), digest_size=8).digest(), "big", signed=True)
        self._execute("SELECT pg_advisory_xact_lock(%s)", [key])

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(statement, tuple(values))

    def _rows(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        with self.connection.cursor() as cursor:
            cursor.execute(statement, tuple(values))
            rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def _copy_text(data: pa.Table) -> str:
    r"""`data` in COPY's text format: cells separated by tabs, `\N` for NULL, backslashes and line ends escaped."""
    lines = pc.binary_join_element_wise(*(_copy_cells(column) for column in data.columns), "\t").to_pylist()
    return "".join(f"{line}\n" for line in lines)


def _copy_cells(column: pa.ChunkedArray) -> pa.ChunkedArray:
    text = column.cast(pa.string())
    for raw, escaped in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        text = pc.replace_substring(text, raw, escaped)
    return pc.fill_null(text, "\\N")


def _quote(name: str) -> str:
    return quote(name, "postgresql")


def _name(identifier: str) -> str:
    """The identifier for a statement whose values psycopg2 fills in: a `%` is doubled."""
    return _quote(identifier).replace("%", "%%")


def _definition(column: pa.Field) -> str:
    return f"{_name(column.name)} {sql_type(column.type, 'postgresql')}"


def _condition(partition: Partition) -> tuple[str, list[Any]]:
    if not partition:
        return "", []
    tests = " AND ".join(f"{_name(column)} = %s" for column in partition)
    return f"WHERE {tests}", list(partition.values())
