"""Where a table's log is, and when it changed; without a reader of its files."""

from pathlib import Path
from typing import Final

from tidemark.storage.stored_files import stored_files
from tidemark.system.table_location import TableLocation

LOG: Final = "_delta_log"


def log_changed_at(path: TableLocation) -> int | None:
    """When a file came into the log of a table last, on disk also when one left it; in ns since 1970.

    None where there is no log.
    """
    if not isinstance(path, Path):
        files = stored_files(path).files_in(LOG)
        return max((int(file.changed.timestamp() * 1e9) for file in files), default=None)
    try:
        return (path / LOG).stat().st_mtime_ns
    except OSError:
        return None
