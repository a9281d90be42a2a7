"""The files of a folder in HDFS, by hdfs-native, the library below delta-rs, without a JVM.

A file is written under a temporary name and renamed, as in Delta's log store for HDFS and in delta-rs. The name node
renames atomically. Without overwriting it refuses a name that is in use.
"""

from __future__ import annotations

import functools
import os
import uuid
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from hdfs_native import Client

from tidemark.storage.errors import StorageDownError, StorageRefusedError, error_of
from tidemark.storage.file_store import StoredFile, is_hidden
from tidemark.storage.range_file import RangeFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hdfs_native import FileStatus

    from tidemark.system.table_location import HdfsLocation

_ONE_NAME_NODE: Final = {"dfs.client.failover.max.attempts": "6"}
"""Retries for about 15 seconds, in which a restarted name node answers. A name service follows Hadoop's configuration.
"""


class HdfsFiles:
    """A FileStore. Each method may also raise StorageDownError and StorageRefusedError."""

    def __init__(self, root: HdfsLocation) -> None:
        self._root = root
        self._client = _client(f"hdfs://{root.authority}", root.is_name_service, _environment_mark())

    def walk(self) -> Iterator[StoredFile]:
        """The visible files below, in any order."""
        return (self._stored(file) for file in self._below("", is_hidden))

    def names(self) -> Iterator[str]:
        """The names of the visible files below."""
        return (file.name for file in self.walk())

    def _below(self, folder: str, is_left_out: Callable[[str], bool]) -> Iterator[FileStatus]:
        for told in self._listed(folder):
            last = told.path.rpartition("/")[2]
            if is_left_out(last):
                continue
            if told.isdir:
                yield from self._below(self._name(told), is_left_out)
            else:
                yield told

    def _listed(self, folder: str) -> list[FileStatus]:
        """The entries of a folder; empty if it does not exist, or no longer does."""
        try:
            with self._answer(folder):
                return list(self._client.list_status(self._path(folder)))
        except FileNotFoundError:
            return []

    def names_in(self, folder: str) -> list[str]:
        """The names of the files directly in a folder, sorted."""
        return sorted(self._name(told) for told in self._listed(folder) if not told.isdir)

    def folder_mark(self, folder: str) -> str | None:
        """The number of files in a folder, and the newest one. The folder's own time only has milliseconds."""
        files = [told for told in self._listed(folder) if not told.isdir]
        newest = max(((told.modification_time, told.path) for told in files), default=None)
        return None if newest is None else f"{len(files)} {newest[0]} {newest[1]}"

    def has_files(self, folder: str) -> bool:
        """Whether a folder has any file."""
        return any(True for _ in self._below(folder, lambda _: False))

    def exists(self, name: str) -> bool:
        """Whether the file exists."""
        try:
            self.stat(name)
        except FileNotFoundError:
            return False
        return True

    def stat(self, name: str) -> StoredFile:
        """The facts about a file, without reading it."""
        with self._answer(name):
            told = self._client.get_file_info(self._path(name))
        if told.isdir:
            raise FileNotFoundError(f"{self._root}/{name}")
        return self._stored(told)

    def read(self, name: str) -> bytes:
        """A file's content."""
        with self._answer(name):
            return self._client.read(self._path(name)).read()

    def read_range(self, name: str, start: int, length: int) -> bytes:
        """`length` bytes of a file from `start` on, fewer at its end."""
        with self._answer(name):
            file = self._client.read(self._path(name))
            # The library panics after the end.
            return file.read_range(start, max(0, min(length, len(file) - start)))

    def arrow_source(self, name: str) -> RangeFile:
        """A source from which Arrow reads a file."""
        return RangeFile(self, self.stat(name))

    def put(self, name: str, content: bytes) -> None:
        """Write a file, or replace it."""
        with self._passing(name, content) as passing:
            self._rename(passing, name, content, overwrite=True)

    def put_if_absent(self, name: str, content: bytes) -> bool:
        """Write a file if the name is free; returns whether it was written."""
        if self.exists(name):
            return False
        with self._passing(name, content) as passing:
            try:
                self._rename(passing, name, content, overwrite=False)
            except FileExistsError:
                return False
        return True

    def delete(self, names: Iterable[str]) -> None:
        """Delete files. Missing ones are ignored."""
        for name in names:
            with self._answer(name):
                self._client.delete(self._path(name))

    def delete_all(self) -> None:
        """Delete the folder and everything in it."""
        with self._answer(""):
            self._client.delete(self._path(""), recursive=True)

    def name_of(self, uri: str) -> str:
        """The name of a file by its absolute URI. Raises FileNotFoundError for a file in another place."""
        parts = urlsplit(uri)
        key = unquote(parts.path).removeprefix("/")
        if parts.netloc != self._root.authority or not key.startswith(f"{self._root.key}/"):
            raise FileNotFoundError(f"{uri} is not in {self._root}")
        return key.removeprefix(f"{self._root.key}/")

    def _rename(self, passing: str, name: str, content: bytes, *, overwrite: bool) -> None:
        try:
            with self._answer(name):
                self._client.rename(passing, self._path(name), overwrite)
        except FileNotFoundError as error:
            # After a lost answer the library renames again. If the first rename had succeeded, there is nothing left to
            # rename.
            if self.read(name) != content:
                raise StorageDownError.of(f"{self._root}/{name}", error) from None

    @contextmanager
    def _passing(self, name: str, content: bytes) -> Iterator[str]:
        """The path of a complete, hidden file beside `name`, which no other process knows; it is deleted at the end."""
        folder, _, last = self._path(name).rpartition("/")
        passing = f"{folder}/.{last}.{uuid.uuid4().hex}.tmp"
        try:
            self._create(passing, name, content)
            yield passing
        finally:
            # If the store is down the file stays, as after a killed process.
            with suppress(StorageDownError, StorageRefusedError), self._answer(name):
                self._client.delete(passing)

    def _create(self, passing: str, name: str, content: bytes) -> None:
        try:
            with self._answer(name), self._client.create(passing) as file:
                file.write(content)
        except (FileExistsError, FileNotFoundError) as error:
            # The create was repeated after a lost answer: no other process uses that name.
            raise StorageDownError.of(f"{self._root}/{name}", error) from None

    def _path(self, name: str) -> str:
        return f"/{self._root.key}/{name}".rstrip("/")

    def _name(self, told: FileStatus) -> str:
        return told.path.removeprefix(f"/{self._root.key}/")

    def _stored(self, told: FileStatus) -> StoredFile:
        changed = datetime.fromtimestamp(told.modification_time / 1000, UTC)
        return StoredFile(self._name(told), told.length, changed, f"{told.modification_time} {told.length}")

    @contextmanager
    def _answer(self, name: str) -> Iterator[None]:
        where = f"{self._root}/{name}"
        try:
            yield
        except FileExistsError:
            raise FileExistsError(where) from None
        except FileNotFoundError:
            raise FileNotFoundError(where) from None
        except (OSError, RuntimeError) as error:
            raise error_of(where, error) from None


def _environment_mark() -> int:
    """A number that changes with Hadoop's variables, because a client reads them only once."""
    return hash(tuple(sorted(item for item in os.environ.items() if item[0].startswith("HADOOP_"))))


@functools.lru_cache(maxsize=8)
def _client(address: str, is_name_service: bool, environment_mark: int) -> Client:  # noqa: ARG001, FBT001 - a key
    """One client for each name node and environment, which keeps its connections."""
    return Client(address, config=None if is_name_service else _ONE_NAME_NODE)
