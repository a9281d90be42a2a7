"""Opens a table's log by delta-rs, in any storage."""

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

    Read parts of a log in an object store are cached (`kept_tables.py`). Raises deltalake's own errors, and for storage
    other than disk StorageDownError and StorageRefusedError.
    """
    with answer_for(path):
        if not isinstance(path, ObjectLocation):
            return DeltaTable(str(path), version=version)
        # A lake on disk needs no library of object stores.
        from tidemark.delta.kept_tables import KEPT_TABLES  # noqa: PLC0415

        return KEPT_TABLES.open(path, version)


def open_if_there(path: TableLocation) -> DeltaTable | None:
    """The table at its newest version; None if there is no table. Raises the errors of `open_table`."""
    try:
        return open_table(path)
    except TableNotFoundError:
        return None


def delta_rs_options(path: TableLocation) -> dict[str, str] | None:
    """The storage options that delta-rs needs to open or write a table."""
    return path.storage_options if isinstance(path, ObjectLocation) else None


@contextmanager
def answer_for(path: TableLocation) -> Iterator[None]:
    """Turn a store's error in delta-rs into StorageDownError or StorageRefusedError."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        if isinstance(path, Path):
            raise
        raise error_of(str(path), error) from None
    except DeltaError as error:
        # For a write to HDFS, only the error's text shows that HDFS refused it.
        if _HDFS_ANSWER in str(error):
            raise error_of(str(path), error) from None
        raise
