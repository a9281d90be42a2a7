"""The embedded OLAP store: one DuckDB file.

DuckDB gives its file to one process at a time, and within a process to one configuration. So a connection lives for one
call, and a process's calls wait for a lock. If another process holds the file, the call retries with growing pauses up
to a limit.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pyarrow as pa

from tidemark.olap.errors import OlapBusyError, OlapRefusedError, OlapTableMissingError
from tidemark.olap.publishing import publish_partition
from tidemark.olap.sql_types import arrow_type, sql_type
from tidemark.quoting.standard import quote
from tidemark.system.crash_points import crash_point
from tidemark.system.files import private_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tidemark.olap.partition_values import Partition
    from tidemark.olap.store import Publication

_FIRST_PAUSE_SECONDS: Final = 0.02
_LONGEST_PAUSE_SECONDS: Final = 0.5
_INCOMING: Final = "tidemark_incoming"

_one_at_a_time: Final = threading.Lock()


@dataclass(frozen=True)
class DuckDbStore:
    """An OlapStore in the file `path`; `patience_seconds` limits the wait for a file that another process holds."""

    path: Path
    patience_seconds: float = 60.0
    clock: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep

    def publish(self, table: str, data: pa.Table, partition: Partition) -> Publication:
        """See OlapStore.publish."""
        private_directory(self.path.parent)
        with self._connection() as connection:
            connection.begin()
            try:
                publication = publish_partition(_DuckDbTransaction(connection), table, data, partition)
            except BaseException:
                connection.rollback()
                raise
            crash_point("olap.before_commit")
            connection.commit()
        crash_point("olap.after_commit")
        return publication

    def read(self, table: str, partition: Partition) -> pa.Table:
        """See OlapStore.read."""
        if not self.path.exists():
            raise OlapTableMissingError(table, str(self.path))
        with self._connection() as connection:
            transaction = _DuckDbTransaction(connection)
            columns = transaction.columns(table)
            if not columns:
                raise OlapTableMissingError(table, str(self.path))
            return transaction.select(table, columns, partition)

    def remove(self, table: str, partition: Partition) -> None:
        """See OlapStore.remove."""
        if not self.path.exists():
            return
        with self._connection() as connection:
            transaction = _DuckDbTransaction(connection)
            if transaction.columns(table):
                transaction.delete(table, partition)

    @contextmanager
    def _connection(self) -> Iterator[duckdb.DuckDBPyConnection]:
        if not _one_at_a_time.acquire(timeout=self.patience_seconds):
            raise OlapBusyError(str(self.path), "another thread of this process", self.patience_seconds)
        try:
            with self._open() as connection:
                yield connection
        except duckdb.Error as error:
            raise OlapRefusedError(str(self.path), str(error)) from error
        finally:
            _one_at_a_time.release()

    def _connect(self) -> duckdb.DuckDBPyConnection:
        """A connection.

        A new file is private to its owner; DuckDB does not open an empty one that was created before.
        """
        is_new = not self.path.exists()
        connection = duckdb.connect(str(self.path))
        if is_new:
            self.path.chmod(0o600)
        return connection

    def _open(self) -> duckdb.DuckDBPyConnection:
        deadline = self.clock() + self.patience_seconds
        pause_seconds = _FIRST_PAUSE_SECONDS
        while True:
            try:
                return self._connect()
            except duckdb.IOException as error:
                if "lock" not in str(error):
                    raise
                if self.clock() + pause_seconds > deadline:
                    raise OlapBusyError(str(self.path), _holder(str(error)), self.patience_seconds) from error
            self.pause(pause_seconds)
            pause_seconds = min(pause_seconds * 2, _LONGEST_PAUSE_SECONDS)


def _holder(message: str) -> str:
    """The `/path/of/program (PID 12)` in DuckDB's message."""
    return message.partition("held in ")[2].partition(". See")[0] or message


@dataclass(frozen=True)
class _DuckDbTransaction:
    """A PublishTransaction. The locks do nothing, because the process has the whole file."""

    connection: duckdb.DuckDBPyConnection

    def columns(self, table: str) -> Mapping[str, pa.DataType]:
        rows = self.connection.execute(
            "SELECT column_name, data_type FROM duckdb_columns() "
            "WHERE schema_name = current_schema() AND database_name = current_database() AND table_name = $1 "
            "ORDER BY column_index",
            [table],
        ).fetchall()
        return {name: arrow_type(name, declared, "duckdb") for name, declared in rows}

    def lock_schema(self, table: str) -> None: ...

    def lock_partition(self, table: str, partition: Partition) -> None: ...

    def create(self, table: str, schema: pa.Schema) -> None:
        self.connection.execute(f"CREATE TABLE {_quote(table)} ({', '.join(map(_definition, schema))})")

    def add_columns(self, table: str, fields: Sequence[pa.Field]) -> None:
        for field in fields:
            self.connection.execute(f"ALTER TABLE {_quote(table)} ADD COLUMN {_definition(field)}")

    def delete(self, table: str, partition: Partition) -> None:
        where, values = _condition(partition)
        self.connection.execute(f"DELETE FROM {_quote(table)} {where}", values)  # noqa: S608 - quoted, bound

    def insert(self, table: str, data: pa.Table) -> None:
        names = ", ".join(_quote(name) for name in data.column_names)
        self.connection.register(_INCOMING, data)
        self.connection.execute(
            f"INSERT INTO {_quote(table)} ({names}) SELECT {names} FROM {_INCOMING}"  # noqa: S608 - quoted
        )
        self.connection.unregister(_INCOMING)

    def select(self, table: str, columns: Mapping[str, pa.DataType], partition: Partition) -> pa.Table:
        names = ", ".join(_quote(name) for name in columns)
        where, values = _condition(partition)
        rows = self.connection.sql(
            f"SELECT {names} FROM {_quote(table)} {where}",  # noqa: S608 - quoted, bound
            params=values,
        ).to_arrow_table()
        return rows.cast(pa.schema(list(columns.items())))


def _quote(name: str) -> str:
    return quote(name, "duckdb")


def _definition(field: pa.Field) -> str:
    return f"{_quote(field.name)} {sql_type(field.type, 'duckdb')}"


def _condition(partition: Partition) -> tuple[str, list[Any]]:
    if not partition:
        return "", []
    tests = " AND ".join(f"{_quote(column)} = ${at}" for at, column in enumerate(partition, start=1))
    return f"WHERE {tests}", list(partition.values())
