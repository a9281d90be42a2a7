"""Translates errors of a driver: the database is unavailable for now, or damaged."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy.exc import DBAPIError

from tidemark.state_store.errors import StateStoreDamagedError, StateStoreDownError

if TYPE_CHECKING:
    from sqlalchemy import URL

    from tidemark.errors import TidemarkError

_AWAY_CLASSES: Final = ("08", "25", "40", "53", "55", "57", "58")
"""Temporary SQLSTATE classes (PostgreSQL, appendix A): connection, transaction state (25006.

Read-only after a fail-over), rollback, resources, locks, shutdown, disk.
"""
_DAMAGED_STATES: Final = ("XX001", "XX002")
_DAMAGED_CODES: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_UNREACHABLE_CODES: Final = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_UNREACHABLE_HINT: Final = "give this account write access to the file and its folder; nothing is lost"


def translated(error: BaseException, url: URL, driver: Any) -> TidemarkError | None:
    """StateStoreDownError, StateStoreDamagedError, or None if the statement itself is wrong.

    `error` is SQLAlchemy's or the driver's own, `driver` its module (PEP 249).
    """
    cause = getattr(error, "orig", None) or error
    state = str(getattr(cause, "pgcode", None) or "")
    code = (getattr(cause, "sqlite_errorcode", None) or 0) & 0xFF
    if code in _DAMAGED_CODES or state in _DAMAGED_STATES:
        return StateStoreDamagedError.of(url, error)
    if code in _UNREACHABLE_CODES:
        return StateStoreDownError.of(url, error, _UNREACHABLE_HINT)
    is_cut_off = isinstance(error, DBAPIError) and error.connection_invalidated
    is_away = isinstance(cause, (driver.OperationalError, driver.InterfaceError))
    if is_away or state[:2] in _AWAY_CLASSES or is_cut_off:
        return StateStoreDownError.of(url, error)
    return None
