"""Folders and files: the check that a folder can be written, files replaced at once, and what only the owner reads."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Lock

from tidemark.system.errors import DiskPathError

_OWNERS_FOLDER, _OWNERS_FILE = 0o700, 0o600
_OTHERS = 0o077
_CREATING = Lock()


def writable_directory(path: Path) -> Path:
    """Create `path` for its owner alone when missing, prove that a file can be written in it, and return it.

    Raises DiskPathError when it is a file, cannot be created, or refuses a write (read-only, no rights, disk full).
    """
    try:
        private_directory(path)
        with tempfile.NamedTemporaryFile(dir=path, prefix=".write-test-") as probe:
            probe.write(b"tidemark")
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        raise DiskPathError.of(path, error) from error
    return path


def private_directory(path: Path) -> Path:
    """Create `path`, and what is missing above it, for their owner alone; what is there keeps its rights.

    Data, state and exports are what the warehouse knows of people. Raises OSError.
    """
    if not path.is_dir():
        if path.parent != path:
            private_directory(path.parent)
        # Another process may be first.
        path.mkdir(mode=_OWNERS_FOLDER, exist_ok=True)
    return path


def private_file(path: Path) -> Path:
    """Create an empty file for its owner alone where there is none, and return it. Raises OSError.

    A file that is there is not opened: who closes it gives back all locks that the process has on it (POSIX), and
    SQLite takes its log away from those that write.
    """
    private_directory(path.parent)
    with _CREATING, suppress(FileExistsError):  # another thread may open it, and lock it, before it is closed here
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, _OWNERS_FILE))
    return path


def keep_files_private() -> None:
    """What this process, and those that it starts, create from here on is for their owner alone."""
    os.umask(os.umask(_OTHERS) | _OTHERS)


def close_to_others(path: Path) -> None:
    """Take a folder's rights from all but its owner. One of somebody else stays as it is: `tidemark doctor` says so."""
    with suppress(PermissionError):
        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~_OTHERS)


def is_open_to_others(path: Path) -> bool:
    """Whether accounts other than its owner's have any right to it."""
    return path.exists() and bool(path.stat().st_mode & _OTHERS)


def replace_text(path: Path, text: str) -> None:
    """Write a file in the place of what was there: who reads it sees the old text or the new one. Raises OSError."""
    private_directory(path.parent)
    # Two processes may be at it.
    passing = path.with_suffix(f".{os.getpid()}.tmp")
    passing.write_text(text, encoding="utf-8")
    passing.replace(path)
