"""Log files that processes append to for months, kept small."""

import os
from pathlib import Path
from typing import Final

MOST_BYTES: Final = 20_000_000


def bound_log(log: Path, most_bytes: int = MOST_BYTES) -> bool:
    """Empty a log that has grown too big; its last half is kept beside it (`workers.log.1`). Whether it was.

    Who appends to it (O_APPEND) goes on at its new end. What is written in the same instant may be lost.
    """
    if not log.exists() or log.stat().st_size <= most_bytes:
        return False
    with log.open("rb") as file:
        file.seek(-(most_bytes // 2), os.SEEK_END)
        tail = file.read()
    log.with_name(f"{log.name}.1").write_bytes(tail)
    os.truncate(log, 0)
    return True
