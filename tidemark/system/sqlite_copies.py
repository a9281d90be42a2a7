"""Copies of SQLite files that other processes write at the same time."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from tidemark.system.files import private_file

if TYPE_CHECKING:
    from pathlib import Path


def copy_sqlite(source: Path, copy: Path) -> None:
    """Copy what is committed, as of one instant; the copy is one file, without a log beside it.

    Raises sqlite3.Error, also where there is no `source`.
    """
    # One step holds one read transaction: nobody's commit comes in between, and writers do not wait.
    with closing(_opened(source)) as original, closing(sqlite3.connect(private_file(copy))) as copied:
        original.backup(copied)
        copied.execute("PRAGMA journal_mode=DELETE").close()


def damage_of(file: Path) -> str:
    """What SQLite finds wrong in a file that nobody writes; nothing where it is whole."""
    try:
        with closing(_opened(file)) as opened:
            verdict = str(opened.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.DatabaseError as error:
        return str(error)
    return "" if verdict == "ok" else verdict


def _opened(file: Path) -> sqlite3.Connection:
    """A connection that makes no file where there is none."""
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True, timeout=30)
