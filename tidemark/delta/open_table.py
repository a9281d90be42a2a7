"""A table's log as delta-rs reads it, wherever the table is."""

from collections.abc import Iterator
from contextlib import contextmanager

from deltalake import DeltaTable

from tidemark.storage.errors import error_of
from tidemark.system.table_location import ObjectLocation, TableLocation


def open_table(path: TableLocation, version: int | None = None) -> DeltaTable:
    """The table at `version`, the newest by default.

    Raises deltalake's own errors; in an object store also StorageDownError and StorageRefusedError.
    """
    with answer_for(path):
        return DeltaTable(str(path), version=version, storage_options=delta_rs_options(path))


def delta_rs_options(path: TableLocation) -> dict[str, str] | None:
    """What delta-rs needs beside the path of a table in order to open or write it."""
    return path.storage_options if isinstance(path, ObjectLocation) else None


@contextmanager
def answer_for(path: TableLocation) -> Iterator[None]:
    """Raise what an object store's answer to delta-rs means: StorageDownError, StorageRefusedError."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        if isinstance(path, ObjectLocation):
            raise error_of(str(path), error) from None
        raise
