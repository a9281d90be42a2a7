"""One repair or VACUUM of a table at a time: a repair puts back files that VACUUM may be about to delete."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tidemark.system.file_lock import only_one
from tidemark.system.table_location import TableLocation


@contextmanager
def maintaining(locks: Path, table: TableLocation) -> Iterator[None]:
    """Hold the table's lock in the folder `locks`. Raises AlreadyRunningError when another process holds it."""
    with only_one(locks / f"{table.name}.lock", f"repairing or vacuuming {table.name}"):
        yield
