"""The files of a location, by its kind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.storage.local_files import LocalFiles
from tidemark.system.table_location import HdfsLocation

if TYPE_CHECKING:
    from tidemark.storage.file_store import FileStore
    from tidemark.system.table_location import TableLocation


def stored_files(location: TableLocation) -> FileStore:
    """The store that reads and writes the files of a location."""
    if isinstance(location, Path):
        return LocalFiles(location)
    # A lake on disk does not need the library of object stores, and an object store does not need that of HDFS.
    if isinstance(location, HdfsLocation):
        from tidemark.storage.hdfs_files import HdfsFiles  # noqa: PLC0415

        return HdfsFiles(location)
    from tidemark.storage.object_files import ObjectFiles  # noqa: PLC0415

    return ObjectFiles(location)
