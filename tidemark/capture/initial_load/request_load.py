"""Requests a load by a row in an instance's signal table, which the connector reads in the binlog."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pymysql

from tidemark.capture.heartbeat.errors import DatabaseDownError
from tidemark.capture.heartbeat.writer import problem_of, session
from tidemark.capture.initial_load.errors import LoadRefusedError, NothingToLoadError
from tidemark.capture.initial_load.signal_table import CREATE, WRITE, requests

if TYPE_CHECKING:
    from collections.abc import Collection

    from pymysql.cursors import Cursor

    from tidemark.capture.heartbeat.source_databases import HeartbeatDatabase
    from tidemark.capture.source_table import SourceTable

_TABLES = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE'"
_COLUMNS = (
    "SELECT table_schema, table_name, column_name, column_type FROM information_schema.columns "
    "ORDER BY table_schema, table_name, ordinal_position"
)


def source_columns(database: HeartbeatDatabase, source: SourceTable) -> dict[str, dict[str, str]]:
    """The shards of a table on the instance, each with its columns: name -> type as the server prints it.

    Raises DatabaseDownError (transient), LoadRefusedError.
    """
    try:
        with session(database) as opened, opened.cursor() as cursor:
            shards: dict[str, dict[str, str]] = {name: {} for name in _shards(cursor, source)}
            cursor.execute(_COLUMNS)
            for schema, table, column, printed in cursor.fetchall():
                if f"{schema}.{table}" in shards:
                    shards[f"{schema}.{table}"][column] = printed
            return shards
    except pymysql.err.MySQLError as error:
        raise _refusal(database, error) from error


def request_load(
    database: HeartbeatDatabase, source: SourceTable, only: Collection[str] | None = None, condition: str = ""
) -> list[str]:
    """Request a load of all shards of a table on the instance, or of the shards in `only`. Returns their names.

    With a `condition` (SQL) the connector reads only rows that match it. The load goes on after a restart of any part.
    A repeated request loads the rows again. Raises DatabaseDownError (transient), LoadRefusedError, NothingToLoadError.
    """
    try:
        with session(database) as opened, opened.cursor() as cursor:
            tables = [name for name in _shards(cursor, source) if only is None or name in only]
            if not tables:
                raise NothingToLoadError.of(source.table, str(database))
            cursor.execute(CREATE)
            for data in requests(tables, condition):
                cursor.execute(WRITE, (str(uuid.uuid4()), data))
            return tables
    except pymysql.err.MySQLError as error:
        raise _refusal(database, error) from error


def _refusal(database: HeartbeatDatabase, error: pymysql.err.MySQLError) -> DatabaseDownError | LoadRefusedError:
    problem = problem_of(database, error)
    if isinstance(problem, DatabaseDownError):
        return problem
    return LoadRefusedError.of(database.instance, str(database), str(problem.found))


def _shards(cursor: Cursor, source: SourceTable) -> list[str]:
    cursor.execute(_TABLES)
    names = sorted(f"{schema}.{table}" for schema, table in cursor.fetchall())
    return [name for name in names if source.shards.matches(name)]
