"""Checks an instance's server: login, binlog settings, and the rights to write heartbeats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pymysql
from pymysql.constants import ER

from tidemark.capture.heartbeat.errors import DatabaseDownError
from tidemark.capture.heartbeat.heartbeat_record import KNOWN, TABLE
from tidemark.capture.heartbeat.writer import CREATE, missing_columns, problem_of, session, write_sql
from tidemark.capture.operations.preflight.binlog import SETTINGS, binlog
from tidemark.capture.operations.preflight.captured_tables import captured_tables, read_catalog
from tidemark.quoting.mysql import quote
from tidemark.system.check_finding import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pymysql.cursors import Cursor

    from tidemark.capture.heartbeat.heartbeat_record import KnownColumn
    from tidemark.capture.heartbeat.source_databases import HeartbeatDatabase
    from tidemark.capture.source_table import SourceTable

_VARIABLE: Final = "TIDEMARK_DATABASES"
_TO_DO: Final = {
    ER.ACCESS_DENIED_ERROR: f"correct user and password in {_VARIABLE}",
    ER.BAD_DB_ERROR: f"correct the database after the host in {_VARIABLE}, or create it",
}
_NOT_GRANTED: Final = {ER.DBACCESS_DENIED_ERROR, ER.TABLEACCESS_DENIED_ERROR, ER.COLUMNACCESS_DENIED_ERROR}


def database(address: HeartbeatDatabase, sources: Sequence[SourceTable] = ()) -> list[Finding]:
    """The findings about the server. Nothing is written, and no finding has the password."""
    try:
        with session(address) as opened, opened.cursor() as cursor:
            settings, catalog = _settings(cursor), read_catalog(cursor)
            tables = captured_tables(address.instance, catalog, sources)
            server = [*binlog(address.instance, settings), *_rolled_back(address, cursor)]
            return [_reach(address), *server, *_grants(address, cursor), *tables]
    except pymysql.err.MySQLError as error:
        return [_refusal(address, error)]


def _reach(address: HeartbeatDatabase) -> Finding:
    return Finding(f"database {address.instance}", "ok", f"{address} answers")


def _refusal(address: HeartbeatDatabase, error: pymysql.err.MySQLError) -> Finding:
    problem = problem_of(address, error)
    description = f"{address}: {problem.found}"
    if isinstance(problem, DatabaseDownError):
        to_do = f"start the server, or correct its address in {_VARIABLE}"
        return Finding(f"database {address.instance}", "unreachable", description, to_do)
    to_do = _TO_DO.get(error.args[0]) or _grant(address, "INSERT, UPDATE, CREATE")
    return Finding(f"database {address.instance}", "problem", description, to_do)


def _settings(cursor: Cursor) -> dict[str, str]:
    cursor.execute("SHOW GLOBAL VARIABLES WHERE Variable_name IN %s", (SETTINGS,))
    return {str(name).lower(): str(value) for name, value in cursor.fetchall()}


def _rolled_back(address: HeartbeatDatabase, cursor: Cursor) -> list[Finding]:
    """Whether prepared transactions were rolled back on this server: their rows stay in the binlog."""
    cursor.execute("SHOW GLOBAL STATUS LIKE 'Com_xa_rollback'")
    (_, count) = cursor.fetchone() or ("", 0)
    if not int(count):
        return []
    problem = (
        f"XA ROLLBACK was executed {count} times: MariaDB writes a transaction's rows at XA PREPARE, and they stay"
    )
    to_do = "find the rows with tidemark audit, and reload them; see docs/capture.md, XA transactions"
    return [Finding(f"database {address.instance}: XA", "warning", problem, to_do)]


def _grants(address: HeartbeatDatabase, cursor: Cursor) -> list[Finding]:
    """Whether heartbeats can be written.

    The server itself checks a prepared statement, with all roles and wildcards.
    """
    subject = f"database {address.instance}: grants"
    refused, left = _refusal_of_statement(cursor, write_sql()), list[Finding]()
    if refused is not None and refused.args[0] == ER.NO_SUCH_TABLE:
        refused = _refusal_of_statement(cursor, CREATE)
    elif refused is not None and refused.args[0] == ER.BAD_FIELD_ERROR:
        missing = missing_columns(cursor)
        written = write_sql(known for known in KNOWN if known not in missing)
        refused, left = _refusal_of_statement(cursor, written), [_without_columns(address, missing)]
    if refused is None:
        return [Finding(subject, "ok", "heartbeats can be written"), *left]
    if refused.args[0] not in _NOT_GRANTED:
        raise refused
    return [Finding(subject, "problem", str(refused.args[-1]), _grant(address, "INSERT, UPDATE, CREATE"))]


def _without_columns(address: HeartbeatDatabase, missing: Sequence[KnownColumn]) -> Finding:
    names = ", ".join(known.name for known in missing)
    problem = f"{TABLE} lacks {names}: wrong settings of a connector, which change values, are not detected"
    added = ", ".join(f"ADD COLUMN {known.name} {known.declaration}" for known in missing)
    to_do = f"ALTER TABLE {quote(address.name)}.{TABLE} {added}"
    return Finding(f"database {address.instance}: heartbeats", "warning", problem, to_do)


def _refusal_of_statement(cursor: Cursor, statement: str) -> pymysql.err.MySQLError | None:
    """The server's error for a statement, None if it would be executed."""
    try:
        cursor.execute("PREPARE tidemark_check FROM %s", (statement.replace("%s", "?"),))
    except pymysql.err.MySQLError as error:
        return error
    cursor.execute("DEALLOCATE PREPARE tidemark_check")
    return None


def _grant(address: HeartbeatDatabase, rights: str) -> str:
    return f"GRANT {rights} ON {quote(address.name)}.* TO the user {address.user}, or name another in {_VARIABLE}"
