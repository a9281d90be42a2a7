"""Where a table's log is, and when it changed; without a reader of its files."""

from pathlib import Path
from typing import Final

LOG: Final = "_delta_log"


def log_changed_at(path: Path) -> int | None:
    """When a file came into the log of a table, or left it, last; in ns since 1970. None where there is no log."""
    try:
        return (path / LOG).stat().st_mtime_ns
    except OSError:
        return None
