"""The files of one folder of the lake, by their names in it: `part=1/a.parquet`. The same on disk and in object stores.

A file is there as a whole or not at all, and of several that put the same name if absent exactly one does.
"""

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol


@dataclass(frozen=True)
class StoredFile:
    """`changed` is when its content was written last (aware); `mark` is another where its content is."""

    name: str
    size_bytes: int
    changed: datetime
    mark: str


CHANGE_DATA: Final = "_change_data"
"""Where Delta keeps the rows that commits changed, for who reads a table's changes."""


def is_hidden(name: str) -> bool:
    """Whether a part of a name says that this is no data: a log, a checksum. A partition of `_column` is data."""
    return name.startswith(("_", ".")) and "=" not in name and name != CHANGE_DATA


class FileStore(Protocol):
    """A file that is not there raises FileNotFoundError; a folder without files is as one that is not there."""

    def walk(self) -> Iterator[StoredFile]:
        """The files below, in any order, without hidden files (`is_hidden`) and hidden folders."""

    def names(self) -> Iterator[str]:
        """Their names alone, which costs less on disk."""

    def names_in(self, folder: str) -> list[str]:
        """The names of the files right in a folder, in order; none where there is no such folder."""

    def folder_mark(self, folder: str) -> str | None:
        """Another text where a file came right into the folder or left it; None where there is no such folder."""

    def has_files(self, folder: str) -> bool:
        """Whether there is anything in a folder."""

    def exists(self, name: str) -> bool:
        """Whether there is such a file."""

    def stat(self, name: str) -> StoredFile:
        """What is known of a file without reading it."""

    def read(self, name: str) -> bytes:
        """A file's content."""

    def read_range(self, name: str, start: int, length: int) -> bytes:
        """So many bytes of a file, fewer at its end."""

    def arrow_source(self, name: str) -> Path | io.RawIOBase:
        """What Arrow reads a file from, in ranges."""

    def put(self, name: str, content: bytes) -> None:
        """Write a file, in the place of one that is there."""

    def put_if_absent(self, name: str, content: bytes) -> bool:
        """Write a file unless there is one of that name; whether it was written.

        Of several writers of one name each has content of its own: after a lost answer it tells whose file is there.
        """

    def delete(self, names: Iterable[str]) -> None:
        """Delete files; those that are gone already are passed over."""

    def delete_all(self) -> None:
        """Delete the folder and everything in it."""

    def name_of(self, uri: str) -> str:
        """The name of a file that a log or a manifest gives by an absolute, percent-encoded URI."""
