"""Copies of SQLite files while other processes write them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from tidemark.system.files import private_file

if TYPE_CHECKING:
    from pathlib import Path


def copy_sqlite(source: Path, copy: Path) -> None:
    """Copy the committed content as of one instant. The copy is one file, without a log beside it.

    Raises sqlite3.Error, also if there is no `source`.
    """
    # The backup runs in one read transaction: no commit comes in between, and writers do not wait.
    with closing(_opened(source)) as original, closing(sqlite3.connect(private_file(copy))) as copied:
        original.backup(copied)
        copied.execute("PRAGMA journal_mode=DELETE").close()


def damage_of(file: Path) -> str:
    """The damage that SQLite finds in a file without writers; empty if it is sound."""
    try:
        with closing(_opened(file)) as opened:
            verdict = str(opened.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.DatabaseError as error:
        return str(error)
    return "" if verdict == "ok" else verdict


def _opened(file: Path) -> sqlite3.Connection:
    """A connection that does not create a missing file."""
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True, timeout=30)
