"""Where a table's log is, and when it changed; without a reader of its files."""

import re
from typing import Final

from tidemark.storage.stored_files import stored_files
from tidemark.system.table_location import TableLocation

LOG: Final = "_delta_log"
COMMIT: Final = re.compile(r"(\d{20})\.json")
"""The names of commits' files in it."""


def log_mark(path: TableLocation) -> str | None:
    """Another text where a file came into the log of a table or left it. None where there is no log."""
    return stored_files(path).folder_mark(LOG)


def commit_file(version: int) -> str:
    """Where a table has a commit: its file's name in the table's folder."""
    return f"{LOG}/{version:020d}.json"


def commit_version(name: str) -> int | None:
    """The version whose commit a file of a table's folder is; None for other files."""
    match = COMMIT.fullmatch(name.removeprefix(f"{LOG}/"))
    return int(match[1]) if match else None
