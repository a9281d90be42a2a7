"""Dagster's SQLite files, which a long-lived process keeps open.

Dagster opens and closes a connection for each statement. Closing a file's last connection writes its log into the file
and waits for the disk, and so does each commit. That is four waits for each event, most of the time of a run with small
slices. A second open connection removes the first kind of wait, `synchronous=NORMAL` the second. With SQLite's
write-ahead log that is safe: a killed process loses nothing. A power failure may lose the last commits, but never the
file (https://www.sqlite.org/pragma.html#pragma_synchronous). A run's writes are then found in Delta's log, and a slice
without its event is computed again. The state store always waits for the disk.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Engine, event

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import DBAPIConnection, Dialect
    from sqlalchemy.pool import ConnectionPoolEntry

_FILES: Final = 16
"""The most open files. Each run has its own file; the oldest are closed."""


class _OpenFiles:
    """One idle connection for each file below some folders."""

    def __init__(self) -> None:
        self._folders: set[Path] = set()
        self._connections: OrderedDict[str, sqlite3.Connection] = OrderedDict()
        self._lock = Lock()

    def add_folder(self, folder: Path) -> None:
        self._folders.add(folder)

    def holds(self, file: str) -> bool:
        return any(folder in Path(file).parents for folder in self._folders)

    def names(self) -> tuple[str, ...]:
        return tuple(self._connections)

    def touch(self, file: str) -> None:
        """Keep a file that was just opened open, and close the one that was unused for longest."""
        with self._lock:
            if file not in self._connections:
                kept = sqlite3.connect(file, timeout=30, check_same_thread=False)
                kept.execute("SELECT 1 FROM sqlite_master").close()  # SQLite opens the file at the first statement
                self._connections[file] = kept
            self._connections.move_to_end(file)
            while len(self._connections) > _FILES:
                self._connections.popitem(last=False)[1].close()


_OPEN: Final = _OpenFiles()


def keep_sqlite_open(folder: Path) -> None:
    """Keep the SQLite files below a folder open from now on, while this process uses them."""
    if not event.contains(Engine, "do_connect", _connect):
        event.listen(Engine, "do_connect", _connect)
    _OPEN.add_folder(folder.resolve())


def _connect(
    dialect: Dialect, _: ConnectionPoolEntry, arguments: list[Any], options: dict[str, Any]
) -> DBAPIConnection | None:
    """SQLAlchemy's event: returns the connection to use, or None for the default way."""
    if dialect.name != "sqlite" or not arguments or not _OPEN.holds(str(arguments[0])):
        return None
    connection: DBAPIConnection = dialect.connect(*arguments, **options)
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL"):  # Dagster sets the first when it creates its tables
        connection.cursor().execute(f"PRAGMA {pragma}")
    _OPEN.touch(str(arguments[0]))
    return connection
