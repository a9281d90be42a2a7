"""Replays the recorded school on real servers, faster than in reality: their clocks show recorded times.

The position of an instance is stored in a separate database of the server, in the transaction of the replayed
statements. So after a kill at any moment, no statement is repeated or lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pymysql.constants import ER
from pymysql.err import MySQLError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pymysql
    from pymysql.cursors import Cursor

    from tidemark.console.cdc_demo.recording import Recording
    from tidemark.console.cdc_demo.sql_statements import Statement

    Session = pymysql.Connection[Cursor]

DATABASE: Final = "school"
# Not captured: only DATABASE is captured.
_NOTES: Final = "played"
_NOTE: Final = f"REPLACE INTO {_NOTES}.place VALUES (1, %s)"  # noqa: S608 - our own name
_PACKET: Final = 500
# Errors of a declaration that was executed, but not noted before the process died.
_MADE_BEFORE: Final = {ER.DB_CREATE_EXISTS, ER.TABLE_EXISTS_ERROR, ER.DUP_FIELDNAME}


def prepare(session: Session) -> int:
    """Create the player's tables on a server, and return the offset where it continues.

    This is not written to the binlog: an event of today would complete all days that are not replayed yet.
    """
    with session.cursor() as cursor:
        cursor.execute("SET sql_log_bin = 0")
        cursor.execute(f"CREATE DATABASE IF NOT EXISTS {_NOTES}")
        cursor.execute(f"CREATE TABLE IF NOT EXISTS {_NOTES}.place (id INT PRIMARY KEY, next_offset BIGINT NOT NULL)")
        cursor.execute(f"SELECT next_offset FROM {_NOTES}.place")  # noqa: S608 - our own name
        row = cursor.fetchone()
        cursor.execute(f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
        cursor.execute("SET sql_log_bin = 1")
    session.select_db(DATABASE)
    return 0 if row is None else int(row[0])


class Player:
    """All instances, each with its session and its recording."""

    def __init__(self, instances: Mapping[str, tuple[Session, Recording]]) -> None:
        self._instances = instances

    @property
    def at(self) -> int | None:
        """Time of the next statement (epoch seconds); None after the last one."""
        times = [recording.at for _, recording in self._instances.values() if recording.at is not None]
        return min(times, default=None)

    def play(self, until: int) -> int:
        """Execute all statements up to that time, and return their number."""
        return sum(self._play(session, recording, until) for session, recording in self._instances.values())

    def _play(self, session: Session, recording: Recording, until: int) -> int:
        played = 0
        while packet := recording.until(until, _PACKET):
            _execute(session, packet)
            played += len(packet)
        return played


def _execute(session: Session, packet: Sequence[tuple[int, Statement]]) -> None:
    session.begin()
    with session.cursor() as cursor:
        for _, statement in packet:
            cursor.execute("SET TIMESTAMP = %s", (statement.at,))
            _apply(cursor, statement)
        cursor.execute(_NOTE, (packet[-1][0] + 1,))
    session.commit()


def _apply(cursor: Cursor, statement: Statement) -> None:
    try:
        cursor.execute(statement.sql, statement.values or None)
    except MySQLError as error:
        if not statement.is_ddl or error.args[0] not in _MADE_BEFORE:
            raise
