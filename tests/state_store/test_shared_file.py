"""One SQLite file, opened more than once in a process, and by others beside it: what is written is in it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tidemark.state_store.database import Database
from tidemark.state_store.record_counts import RecordCounts

if TYPE_CHECKING:
    from pathlib import Path

ANOTHER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(connection.execute("SELECT count(*) FROM transitions").fetchone())
connection.close()
"""


def test_a_reading_process_does_not_remove_the_log_of_writers(tmp_path: Path) -> None:
    """Who closes a SQLite file in whatever way gives back all locks that the process has on it (POSIX)."""
    file = tmp_path / "state.db"
    first = Database.at(file)
    with first.reading() as connection:
        connection.exec_driver_sql("SELECT count(*) FROM transitions").fetchone()
    second = Database.at(file)
    subprocess.run([sys.executable, "-c", ANOTHER, str(file)], check=True, timeout=60, capture_output=True)
    RecordCounts(first).report([], {"orders": 7})
    seen = subprocess.run(
        [sys.executable, "-c", ANOTHER.replace("transitions", "record_counts"), str(file)],
        check=True,
        timeout=60,
        capture_output=True,
        text=True,
    )
    assert seen.stdout == "(1,)\n"
    assert RecordCounts(second).final_until("orders") == 7
