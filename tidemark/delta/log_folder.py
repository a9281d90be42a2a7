"""The place of a table's log, and a mark of its changes, without reading its files."""

import re
from typing import Final

from tidemark.storage.stored_files import stored_files
from tidemark.system.table_location import TableLocation

LOG: Final = "_delta_log"
COMMIT: Final = re.compile(r"(\d{20})\.json")
"""The names of commit files in the log."""


def log_mark(path: TableLocation) -> str | None:
    """A text that changes when a file is added to a table's log or removed. None if there is no log."""
    return stored_files(path).folder_mark(LOG)


def commit_file(version: int) -> str:
    """The path of a commit's file in the table's folder."""
    return f"{LOG}/{version:020d}.json"


def commit_version(name: str) -> int | None:
    """The version of a commit file in a table's folder; None for other files."""
    match = COMMIT.fullmatch(name.removeprefix(f"{LOG}/"))
    return int(match[1]) if match else None
