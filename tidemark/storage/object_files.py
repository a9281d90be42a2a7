"""The files of a folder in an object store, by obstore, the library below delta-rs."""

from __future__ import annotations

import functools
import os
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import AzureStore, GCSStore, S3Store

from tidemark.storage.errors import StorageRefusedError, error_of
from tidemark.storage.file_store import StoredFile, is_hidden
from tidemark.storage.range_file import RangeFile
from tidemark.system.azure_access import AzureAccess
from tidemark.system.gcs_access import GcsAccess

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from obstore import ObjectMeta
    from obstore.store import RetryConfig

    from tidemark.system.table_location import ObjectAccess, ObjectLocation

_RETRIES: Final[RetryConfig] = {"max_retries": 6, "retry_timeout": timedelta(seconds=30)}
"""A restarted server answers within seconds. A longer outage is reported, not waited for."""
_OF_CREDENTIALS: Final = ("AWS_", "GOOGLE_", "AZURE_")
_NO_SUCH_FILE: Final = ("NoSuchKey", "BlobNotFound")
_AT_ONCE: Final = 1_000
"""The most files that one request lists or deletes."""


class ObjectFiles:
    """A FileStore. Each method may also raise StorageDownError and StorageRefusedError."""

    def __init__(self, root: ObjectLocation) -> None:
        self._root = root
        self._has_markers = isinstance(root.access, GcsAccess)
        with self._answer(""):
            self._store = _bucket(root.bucket, root.access, environment_mark())

    def walk(self) -> Iterator[StoredFile]:
        """The visible files below, in any order."""
        return (file for file in self._all() if not any(map(is_hidden, file.name.split("/"))))

    def names(self) -> Iterator[str]:
        """The names of the visible files below."""
        return (file.name for file in self.walk())

    def _all(self) -> Iterator[StoredFile]:
        batches = iter(obstore.list(self._store, self._root.key, chunk_size=_AT_ONCE))
        with self._answer(""):
            for batch in batches:
                yield from map(self._stored, filter(self._is_file, batch))

    def names_in(self, folder: str) -> list[str]:
        """The names of the files directly in a folder, sorted."""
        return sorted(file.name for file in self._files_in(folder))

    def folder_mark(self, folder: str) -> str | None:
        """The number of files in a folder, and the newest one, whose time only has seconds."""
        files = self._files_in(folder)
        newest = max(((file.changed, file.name) for file in files), default=None)
        return None if newest is None else f"{len(files)} {newest[0].isoformat()} {newest[1]}"

    def files_behind(self, name: str) -> list[StoredFile]:
        """The files of the same folder with names after `name`, sorted; `name` itself need not exist."""
        folder = name.rpartition("/")[0]
        batches = iter(obstore.list(self._store, self._key(folder), offset=self._key(name), chunk_size=_AT_ONCE))
        with self._answer(folder):
            files = [self._stored(told) for batch in batches for told in batch if self._is_file(told)]
        return sorted((file for file in files if file.name.rpartition("/")[0] == folder), key=lambda file: file.name)

    def _files_in(self, folder: str) -> list[StoredFile]:
        with self._answer(folder):
            listed = obstore.list_with_delimiter(self._store, self._key(folder))
        return list(map(self._stored, filter(self._is_file, listed["objects"])))

    def has_files(self, folder: str) -> bool:
        """Whether a folder has any file."""
        with self._answer(folder):
            batches = obstore.list(self._store, self._key(folder), chunk_size=1)
            return any(self._is_file(told) for batch in batches for told in batch)

    def exists(self, name: str) -> bool:
        """Whether the file exists."""
        try:
            self.stat(name)
        except FileNotFoundError:
            return False
        return True

    def stat(self, name: str) -> StoredFile:
        """The facts about a file, without reading it."""
        try:
            with self._answer(name):
                return self._stored(obstore.head(self._store, self._key(name)))
        except FileNotFoundError:
            # This answer has no text. Another request shows whether the bucket or the user is missing instead.
            self.has_files("")
            raise

    def read(self, name: str) -> bytes:
        """A file's content."""
        with self._answer(name):
            return bytes(obstore.get(self._store, self._key(name)).bytes())

    def read_range(self, name: str, start: int, length: int) -> bytes:
        """`length` bytes of a file from `start` on, fewer at its end."""
        with self._answer(name):
            return bytes(obstore.get_range(self._store, self._key(name), start=start, length=length))

    def arrow_source(self, name: str) -> RangeFile:
        """A source from which Arrow reads a file."""
        return RangeFile(self, self.stat(name))

    def put(self, name: str, content: bytes) -> None:
        """Write a file, or replace it."""
        with self._answer(name):
            obstore.put(self._store, self._key(name), content)

    def put_if_absent(self, name: str, content: bytes) -> bool:
        """Write a file if the name is free; returns whether it was written. The content must be the writer's own."""
        try:
            with self._answer(name):
                # Use one request: in a multipart upload the condition would not hold for the whole file.
                obstore.put(self._store, self._key(name), content, mode="create", use_multipart=False)
        except AlreadyExistsError:
            # A put is repeated after a lost answer, and then refused because its own file is there.
            return self._is(name, content)
        return True

    def _is(self, name: str, content: bytes) -> bool:
        try:
            return self.read(name) == content
        except FileNotFoundError:
            return False

    def delete(self, names: Iterable[str]) -> None:
        """Delete files. Missing ones are ignored."""
        keys = list(map(self._key, names))
        for first in range(0, len(keys), _AT_ONCE):
            with self._answer(""):
                self._delete(keys[first : first + _AT_ONCE])

    def _delete(self, keys: list[str]) -> None:
        try:
            obstore.delete(self._store, keys)
        except FileNotFoundError as error:
            # Google's store reports a missing file, and the library stops there, with the other files not deleted.
            if not _is_of_a_file(error):
                raise
            for key in keys:
                with suppress(FileNotFoundError):
                    obstore.delete(self._store, key)

    def delete_all(self) -> None:
        """Delete everything in the folder."""
        self.delete([file.name for file in self._all()])

    def name_of(self, uri: str) -> str:
        """The name of a file by its absolute URI. Raises FileNotFoundError for a file in another place."""
        parts = urlsplit(uri)
        key = unquote(parts.path).removeprefix("/")
        if parts.netloc != self._root.bucket or not key.startswith(f"{self._root.key}/"):
            raise FileNotFoundError(f"{uri} is not in {self._root}")
        return key.removeprefix(f"{self._root.key}/")

    def _is_file(self, told: ObjectMeta) -> bool:
        """Whether it is a file.

        Google's connector marks a folder by an empty object with a final slash, which obstore drops.
        """
        return not self._has_markers or bool(told["size"])

    def _key(self, name: str) -> str:
        return f"{self._root.key}/{name}".rstrip("/")

    def _stored(self, told: ObjectMeta) -> StoredFile:
        name = told["path"].removeprefix(f"{self._root.key}/")
        # Only seconds, because a request for one file has no more.
        changed = told["last_modified"].replace(microsecond=0)
        mark = told["e_tag"] or str(changed)
        # Azure quotes it for a single file, but not in a list.
        mark = mark.strip('"') if isinstance(self._root.access, AzureAccess) else mark
        return StoredFile(name, told["size"], changed, mark)

    @contextmanager
    def _answer(self, name: str) -> Iterator[None]:
        where = f"{self._root}/{name}"
        try:
            yield
        except AlreadyExistsError:
            raise
        except FileNotFoundError as error:
            if _is_of_a_file(error):
                raise FileNotFoundError(where) from None
            raise StorageRefusedError.of(where) from None
        except (PermissionDeniedError, UnauthenticatedError):
            raise StorageRefusedError.of(where) from None
        except BaseError as error:
            raise error_of(where, error) from None


def _is_of_a_file(error: FileNotFoundError) -> bool:
    """Whether a file is missing. Some servers also answer 404 for a missing bucket or user, and name it in the text."""
    return "<Code>" not in str(error) or any(f"<Code>{code}</Code>" in str(error) for code in _NO_SUCH_FILE)


def environment_mark() -> int:
    """A number that changes with the variables from which a client reads its credentials once."""
    return hash(tuple(sorted(item for item in os.environ.items() if item[0].startswith(_OF_CREDENTIALS))))


@functools.lru_cache(maxsize=8)
def _bucket(name: str, access: ObjectAccess, environment_mark: int) -> S3Store | GCSStore | AzureStore:  # noqa: ARG001 - a key
    """One client for each bucket and environment, which keeps its connections."""
    options: Any = access.storage_options
    if isinstance(access, GcsAccess):
        return GCSStore(name, config=options, retry_config=_RETRIES)
    if isinstance(access, AzureAccess):
        return AzureStore(name.partition("@")[0], config=options, retry_config=_RETRIES)
    return S3Store(name, config=options, retry_config=_RETRIES)
