"""A cache of opened tables in object stores. A commit never changes, so read parts of a log are not read again.

Each time, one request to the store finds the newest version, and whether the cached table is still the one at this
place: its own commit must be unchanged. A table that was deleted and created again is another table.

A table is lent to one caller, who may change it. When the caller releases it, it returns to the cache if its version is
unchanged. This needs a private name of delta-rs: the table behind Python's object.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from deltalake import DeltaTable

from tidemark.delta.log_folder import LOG, commit_file, commit_version
from tidemark.storage.object_files import ObjectFiles, environment_mark

if TYPE_CHECKING:
    from tidemark.system.table_location import ObjectLocation

_MOST: Final = 48
"""The most cached tables; each version of a table counts."""
_Place = tuple[str, int]


@dataclass(frozen=True)
class _Kept:
    """A cached table; `mark` identifies the content of its version's commit."""

    place: _Place
    version: int
    mark: str
    raw: Any


@dataclass
class KeptTables:
    """The cache of a process, for several threads."""

    _kept: list[_Kept] = field(default_factory=list)
    _given_up: deque[_Kept] = field(default_factory=deque)
    _opened_before: set[_Place] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def open(self, path: ObjectLocation, version: int | None) -> DeltaTable:
        """The table at `version`, the newest by default. Raises the errors of deltalake and of the store."""
        place, log = (str(path), environment_mark()), ObjectFiles(path)
        kept = self._take(place, version)
        current = kept and (_at(log, kept) if kept.version == version else _newest(log, kept))
        if current is None or (version is not None and current.version != version):
            if current is not None:
                self._given_up.append(current)
            return self._read(place, path, log, version)
        return self._lend(current, path)

    def _read(self, place: _Place, path: ObjectLocation, log: ObjectFiles, version: int | None) -> DeltaTable:
        """Reads the whole log. A table is cached from its second opening on, because a third is likely."""
        table = DeltaTable(str(path), version=version, storage_options=path.storage_options)
        if place not in self._opened_before:
            self._opened_before.add(place)
            return table
        try:
            mark = log.stat(commit_file(table.version())).mark
        except FileNotFoundError:  # the version is only in a checkpoint
            return table
        return self._lend(_Kept(place, table.version(), mark, table._table), path)  # noqa: SLF001

    def _take(self, place: _Place, version: int | None) -> _Kept | None:
        """The cached table of that version, or the newest one that can advance to it. It leaves the cache."""
        with self._lock:
            self._take_back()
            here = [kept for kept in self._kept if kept.place == place and version in {None, kept.version}]
            if not here and version is not None:
                here = [kept for kept in self._kept if kept.place == place and kept.version < version]
            if not here:
                return None
            chosen = max(here, key=lambda kept: kept.version)
            self._kept = [kept for kept in self._kept if kept is not chosen]
            return chosen

    def _take_back(self) -> None:
        while self._given_up:
            kept = self._given_up.popleft()
            if kept.raw.version() == kept.version:
                self._kept.append(kept)
        del self._kept[:-_MOST]

    def _lend(self, kept: _Kept, path: ObjectLocation) -> DeltaTable:
        table = DeltaTable.__new__(DeltaTable)
        table._table, table._storage_options = kept.raw, path.storage_options  # noqa: SLF001
        # Any thread may release it, even inside the lock of this one, so it goes into a queue without a lock.
        weakref.finalize(table, self._given_up.append, kept).atexit = False
        return table


def _at(log: ObjectFiles, kept: _Kept) -> _Kept | None:
    """The same table, if its commit is unchanged."""
    try:
        return kept if log.stat(commit_file(kept.version)).mark == kept.mark else None
    except FileNotFoundError:
        return None


def _newest(log: ObjectFiles, kept: _Kept) -> _Kept | None:
    """The table at its newest version; None if another table is at the same place."""
    behind = commit_file(kept.version - 1) if kept.version else f"{LOG}/"
    listed = {commit_version(file.name): file.mark for file in log.files_behind(behind)}
    if listed.get(kept.version) != kept.mark:
        return None
    newest = max(version for version in listed if version is not None)
    if newest == kept.version:
        return kept
    kept.raw.update_incremental()
    reached = kept.raw.version()
    return _Kept(kept.place, reached, listed[reached], kept.raw) if reached in listed else None


KEPT_TABLES: Final = KeptTables()
