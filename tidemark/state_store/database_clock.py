"""The common clock of all processes of one store: the database's clock."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from sqlalchemy import text

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

SECOND: Final = 1_000_000
"""Microseconds."""


def database_now(connection: Connection, clock: Callable[[], float] | None = None) -> int:
    """Microseconds since 1970 by the database's clock or, in tests, by `clock` (epoch seconds).

    SQLite has no clock, but all its processes are on one machine.
    """
    if clock is not None:
        return int(clock() * SECOND)
    if connection.dialect.name == "sqlite":
        return int(time.time() * SECOND)
    now = connection.execute(text("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"))
    return int(now.scalar_one())
