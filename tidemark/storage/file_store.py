"""The files of one folder of the lake, by names such as `part=1/a.parquet`, alike on disk and in object stores.

A file exists completely or not at all. If several writers put the same name if absent, exactly one succeeds.
"""

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol


@dataclass(frozen=True)
class StoredFile:
    """`changed` is the time of the last write (aware); `mark` changes with the content."""

    name: str
    size_bytes: int
    changed: datetime
    mark: str


CHANGE_DATA: Final = "_change_data"
"""Delta's folder of the rows that commits changed, for readers of change data."""


def is_hidden(name: str) -> bool:
    """Whether a part of a name marks a file without data, such as a log or a checksum.

    A partition of `_column` is data.
    """
    return name.startswith(("_", ".")) and "=" not in name and name != CHANGE_DATA


class FileStore(Protocol):
    """The files of a folder. A missing file raises FileNotFoundError; a folder without files counts as missing."""

    def walk(self) -> Iterator[StoredFile]:
        """The files below, in any order, without hidden files (`is_hidden`) and hidden folders."""

    def names(self) -> Iterator[str]:
        """The names of these files, which costs less on disk."""

    def names_in(self, folder: str) -> list[str]:
        """The names of the files directly in a folder, sorted; empty if there is no such folder."""

    def folder_mark(self, folder: str) -> str | None:
        """A text that changes when a file is added to the folder or removed; None if there is no such folder."""

    def has_files(self, folder: str) -> bool:
        """Whether a folder has any file."""

    def exists(self, name: str) -> bool:
        """Whether the file exists."""

    def stat(self, name: str) -> StoredFile:
        """The facts about a file, without reading it."""

    def read(self, name: str) -> bytes:
        """A file's content."""

    def read_range(self, name: str, start: int, length: int) -> bytes:
        """`length` bytes of a file from `start` on, fewer at its end."""

    def arrow_source(self, name: str) -> Path | io.RawIOBase:
        """A source from which Arrow reads ranges of a file."""

    def put(self, name: str, content: bytes) -> None:
        """Write a file, or replace it."""

    def put_if_absent(self, name: str, content: bytes) -> bool:
        """Write a file if the name is free; returns whether it was written.

        Each writer of a name must have its own content: after a lost answer, the content shows whose file it is.
        """

    def delete(self, names: Iterable[str]) -> None:
        """Delete files. Missing ones are ignored."""

    def delete_all(self) -> None:
        """Delete the folder and everything in it."""

    def name_of(self, uri: str) -> str:
        """The name of a file in a log or a manifest by its absolute, percent-encoded URI."""
