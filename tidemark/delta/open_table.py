"""A table's log as delta-rs reads it, wherever the table is."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from tidemark.storage.errors import error_of
from tidemark.system.table_location import ObjectLocation, TableLocation

_HDFS_ANSWER: Final = "HdfsObjectStore error"


def open_table(path: TableLocation, version: int | None = None) -> DeltaTable:
    """The table at `version`, the newest by default.

    What was read of a log in an object store is kept (`kept_tables.py`). Raises deltalake's own errors, and
    elsewhere than on disk StorageDownError and StorageRefusedError.
    """
    with answer_for(path):
        if not isinstance(path, ObjectLocation):
            return DeltaTable(str(path), version=version)
        # A lake on disk needs no library of object stores.
        from tidemark.delta.kept_tables import KEPT_TABLES  # noqa: PLC0415

        return KEPT_TABLES.open(path, version)


def open_if_there(path: TableLocation) -> DeltaTable | None:
    """The table at its newest version; None where there is no table. Raises what `open_table` raises."""
    try:
        return open_table(path)
    except TableNotFoundError:
        return None


def delta_rs_options(path: TableLocation) -> dict[str, str] | None:
    """What delta-rs needs beside the path of a table in order to open or write it."""
    return path.storage_options if isinstance(path, ObjectLocation) else None


@contextmanager
def answer_for(path: TableLocation) -> Iterator[None]:
    """Raise what a store's answer to delta-rs means: StorageDownError, StorageRefusedError."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        if isinstance(path, Path):
            raise
        raise error_of(str(path), error) from None
    except DeltaError as error:
        # Of a write in HDFS no more than its text says that it is HDFS that did not take it.
        if _HDFS_ANSWER in str(error):
            raise error_of(str(path), error) from None
        raise
