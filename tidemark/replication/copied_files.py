"""Copies files between two tables' folders. Each copy is read back and compared before it counts.

An existing file of the right size is read instead of sent, so a killed copy goes on where it was.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from tidemark.delta.internals.vector_path import vector_path
from tidemark.replication.errors import DamagedCopyError, SourceFileError
from tidemark.storage.stored_files import stored_files
from tidemark.system.crash_points import crash_point

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

    from tidemark.replication.bandwidth import Bandwidth
    from tidemark.storage.file_store import FileStore
    from tidemark.system.table_location import TableLocation

_AT_ONCE: Final = 4
_CHUNK: Final = 8 * 1024 * 1024
_ATTEMPTS: Final = 3


@dataclass(frozen=True)
class CopiedFile:
    """A copied file. `sent` is the number of bytes sent: 0 if the file was there."""

    name: str
    checksum: str
    size_bytes: int
    sent: int


def file_names(add: Mapping[str, Any], where: TableLocation) -> dict[str, int | None]:
    """The data file and the deletion vector of an `add`, with the size in the log (None if it has none).

    Raises SourceFileError for a file in another folder.
    """
    path, vector = unquote(str(add["path"])), add.get("deletionVector")
    if "://" in path or path.startswith("/") or (vector and vector["storageType"] == "p"):
        raise SourceFileError.elsewhere(where, path)
    beside = vector_path(vector) if vector else None
    return {path: int(add["size"]), **({beside: None} if beside else {})}


@dataclass(frozen=True)
class FileCopier:
    """Copies files from the table at `source` to the table at `target`."""

    source: TableLocation
    target: TableLocation
    bandwidth: Bandwidth

    def copy(self, files: Mapping[str, int | None]) -> dict[str, CopiedFile]:
        """Copy files (name -> size). All copies are complete and verified when this returns.

        Raises SourceFileError, DamagedCopyError, OSError, and the store's errors.
        """
        return {copied.name: copied for copied in _all_at_once(self, files.items())}

    def copy_one(self, name: str, size: int | None) -> CopiedFile:
        here, there = stored_files(self.source), stored_files(self.target)
        content = _read(here, self.source, name, size)
        checksum = hashlib.sha256(content).hexdigest()
        if size_of(there, name) == len(content) and _has_bytes(there, name, content):
            return CopiedFile(name, checksum, len(content), 0)
        sent = 0
        for _ in range(_ATTEMPTS):
            self.bandwidth.take(len(content))
            there.put(name, content)
            sent += len(content)
            crash_point("replicate.copying")
            if _has_bytes(there, name, content):
                return CopiedFile(name, checksum, len(content), sent)
        raise DamagedCopyError.of(self.target, name, checksum, checksum_of(there, name, len(content)))


def _has_bytes(store: FileStore, name: str, content: bytes) -> bool:
    """Whether the stored bytes are the sent ones. They are compared in pieces, which costs less than a checksum."""
    # A comparison of bytes is fast; a memoryview would be compared value by value, and would block all threads. The
    # last piece is read with one byte more, so that a longer file differs, but no larger buffer is allocated.
    pieces = ((start, content[start : start + _CHUNK]) for start in range(0, len(content) + 1, _CHUNK))
    return all(store.read_range(name, start, min(_CHUNK, len(piece) + 1)) == piece for start, piece in pieces)


def checksum_of(store: FileStore, name: str, size: int) -> str:
    """The SHA-256 of a file of that size, read in pieces."""
    digest = hashlib.sha256()
    for start in range(0, size, _CHUNK):
        digest.update(store.read_range(name, start, min(_CHUNK, size - start)))
    return digest.hexdigest()


def source_checksums(source: TableLocation, names: Collection[str]) -> dict[str, str]:
    """The SHA-256 of source files by name. Raises SourceFileError."""
    store = stored_files(source)
    with ThreadPoolExecutor(_AT_ONCE, "replicate") as pool:
        contents = pool.map(lambda name: hashlib.sha256(_read(store, source, name, None)).hexdigest(), names)
        return dict(zip(names, contents, strict=True))


def _read(store: FileStore, source: TableLocation, name: str, size: int | None) -> bytes:
    try:
        content = store.read(name)
    except FileNotFoundError:
        raise SourceFileError.gone(source, name) from None
    if size is not None and len(content) != size:
        raise SourceFileError.other_size(source, name, size, len(content))
    return content


def size_of(store: FileStore, name: str) -> int | None:
    """The size of a file; None if it does not exist."""
    with suppress(FileNotFoundError):
        return store.stat(name).size_bytes
    return None


def _all_at_once(copier: FileCopier, files: Iterable[tuple[str, int | None]]) -> list[CopiedFile]:
    with ThreadPoolExecutor(_AT_ONCE, "replicate") as pool:
        jobs = [pool.submit(copier.copy_one, name, size) for name, size in files]
        try:
            return [job.result() for job in jobs]
        except BaseException:
            for job in jobs:
                job.cancel()
            raise
