"""Writes heartbeats: the writer's time into a table of each instance, so that its binlog always has records (B3).

A heartbeat that arrives at the end of the chain proves that no part is broken. One process writes all of them, so they
also show whose clock is wrong (heartbeat.trusted_times).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import pymysql
from pymysql.constants import CR, ER

from tidemark.capture.heartbeat.errors import DatabaseDownError, HeartbeatRefusedError
from tidemark.capture.heartbeat.heartbeat_record import COLUMN, KNOWN, TABLE, KnownColumn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pymysql.cursors import Cursor

    from tidemark.capture.heartbeat.source_databases import HeartbeatDatabase
    from tidemark.errors import TidemarkError

# Shorter than the interval of heartbeats: a dead instance must not delay the others.
_SECONDS = 5
_NO_TABLE, _NO_COLUMN = ER.NO_SUCH_TABLE, ER.BAD_FIELD_ERROR
_DOWN = {CR.CR_CONNECTION_ERROR, CR.CR_CONN_HOST_ERROR, CR.CR_SERVER_GONE_ERROR, CR.CR_SERVER_LOST, 1040, 1053}

# Without a default, the first TIMESTAMP of a table may change by itself. The time has milliseconds, because an update
# without a change is not in the binlog.
CREATE: Final = (
    f"CREATE TABLE IF NOT EXISTS {TABLE} "
    f"(id INT PRIMARY KEY, {COLUMN} TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), "
    f"{', '.join(f'{known.name} {known.declaration}' for known in KNOWN)})"
)


def write_sql(known: Iterable[KnownColumn] = KNOWN) -> str:
    """The statement of a heartbeat with these known columns. Its parameter is the time as text in UTC."""
    columns = {COLUMN: "%s", **{column.name: column.value for column in known}}
    updates = ", ".join(f"{name} = VALUES({name})" for name in columns)
    return (
        f"INSERT INTO {TABLE} (id, {', '.join(columns)}) VALUES (1, {', '.join(columns.values())}) "  # noqa: S608 - our own names
        f"ON DUPLICATE KEY UPDATE {updates}"
    )


def missing_columns(cursor: Cursor) -> tuple[KnownColumn, ...]:
    """The known columns that the table lacks, because an older version or a person created it. Raises MySQLError."""
    cursor.execute(f"SHOW COLUMNS FROM {TABLE}")
    there = {str(row[0]).lower() for row in cursor.fetchall()}
    return tuple(known for known in KNOWN if known.name not in there)


@dataclass(frozen=True)
class Written:
    """The result of one instance's heartbeat: `problem` is None after success."""

    instance: str
    problem: TidemarkError | None


def write_heartbeats(databases: Iterable[HeartbeatDatabase], now: datetime) -> tuple[Written, ...]:
    """Write `now` on every instance. A failure of one does not affect the others."""
    return tuple(_write(database, now) for database in databases)


def _write(database: HeartbeatDatabase, now: datetime) -> Written:
    try:
        write_heartbeat(database, now)
    except (DatabaseDownError, HeartbeatRefusedError) as problem:
        return Written(database.instance, problem)
    return Written(database.instance, None)


def write_heartbeat(database: HeartbeatDatabase, now: datetime) -> None:
    """Write `now`, and create a missing table. Raises DatabaseDownError, HeartbeatRefusedError."""
    text = f"{now.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}"
    try:
        with session(database) as opened, opened.cursor() as cursor:
            _execute(cursor, text)
    except pymysql.err.MySQLError as error:
        raise problem_of(database, error) from error


def _execute(cursor: Cursor, text: str) -> None:
    try:
        cursor.execute(write_sql(), (text,))
    except (pymysql.err.ProgrammingError, pymysql.err.OperationalError) as error:
        if error.args[0] == _NO_COLUMN:
            missing = missing_columns(cursor)
            cursor.execute(write_sql(known for known in KNOWN if known not in missing), (text,))
        elif error.args[0] == _NO_TABLE:
            cursor.execute(CREATE)
            cursor.execute(write_sql(), (text,))
        else:
            raise


def session(database: HeartbeatDatabase, seconds: int = _SECONDS) -> pymysql.Connection[Cursor]:
    """A session in UTC that gives up after `seconds` without an answer. Raises MySQLError."""
    return pymysql.connect(
        host=database.host,
        port=database.port,
        user=database.user,
        password=database.password,
        database=database.name,
        charset="utf8mb4",
        autocommit=True,
        connect_timeout=_SECONDS,
        read_timeout=seconds,
        write_timeout=_SECONDS,
        init_command="SET time_zone = '+00:00'",
        ssl=None if database.ca is None else {"ca": database.ca, "check_hostname": True, "verify_mode": "required"},
    )


def problem_of(database: HeartbeatDatabase, error: pymysql.err.MySQLError) -> DatabaseDownError | HeartbeatRefusedError:
    """Our error for the server's error."""
    code, said = error.args[0] if error.args else None, str(error.args[-1] if error.args else error)
    kind = DatabaseDownError if code in _DOWN else HeartbeatRefusedError
    return kind.of(database.instance, str(database), said)
