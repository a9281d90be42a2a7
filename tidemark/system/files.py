"""Folders and files: checks that a folder can be written, atomic replacement, and files for the owner alone."""

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
    """Create `path` for its owner alone if it is missing, prove that a file can be written in it, and return it.

    Raises DiskPathError if it is a file, cannot be created, or refuses a write (read-only, no rights, disk full).
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
    """Create `path` and missing folders above it for their owner alone. Existing folders keep their rights.

    Data, state and exports may hold personal data. Raises OSError.
    """
    if not path.is_dir():
        if path.parent != path:
            private_directory(path.parent)
        # Another process may be first.
        path.mkdir(mode=_OWNERS_FOLDER, exist_ok=True)
    return path


def private_file(path: Path) -> Path:
    """Create an empty file for its owner alone if there is none, and return it. Raises OSError.

    An existing file is not opened. Closing it would release all locks of this process on it (POSIX), and SQLite would
    take its log away from writers.
    """
    private_directory(path.parent)
    with _CREATING, suppress(FileExistsError):  # before it is closed here, another thread may open and lock it
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, _OWNERS_FILE))
    return path


def keep_files_private() -> None:
    """Make all files that this process and its children create from now on private to their owner."""
    os.umask(os.umask(_OTHERS) | _OTHERS)


def close_to_others(path: Path) -> None:
    """Take a folder's rights from all but its owner. A folder of another owner stays; `tidemark doctor` reports it."""
    with suppress(PermissionError):
        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~_OTHERS)


def is_open_to_others(path: Path) -> bool:
    """Whether accounts other than the owner's have any right to it."""
    return path.exists() and bool(path.stat().st_mode & _OTHERS)


def replace_text(path: Path, text: str) -> None:
    """Replace a file's content atomically: a reader sees the old text or the new one. Raises OSError."""
    private_directory(path.parent)
    # Two processes may do this at the same time.
    passing = path.with_suffix(f".{os.getpid()}.tmp")
    passing.write_text(text, encoding="utf-8")
    passing.replace(path)
