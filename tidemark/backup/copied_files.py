"""Copies files with their SHA-256, and syncs them to the disk before they are published."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Final

from tidemark.backup.manifest import BackupFile
from tidemark.system.files import private_directory

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_AT_ONCE: Final = 1 << 20


class CopiedFiles:
    """A folder that is being filled; `files` are its files by relative path."""

    def __init__(self, folder: Path) -> None:
        self.folder = private_directory(folder)
        self.files: dict[str, BackupFile] = {}

    def copy(self, source: Path, name: str) -> None:
        """Copy a file that does not change. Raises FileNotFoundError."""
        self.files[name] = copy_file(source, self.folder / name)

    def adopt(self, name: str) -> None:
        """Add a file that another program wrote here."""
        path = self.folder / name
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            os.fsync(file.fileno())
        self.files[name] = BackupFile(sha256=digest, size_bytes=path.stat().st_size)

    def place_for(self, name: str) -> Path:
        """The path for a file that another program will write."""
        private_directory((self.folder / name).parent)
        return self.folder / name


def copy_file(source: Path, target: Path, changed_ns: int = 0) -> BackupFile:
    """Copy a file to the disk. The copy keeps the source's time of change, or gets `changed_ns`. Raises OSError."""
    digest, size = hashlib.sha256(), 0
    with source.open("rb") as original:
        changed = changed_ns or os.fstat(original.fileno()).st_mtime_ns
        private_directory(target.parent)
        with target.open("xb") as copy:
            while piece := original.read(_AT_ONCE):
                digest.update(piece)
                size += len(piece)
                copy.write(piece)
            copy.flush()
            os.fsync(copy.fileno())
    os.utime(target, ns=(changed, changed))
    return BackupFile(sha256=digest.hexdigest(), size_bytes=size, changed_ns=changed)


def sync_folders(folder: Path) -> None:
    """Sync the folders below, so that the names of files are on the disk too."""
    for path in (folder, *(below for below in folder.rglob("*") if below.is_dir())):
        _sync(path)


def publish(unfinished: Path, folder: Path) -> None:
    """Give a complete folder or file its name. Raises OSError if the name is in use."""
    unfinished.rename(folder)
    _sync(folder.parent)


def total_bytes(files: Iterable[Path]) -> int:
    """The bytes of all files; a file that disappears in the meantime counts 0."""
    return sum(map(_size, files))


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
