"""Versions of a table that cannot be read any more, because their files or their log are gone.

A VACUUM of another program knows only age, and may delete files that a tagged snapshot needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.delta.internals.log_replay import read_history
from tidemark.storage.stored_files import stored_files

if TYPE_CHECKING:
    from tidemark.system.table_location import TableLocation


@dataclass(frozen=True)
class ReadableVersions:
    """`first` to `last` are the versions of the log. `gone` are spans of versions, [from, before), that lack a file."""

    first: int
    last: int
    gone: tuple[tuple[int, int | None], ...]

    def why_not(self, version: int) -> str:
        """Why a version cannot be read; empty if it can."""
        if version < self.first:
            return f"the log no longer has version {version}"
        if version > self.last:
            return f"the log ends at version {self.last}, and the tag names version {version}"
        lacking = sum(added <= version and (removed is None or version < removed) for added, removed in self.gone)
        return f"{lacking} files of version {version} are gone" if lacking else ""


def readable_versions(path: TableLocation) -> ReadableVersions:
    """The readable versions, by one walk over the table's files and its log. Raises the errors of `log_replay`."""
    history = read_history(path)
    on_disk = whole_paths(path)
    gone = {
        (file.added, file.removed)
        for file in history.lifetimes
        if not all(name in on_disk for name in file.paths if not name.startswith("#"))
    }
    return ReadableVersions(history.commits[0][0], history.commits[-1][0], tuple(sorted(gone, key=str)))


def paths_on_disk(path: TableLocation) -> frozenset[str]:
    """The data files and deletion vectors of a table, by their path in its folder."""
    return frozenset(stored_files(path).names())


def whole_paths(path: TableLocation) -> frozenset[str]:
    """The same without empty files: a power loss, or a copy that stopped, can empty a file."""
    return frozenset(file.name for file in stored_files(path).walk() if file.size_bytes)
