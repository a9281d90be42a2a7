"""Bounds log files that processes append to for months."""

import os
from pathlib import Path
from typing import Final

MOST_BYTES: Final = 20_000_000


def bound_log(log: Path, most_bytes: int = MOST_BYTES) -> bool:
    """Empty a log that has grown too big; keep its last half in `workers.log.1`. Returns whether it did so.

    Processes that append (O_APPEND) continue at the new end. Text that is written at the same moment may be lost.
    """
    if not log.exists() or log.stat().st_size <= most_bytes:
        return False
    with log.open("rb") as file:
        file.seek(-(most_bytes // 2), os.SEEK_END)
        tail = file.read()
    log.with_name(f"{log.name}.1").write_bytes(tail)
    os.truncate(log, 0)
    return True
