"""The files of a folder on the local disk."""

import os
import shutil
import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from tidemark.storage.file_store import StoredFile, is_hidden
from tidemark.system.files import private_directory

_OWNERS_FILE: Final = 0o600


class LocalFiles:
    """A FileStore; an absolute name is that file, wherever it is."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def walk(self) -> Iterator[StoredFile]:
        """The visible files below, in any order."""
        for name in self.names():
            try:
                told = (self._root / name).stat()
            except FileNotFoundError:  # it was deleted since it was listed
                continue
            yield _stored(name, told)

    def names(self) -> Iterator[str]:
        """The names of the visible files below."""
        begin = len(str(self._root)) + 1
        for folder, folders, names in os.walk(self._root):
            folders[:] = [name for name in folders if not is_hidden(name)]
            yield from (f"{folder}/{name}"[begin:] for name in names if not is_hidden(name))

    def names_in(self, folder: str) -> list[str]:
        """The names of the files directly in a folder, sorted."""
        try:
            with os.scandir(self._root / folder) as entries:
                return sorted(f"{folder}/{entry.name}" for entry in entries if entry.is_file())
        except FileNotFoundError:
            return []

    def folder_mark(self, folder: str) -> str | None:
        """The time when a file was last added to a folder or removed."""
        try:
            return str((self._root / folder).stat().st_mtime_ns)
        except OSError:
            return None

    def has_files(self, folder: str) -> bool:
        """Whether a folder has any file."""
        try:
            with os.scandir(self._root / folder) as entries:
                return any(True for _ in entries)
        except (FileNotFoundError, NotADirectoryError):
            return False

    def exists(self, name: str) -> bool:
        """Whether the file exists."""
        return (self._root / name).is_file()

    def stat(self, name: str) -> StoredFile:
        """The facts about a file, without reading it."""
        path = self._root / name
        told = path.stat()
        if path.is_dir():
            raise FileNotFoundError(path)
        return _stored(name, told)

    def read(self, name: str) -> bytes:
        """A file's content."""
        return (self._root / name).read_bytes()

    def read_range(self, name: str, start: int, length: int) -> bytes:
        """`length` bytes of a file from `start` on, fewer at its end."""
        with (self._root / name).open("rb") as file:
            file.seek(start)
            return file.read(length)

    def arrow_source(self, name: str) -> Path:
        """A source from which Arrow reads a file."""
        return self._root / name

    def put(self, name: str, content: bytes) -> None:
        """Write a file, or replace it."""
        self._written(name, content).replace(self._root / name)

    def put_if_absent(self, name: str, content: bytes) -> bool:
        """Write a file if the name is free; returns whether it was written."""
        passing = self._written(name, content)
        try:
            # Unlike a rename, a link never replaces a file.
            os.link(passing, self._root / name)
        except FileExistsError:
            return False
        finally:
            passing.unlink()
        return True

    def delete(self, names: Iterable[str]) -> None:
        """Delete files, each with the checksum file that Hadoop's local file system keeps for it."""
        for path in (self._root / name for name in names):
            path.unlink(missing_ok=True)
            path.with_name(f".{path.name}.crc").unlink(missing_ok=True)

    def delete_all(self) -> None:
        """Delete the folder and everything in it."""
        shutil.rmtree(self._root, ignore_errors=True)

    def name_of(self, uri: str) -> str:
        """The name of a file by its absolute URI."""
        path = Path(unquote(urlsplit(uri).path))
        return str(path.relative_to(self._root)) if path.is_relative_to(self._root) else str(path)

    def _written(self, name: str, content: bytes) -> Path:
        path = self._root / name
        private_directory(path.parent)
        passing = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
        with open(passing, "wb", opener=lambda at, flags: os.open(at, flags, _OWNERS_FILE)) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        return passing


def _stored(name: str, told: os.stat_result) -> StoredFile:
    return StoredFile(name, told.st_size, datetime.fromtimestamp(told.st_mtime, UTC), str(told.st_mtime_ns))
