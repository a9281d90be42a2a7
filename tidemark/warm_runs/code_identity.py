"""The identity of the code that a host's workers load, so that a run uses the same code as its launcher."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from tidemark.warm_runs.source_version import source_folders, source_version

if TYPE_CHECKING:
    from collections.abc import Iterable

_FRESH_SECONDS: Final = 1.0


class CodeIdentity:
    """A text that is the same on all hosts whose packages have the same files.

    Thread-safe; changed files are read again.
    """

    def __init__(self, packages: Iterable[str]) -> None:
        self._folders = source_folders(packages)
        self._version: object = None
        self._identity = ""
        self._looked_at = float("-inf")
        self._lock = Lock()

    def __call__(self) -> str:
        """The identity of the code on disk, at most a second old."""
        with self._lock:
            if time.monotonic() - self._looked_at < _FRESH_SECONDS:
                return self._identity
            self._looked_at = time.monotonic()
            version = source_version(self._folders)
            if version != self._version:
                self._identity, self._version = content_identity(self._folders), version
            return self._identity


def content_identity(folders: Iterable[Path]) -> str:
    """A hash of the sources below the folders, by names and content, wherever the folders are."""
    digest = hashlib.blake2b(digest_size=12)
    for folder in sorted(folders, key=lambda path: path.name):
        for path in sorted(Path(name) for name, _ in source_version([folder])):
            content = path.read_bytes()
            digest.update(f"{folder.name}/{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()
