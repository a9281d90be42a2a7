"""Versions that are being read: VACUUM leaves them alone until the reader is done, or dead.

A reader holds a lock on a file named by the version; the operating system lets go of it with the process.
"""

import fcntl
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from tidemark.delta.retention import Claim
from tidemark.system.files import private_directory
from tidemark.system.table_location import TableLocation

_DEAD_SECONDS: Final = 3_600.0


@contextmanager
def reading(locks: Path, table: TableLocation, version: int, who: str) -> Iterator[None]:
    """Keep `version` from VACUUM while the block runs; `who` is told to whoever asks why it is kept."""
    folder = _folder(locks, table)
    private_directory(folder)
    name = uuid.uuid4().hex
    path, unlocked = folder / f"{version}.{name}", folder / name
    with unlocked.open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        file.write(who)
        file.flush()
        # Without a lock it would be a dead reader's to who looks just then, and removed.
        unlocked.rename(path)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def claims_of_readers(locks: Path, table: TableLocation) -> list[Claim]:
    """What is being read at this moment; traces of dead readers are removed."""
    folder = _folder(locks, table)
    for path in folder.glob("*"):
        _forget_unlocked(path)
    return [claim for path in sorted(folder.glob("*.*")) for claim in _claim(path)]


def _forget_unlocked(path: Path) -> None:
    """What a reader left that died before it had claimed anything."""
    with suppress(FileNotFoundError):
        if "." not in path.name and time.time() - path.stat().st_mtime > _DEAD_SECONDS:
            path.unlink()


def _claim(path: Path) -> Iterator[Claim]:
    try:
        with path.open(encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield Claim(int(path.name.partition(".")[0]), f"read by {file.read()}")
                return
            path.unlink(missing_ok=True)
    except FileNotFoundError:
        return


def _folder(locks: Path, table: TableLocation) -> Path:
    return locks / "readers" / table.name
