"""SQLite files of Dagster that a long-lived process keeps open.

Dagster opens and closes a connection for each statement. Whoever closes a file's last connection writes its whole log
into it and waits for the disk, and so does each commit: four waits for each event of a run, most of the time of a run
whose slices are small. A second connection that stays open takes the first away, and `synchronous=NORMAL` the others.

With SQLite's write-ahead log that is safe: a killed process loses nothing. A machine without power may lose the last
commits, never the file (https://www.sqlite.org/pragma.html#pragma_synchronous); what a run wrote is found again in
Delta's log, and a slice without its event is computed again. The state store waits for the disk, as ever.
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
"""Each run has a file of its own; the oldest are let go."""


class _OpenFiles:
    """One idle connection a file, of the files below some folders."""

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
        """Keep a file that was just opened; let go of the one that was not used for longest."""
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
    """From now on, keep the SQLite files below a folder open while this process uses them."""
    if not event.contains(Engine, "do_connect", _connect):
        event.listen(Engine, "do_connect", _connect)
    _OPEN.add_folder(folder.resolve())


def _connect(
    dialect: Dialect, _: ConnectionPoolEntry, arguments: list[Any], options: dict[str, Any]
) -> DBAPIConnection | None:
    """SQLAlchemy's event: the connection that it shall use, or None for its own way."""
    if dialect.name != "sqlite" or not arguments or not _OPEN.holds(str(arguments[0])):
        return None
    connection: DBAPIConnection = dialect.connect(*arguments, **options)
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL"):  # Dagster sets the first when its tables are made
        connection.cursor().execute(f"PRAGMA {pragma}")
    _OPEN.touch(str(arguments[0]))
    return connection
