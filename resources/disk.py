"""The one check that a folder can be written, made before any work is begun in it."""

import os
import tempfile
from pathlib import Path

from resources.errors import DiskPathError


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
