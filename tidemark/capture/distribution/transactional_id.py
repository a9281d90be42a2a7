"""What a member is called: as the one before it that died, so that it ends what that one left open."""

import fcntl
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import IO

from tidemark.system.files import private_directory


@contextmanager
def member_name(folder: Path) -> Iterator[str]:
    """A name that no other process has meanwhile; the lock on its file in `folder` goes with the process.

    Kafka ends an open transaction when somebody of the same name comes, or else when its time is over; until then
    nothing after it can be read.
    """
    private_directory(folder)
    for number in count(1):
        with (folder / f"member-{number}").open("a+") as file:
            if _try_lock(file):
                yield _name_in(file)
                return


def _try_lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _name_in(file: IO[str]) -> str:
    file.seek(0)
    name = file.read()
    if not name:
        name = uuid.uuid4().hex
        file.write(name)
        file.flush()
    return name
