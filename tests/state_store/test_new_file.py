"""A state store's new file that another connection uses just when it is made one with a log: it is waited for."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from threading import Timer
from typing import TYPE_CHECKING

from tidemark.state_store.database import Database

if TYPE_CHECKING:
    from pathlib import Path


def test_another_writer_of_the_new_file_is_awaited(tmp_path: Path) -> None:
    """A writer is in the way of the log, and SQLite itself gives up at once."""
    file = tmp_path / "state.db"
    with closing(sqlite3.connect(file, isolation_level=None, check_same_thread=False)) as other:
        other.execute("PRAGMA user_version = 1")
        other.execute("BEGIN IMMEDIATE")
        ends = Timer(0.5, other.rollback)
        ends.start()
        Database.at(file).close()
        ends.join()
    with closing(sqlite3.connect(file)) as later:
        assert later.execute("PRAGMA journal_mode").fetchall() == [("wal",)]
