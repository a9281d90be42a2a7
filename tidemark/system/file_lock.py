"""One process at a time: a lock on a file that the operating system lets go of when the holder dies."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tidemark.system.errors import AlreadyRunningError
from tidemark.system.files import private_directory


@contextmanager
def only_one(path: Path, what: str) -> Iterator[None]:
    """Hold the lock `path` while the block runs. Raises AlreadyRunningError when another process holds it."""
    private_directory(path.parent)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise AlreadyRunningError.of(path, what) from error
        yield
