"""The one check that a folder can be written, made before any work is begun in it; and files replaced at once."""

import os
import tempfile
from pathlib import Path

from tidemark.system.errors import DiskPathError


def writable_directory(path: Path) -> Path:
    """Create `path` when missing, prove that a file can be written in it, and return it.

    Raises DiskPathError when it is a file, cannot be created, or refuses a write (read-only, no rights, disk full).
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path, prefix=".write-test-") as probe:
            probe.write(b"tidemark")
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        raise DiskPathError.of(path, error) from error
    return path


def replace_text(path: Path, text: str) -> None:
    """Write a file in the place of what was there: who reads it sees the old text or the new one. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Two processes may be at it.
    passing = path.with_suffix(f".{os.getpid()}.tmp")
    passing.write_text(text, encoding="utf-8")
    passing.replace(path)
