"""Where a table's log is, and when it changed; without a reader of its files."""

from typing import Final

from tidemark.storage.stored_files import stored_files
from tidemark.system.table_location import TableLocation

LOG: Final = "_delta_log"


def log_mark(path: TableLocation) -> str | None:
    """Another text where a file came into the log of a table or left it. None where there is no log."""
    return stored_files(path).folder_mark(LOG)
