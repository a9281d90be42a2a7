"""A stored file as a Python file: each read is a request for a range of bytes."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tidemark.storage.file_store import StoredFile


class _Ranges(Protocol):
    def read_range(self, name: str, start: int, length: int) -> bytes: ...


class RangeFile(io.RawIOBase):
    """A file for Arrow, which reads the footer and column chunks and does its own buffering."""

    def __init__(self, store: _Ranges, file: StoredFile) -> None:
        super().__init__()
        self._store = store
        self._file = file
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        begin = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._file.size_bytes}[whence]
        self._at = begin + offset
        return self._at

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override] # what Python's own class calls it with
        length = min(len(buffer), self._file.size_bytes - self._at)
        if length <= 0:
            return 0
        content = self._store.read_range(self._file.name, self._at, length)
        buffer[: len(content)] = content
        self._at += len(content)
        return len(content)
