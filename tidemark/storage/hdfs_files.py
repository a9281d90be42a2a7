"""The files of a folder in HDFS, by hdfs-native: the library underneath delta-rs, without a JVM.

A file is written under a passing name and renamed, as Delta's log store for HDFS does and delta-rs, too: the name node
renames at once, and where it is told not to overwrite it refuses where the name is taken.
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
"""It is asked for some 15 seconds: one that is started again answers then. Those of a name service are asked as
Hadoop's configuration says."""


class HdfsFiles:
    """A FileStore. Each method may raise StorageDownError and StorageRefusedError as well."""

    def __init__(self, root: HdfsLocation) -> None:
        self._root = root
        self._client = _client(f"hdfs://{root.authority}", root.is_name_service, _environment_mark())

    def walk(self) -> Iterator[StoredFile]:
        """The files below that are not hidden, in no order."""
        return (self._stored(file) for file in self._below("", is_hidden))

    def names(self) -> Iterator[str]:
        """The names of the same."""
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
        """What is right in a folder; nothing where it is not there, or not any more."""
        try:
            with self._answer(folder):
                return list(self._client.list_status(self._path(folder)))
        except FileNotFoundError:
            return []

    def names_in(self, folder: str) -> list[str]:
        """The names of the files right in a folder, in order."""
        return sorted(self._name(told) for told in self._listed(folder) if not told.isdir)

    def folder_mark(self, folder: str) -> str | None:
        """How many files are in a folder, and the newest one: the folder's own time is to the millisecond."""
        files = [told for told in self._listed(folder) if not told.isdir]
        newest = max(((told.modification_time, told.path) for told in files), default=None)
        return None if newest is None else f"{len(files)} {newest[0]} {newest[1]}"

    def has_files(self, folder: str) -> bool:
        """Whether there is anything in a folder."""
        return any(True for _ in self._below(folder, lambda _: False))

    def exists(self, name: str) -> bool:
        """Whether there is such a file."""
        try:
            self.stat(name)
        except FileNotFoundError:
            return False
        return True

    def stat(self, name: str) -> StoredFile:
        """What is known of a file without reading it."""
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
        """So many bytes of a file, fewer at its end."""
        with self._answer(name):
            file = self._client.read(self._path(name))
            # The library panics behind the end.
            return file.read_range(start, max(0, min(length, len(file) - start)))

    def arrow_source(self, name: str) -> RangeFile:
        """What Arrow reads a file from."""
        return RangeFile(self, self.stat(name))

    def put(self, name: str, content: bytes) -> None:
        """Write a file, in the place of one that is there."""
        with self._passing(name, content) as passing:
            self._rename(passing, name, content, overwrite=True)

    def put_if_absent(self, name: str, content: bytes) -> bool:
        """Write a file unless there is one of that name; whether it was written."""
        if self.exists(name):
            return False
        with self._passing(name, content) as passing:
            try:
                self._rename(passing, name, content, overwrite=False)
            except FileExistsError:
                return False
        return True

    def delete(self, names: Iterable[str]) -> None:
        """Delete files; those that are gone already are passed over."""
        for name in names:
            with self._answer(name):
                self._client.delete(self._path(name))

    def delete_all(self) -> None:
        """Delete the folder and everything in it."""
        with self._answer(""):
            self._client.delete(self._path(""), recursive=True)

    def name_of(self, uri: str) -> str:
        """The name of a file that is given by an absolute URI. Raises FileNotFoundError for one that is elsewhere."""
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
            # The library asks again where an answer was lost, and there is nothing to rename any more where the first
            # one was heard.
            if self.read(name) != content:
                raise StorageDownError.of(f"{self._root}/{name}", error) from None

    @contextmanager
    def _passing(self, name: str, content: bytes) -> Iterator[str]:
        """The path of a whole, hidden file beside `name`, which nobody else knows; it is gone in the end."""
        folder, _, last = self._path(name).rpartition("/")
        passing = f"{folder}/.{last}.{uuid.uuid4().hex}.tmp"
        try:
            self._create(passing, name, content)
            yield passing
        finally:
            # Where the store is down it stays, as what a killed process leaves.
            with suppress(StorageDownError, StorageRefusedError), self._answer(name):
                self._client.delete(passing)

    def _create(self, passing: str, name: str, content: bytes) -> None:
        try:
            with self._answer(name), self._client.create(passing) as file:
                file.write(content)
        except (FileExistsError, FileNotFoundError) as error:
            # Asked again in the same way: that name is nobody else's.
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
    """Another number where Hadoop's variables are others: a client reads them once, as it is made."""
    return hash(tuple(sorted(item for item in os.environ.items() if item[0].startswith("HADOOP_"))))


@functools.lru_cache(maxsize=8)
def _client(address: str, is_name_service: bool, environment_mark: int) -> Client:  # noqa: ARG001, FBT001 - a key
    """One client a name node and environment: it keeps its connections."""
    return Client(address, config=None if is_name_service else _ONE_NAME_NODE)
