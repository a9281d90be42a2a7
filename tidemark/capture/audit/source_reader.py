"""Reads ranges of shards at a source database: read-only, each in one snapshot, with a time limit.

The user needs only SELECT. MariaDB reports the snapshot's binlog position to every user. MySQL reports its newest
position, which is after the snapshot, to users with REPLICATION CLIENT. Without a position the server's time is used.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pymysql

from tidemark.capture.audit.audited_range import Patch, bucket_sql, is_in_buckets, is_in_slice
from tidemark.capture.audit.canonical_text import PhysicalColumn
from tidemark.capture.audit.errors import AuditRefusedError, SlowRangeError
from tidemark.capture.audit.group_checksum import GroupChecksum, Groups, checksum_sql
from tidemark.capture.audit.source_mark import SourceMark
from tidemark.capture.heartbeat.errors import DatabaseDownError
from tidemark.capture.heartbeat.writer import problem_of, session
from tidemark.quoting.mysql import quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pymysql.cursors import Cursor

    from tidemark.capture.audit.compared_shard import ComparedShard
    from tidemark.capture.heartbeat.source_databases import HeartbeatDatabase

STATEMENT_SECONDS: Final = 60
_TIME_LIMITS: Final = (
    f"SET SESSION max_statement_time = {STATEMENT_SECONDS}",
    f"SET SESSION max_execution_time = {STATEMENT_SECONDS * 1000}",
)
"""For MariaDB in seconds, for MySQL in milliseconds."""
_TOO_SLOW: Final = {1969, 3024}
"""Error codes of an exceeded limit, on MariaDB and MySQL."""
_COLUMNS: Final = (
    "SELECT column_name, column_type, is_nullable FROM information_schema.columns "
    "WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position"
)
_TABLES: Final = (
    "SELECT table_schema, table_name, table_rows FROM information_schema.tables WHERE table_type = 'BASE TABLE'"
)
_SNAPSHOT: Final = "SHOW STATUS LIKE 'binlog_snapshot_%'"
_POSITIONS: Final = ("SHOW MASTER STATUS", "SHOW BINARY LOG STATUS")


class GroupReading(NamedTuple):
    """Counts and checksums of a patch's rows, by bucket."""

    mark: SourceMark
    groups: Groups


class RowReading(NamedTuple):
    """The rows of a patch: row text by key text."""

    mark: SourceMark
    rows: Mapping[str, str]


class SourceReader:
    """Reads the tables of one instance. Every method raises DatabaseDownError (transient) and AuditRefusedError."""

    def __init__(self, database: HeartbeatDatabase) -> None:
        self._database = database
        self._session: pymysql.Connection[Cursor] | None = None

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
        self._session = None

    @property
    def connection_id(self) -> int | None:
        """The server's id of the session; None before the first query."""
        if self._session is None:
            return None
        number: int = self._session.thread_id()  # type: ignore[no-untyped-call]
        return number

    def tables(self) -> Mapping[str, int]:
        """The tables (`school.orders_0`) that the user may see, with an estimate of their rows."""
        with self._cursor() as cursor:
            cursor.execute(_TABLES)
            return {f"{schema}.{table}": int(rows or 0) for schema, table, rows in cursor.fetchall()}

    def columns(self, physical: str) -> tuple[PhysicalColumn, ...]:
        """The current columns of a table."""
        with self._cursor() as cursor:
            cursor.execute(_COLUMNS, physical.split(".", 1))
            listed = cursor.fetchall()
            return tuple(PhysicalColumn(str(name), _text(printed), null == "YES") for name, printed, null in listed)

    def next_bound(self, physical: str, shard: ComparedShard, low: str | None, rows: int) -> str | None:
        """The first key column's value in the row that is `rows` rows after `low`; None if there are fewer rows."""
        if shard.first is None:
            raise AssertionError(f"{physical}: no range of its key")
        first = quote(shard.first[0].name)
        behind, bound = ("TRUE", []) if low is None else (f"{first} > %s", [low])
        with self._cursor() as cursor:
            cursor.execute(
                f"SELECT {first} FROM {_table(physical)} WHERE {behind} ORDER BY {first} LIMIT 1 OFFSET %s",  # noqa: S608
                (*bound, rows - 1),
            )
            row = cursor.fetchone()
        return None if row is None else str(row[0])

    def groups(self, patch: Patch, shard: ComparedShard) -> GroupReading:
        """Counts and checksums of the patch's rows."""
        bucket = bucket_sql(shard.key_texts[0], patch.range, "DIV")
        what = f"{bucket} AS bucket, COUNT(*), {checksum_sql(shard.row_texts[0])}"
        mark, rows = self._in_snapshot(patch, shard, what, "GROUP BY bucket")
        return GroupReading(mark, {int(number): GroupChecksum(int(count), int(sum_)) for number, count, sum_ in rows})

    def rows(self, patch: Patch, shard: ComparedShard) -> RowReading:
        """The patch's rows as text."""
        mark, rows = self._in_snapshot(patch, shard, f"{shard.key_texts[0]}, {shard.row_texts[0]}", "")
        return RowReading(mark, {_text(key): _text(row) for key, row in rows})

    def _in_snapshot(
        self, patch: Patch, shard: ComparedShard, what: str, end: str
    ) -> tuple[SourceMark, Sequence[tuple[Any, ...]]]:
        condition, bounds = _condition(patch, shard)
        with self._cursor() as cursor:
            cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
            mark = _mark(cursor)
            cursor.execute(f"SELECT {what} FROM {_table(patch.physical)} WHERE {condition} {end}", bounds)  # noqa: S608
            rows = cursor.fetchall()
            cursor.execute("COMMIT")
        return mark, rows

    @contextmanager
    def _cursor(self) -> Iterator[Cursor]:
        try:
            if self._session is None:
                self._session = _open(self._database)
            with self._session.cursor() as cursor:
                yield cursor
        except pymysql.err.MySQLError as error:
            self.close()
            if error.args and error.args[0] in _TOO_SLOW:
                raise SlowRangeError.of(self._database.instance, STATEMENT_SECONDS) from error
            problem = problem_of(self._database, error)
            if isinstance(problem, DatabaseDownError):
                raise problem from error
            raise AuditRefusedError.of(self._database.instance, str(self._database), str(problem.found)) from error


def _open(database: HeartbeatDatabase) -> pymysql.Connection[Cursor]:
    opened = session(database, STATEMENT_SECONDS + 5)
    with opened.cursor() as cursor:
        _first_that_works(cursor, _TIME_LIMITS)
        cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    return opened


def _mark(cursor: Cursor) -> SourceMark:
    """The mark of the snapshot that was just opened."""
    cursor.execute("SELECT CAST(1000 * UNIX_TIMESTAMP(SYSDATE(3)) AS UNSIGNED)")
    now = cursor.fetchone() or (0,)
    cursor.execute(_SNAPSHOT)
    told = {str(name).lower(): str(value) for name, value in cursor.fetchall()}
    if told.get("binlog_snapshot_file"):
        return SourceMark.of(int(now[0]), told["binlog_snapshot_file"], int(told["binlog_snapshot_position"]))
    newest = cursor.fetchone() if _first_that_works(cursor, _POSITIONS) else None
    return SourceMark.of(int(now[0]), str(newest[0]), int(newest[1])) if newest else SourceMark(int(now[0]))


def _first_that_works(cursor: Cursor, statements: Sequence[str]) -> bool:
    """Execute the first statement that the server knows and allows. Returns whether there was one."""
    for statement in statements:
        try:
            cursor.execute(statement)
        except (pymysql.err.OperationalError, pymysql.err.ProgrammingError, pymysql.err.InternalError):
            continue
        return True
    return False


def _condition(patch: Patch, shard: ComparedShard) -> tuple[str, tuple[str | int, ...]]:
    """SQL of the condition for the patch's rows, and its bound values."""
    text, range_ = shard.key_texts[0], patch.range
    sides, bounds = _sides(patch, shard)
    in_buckets = is_in_buckets(bucket_sql(text, range_, "DIV"), patch.buckets)
    return " AND ".join((*sides, is_in_slice(text, range_), in_buckets)), bounds


def _sides(patch: Patch, shard: ComparedShard) -> tuple[list[str], tuple[str | int, ...]]:
    if shard.first is None:
        return [], ()
    first, range_ = quote(shard.first[0].name), patch.range
    given = [(f"{first} > %s", range_.low), (f"{first} <= %s", range_.high)]
    sides = [sql for sql, value in given if value is not None]
    if patch.first_values:
        sides.append(f"{first} IN ({', '.join(['%s'] * len(patch.first_values))})")
    return sides, (*(value for _, value in given if value is not None), *patch.first_values)


def _table(physical: str) -> str:
    schema, _, table = physical.partition(".")
    return f"{quote(schema)}.{quote(table)}"


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
