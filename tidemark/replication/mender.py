"""Verifies published files of a replica, and repairs what differs (C6).

Each file is compared with its checksum in the replica's log, and the log with what was published. A file that is
damaged there and sound here is sent again under its name. Otherwise its slice is published again.
"""

from __future__ import annotations

import hashlib
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from tidemark.compute.business_time import slice_values
from tidemark.delta.errors import VersionGoneError
from tidemark.delta.internals.log_replay import read_history
from tidemark.delta.internals.version_content import file_steps, newest_content, version_content
from tidemark.delta.own_commit import replica_told
from tidemark.errors import TidemarkError, TransientError
from tidemark.replication.copied_files import checksum_of, file_names, size_of
from tidemark.replication.replica_commit import CHECKSUM, VECTOR_CHECKSUM
from tidemark.replication.slice_files import SliceFiles
from tidemark.state_store.held_leases import holding
from tidemark.state_store.notes import Notes
from tidemark.state_store.slice_copies import SliceCopies
from tidemark.storage.stored_files import stored_files
from tidemark.strict_json import json_text
from tidemark.system.utc_clock import utc_now
from tidemark.warehouse.center_fence import CenterFence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from datetime import datetime

    from tidemark.delta.internals.version_content import FileKey, FileStep, VersionContent
    from tidemark.replication.bandwidth import Bandwidth
    from tidemark.state_store.fence import Fence
    from tidemark.state_store.slice_copies import SliceCopy
    from tidemark.state_store.store import StateStore
    from tidemark.system.replica_place import ReplicaPlace
    from tidemark.system.table_location import TableLocation
    from tidemark.warehouse.warehouse import Warehouse

    Files = Mapping[FileKey, Mapping[str, Any]]

LAST_REPAIR: Final = "last repair"
"""The kind of the notes, by place, with the findings of the last pass."""
_AT_ONCE: Final = 4
_KEPT: Final = 100
_YOUNG: Final = timedelta(hours=1)
"""A younger file outside all versions may belong to a commit in progress, of another process after a fail-over."""
_LOGGER: Final = logging.getLogger("tidemark.replication")


class Damage(Enum):
    """A difference between a replica and what was published."""

    MISSING = "missing"
    OTHER_SIZE = "other size"
    OTHER_BYTES = "other bytes"
    EXTRA_FILE = "extra file"
    OTHER_VERSION = "other version"


@dataclass(frozen=True, slots=True)
class ReplicaFinding:
    """`what` is a file of the table, or for another version a slice; `done` is the repair."""

    table: str
    what: str
    damage: Damage
    done: str


@dataclass
class MenderReport:
    """Counts and findings of one pass; `troubles` has the tables that could not be checked, with the reason."""

    files: int = 0
    read_bytes: int = 0
    findings: list[ReplicaFinding] = field(default_factory=list)
    troubles: dict[str, str] = field(default_factory=dict)

    def as_data(self) -> dict[str, Any]:
        """The report as JSON."""
        return {
            "files": self.files,
            "read_bytes": self.read_bytes,
            "findings": [
                {"table": told.table, "what": told.what, "damage": told.damage.value, "done": told.done}
                for told in self.findings
            ],
            "troubles": [{"table": table, "why": why} for table, why in self.troubles.items()],
        }


@dataclass(frozen=True)
class _ListedFile:
    """A listed file. `key` is the key of its `add`. The log has no size for a deletion vector."""

    key: FileKey
    name: str
    size: int | None
    checksum: str


class Mender:
    """Checks the tables of one place; `bandwidth` limits reads there."""

    def __init__(
        self,
        warehouse: Warehouse,
        store: StateStore,
        place: ReplicaPlace,
        bandwidth: Bandwidth,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._warehouse, self._store, self._place = warehouse, store, place
        self._bandwidth, self._clock = bandwidth, clock
        self._fence = CenterFence(warehouse.settings, store.database, clock)
        self._positions = Notes(store.database, f"repaired {place.name}")

    def run_pass(self) -> MenderReport:
        """Check each table once. Slices to publish again are left to the next pass of the replication.

        Raises StateStoreDownError, and AlreadyRunningError while another process copies to the place.
        """
        report = MenderReport()
        for _ in self.steps(report):
            pass
        return report

    def steps(self, report: MenderReport) -> Iterator[None]:
        """The same pass in steps of some files, so that a caller can do other work in between."""
        for path, names in sorted(self._tables().items(), key=lambda table: str(table[0])):
            try:
                yield from self._steps_of(path, names, report)
            except (TidemarkError, OSError) as error:
                if isinstance(error, TransientError):
                    raise
                report.troubles[path.name] = str(error)
            yield
        last = {**report.as_data(), "at": self._clock().isoformat()}
        last["findings"] = last["findings"][-_KEPT:]
        Notes(self._store.database, LAST_REPAIR).put({self._place.name: json_text(last)})

    def _tables(self) -> dict[TableLocation, list[str]]:
        """The entities of each table that no other center has taken over."""
        tables: dict[TableLocation, list[str]] = {}
        for entity in self._warehouse.entities.values():
            if self._place.name in entity.replicate and self._fence.permission(entity.center).may_finish:
                tables.setdefault(self._warehouse.table_path(entity.name), []).append(entity.name)
        return tables

    def _steps_of(self, path: TableLocation, names: list[str], report: MenderReport) -> Iterator[None]:
        """Check a table. Only the repair needs the lease of the place, so suspect files are checked again under it."""
        table = _ReplicaTable(path, self._place.lake / path.name, self._bandwidth)
        seen = newest_content(table.replica)
        suspects: list[_ListedFile] = []
        listed = list(_listed(seen, table.replica)) if seen else []
        for first in range(0, len(listed), _AT_ONCE):
            suspects += table.damaged(listed[first : first + _AT_ONCE], report)
            yield
        place = self._place.name
        with holding(self._store.database, f"replicate {place}", f"repairing {place}") as held:
            stored = {name: SliceCopies(self._store.database, place, name) for name in names}
            self._repair(table, stored, suspects, report, held.fences)

    def _repair(
        self,
        table: _ReplicaTable,
        stored: Mapping[str, SliceCopies],
        suspects: list[_ListedFile],
        report: MenderReport,
        fences: tuple[Fence, ...],
    ) -> None:
        copies = [copy for copies in stored.values() for copy in copies.all().values()]
        published = [copy for copy in copies if copy.published and not copy.is_open]
        content, found_before = newest_content(table.replica), len(report.findings)
        gone = [copy for copy in published if content is None or _version_of(copy) > content.version]
        again = {copy.slice: replace(copy.again((), self._clock()), published=None) for copy in gone}
        other_versions = [*again]
        if content is not None:
            current = self._newest_of_snapshots([copy for copy in published if copy not in gone])
            for copy in self._written_by_others(table, content, current):
                again[copy.slice] = copy.again((), self._clock())
                other_versions.append(copy.slice)
            damaged = table.repair([file for file in suspects if file.key in content.files], report)
            for copy in current:
                if lost := self._partition(copy).names(content, table.replica) & damaged:
                    again[copy.slice] = copy.again(lost, self._clock())
            if len(published) == len(copies) and not gone:
                table.remove_extra_files(self._clock() - _YOUNG, report)
            self._positions.put({table.name: str(content.version)}, fences)
        report.findings += [
            ReplicaFinding(table.name, str(slice_), Damage.OTHER_VERSION, "published again")
            for slice_ in other_versions
        ]
        for copy in again.values():
            stored[copy.slice.entity].put([copy], fences)
        for finding in report.findings[found_before:]:
            told = (finding.what, finding.table, self._place.name, finding.damage.value, finding.done)
            _LOGGER.warning("%s of %s at %s: %s, %s", *told)

    def _written_by_others(
        self, table: _ReplicaTable, content: VersionContent, current: list[SliceCopy]
    ) -> list[SliceCopy]:
        """Slices that another program wrote to after they were published."""
        changes = table.foreign_changes(int(self._positions.get(table.name) or -1), content.version)
        return [
            copy
            for copy in current
            if any(
                _version_of(copy) < version and self._partition(copy).of(replace(content, files=files))
                for version, files in changes
            )
        ]

    def _newest_of_snapshots(self, published: list[SliceCopy]) -> list[SliceCopy]:
        """Without snapshots except the newest: a later write is in no earlier snapshot."""
        snapshots = [copy for copy in published if self._warehouse.is_snapshot(copy.slice.entity)]
        newest = max(snapshots, key=lambda copy: (copy.version, str(copy.slice)), default=None)
        return [copy for copy in published if copy not in snapshots or copy == newest]

    def _partition(self, copy: SliceCopy) -> SliceFiles:
        name = copy.slice.entity
        is_snapshot = self._warehouse.is_snapshot(name)
        return SliceFiles({} if is_snapshot else slice_values(self._warehouse.entities[name], copy.slice))


@dataclass(frozen=True)
class _ReplicaTable:
    """A table and its replica."""

    source: TableLocation
    replica: TableLocation
    bandwidth: Bandwidth

    @property
    def name(self) -> str:
        return self.source.name

    def damaged(self, files: list[_ListedFile], report: MenderReport) -> list[_ListedFile]:
        """The files that are missing or differ from the log."""
        with ThreadPoolExecutor(_AT_ONCE, "repair") as pool:
            looked = list(pool.map(self._look, files))
        report.files += len(files)
        report.read_bytes += sum(size for size, _ in looked)
        return [file for file, (_, damage) in zip(files, looked, strict=True) if damage]

    def repair(self, files: Iterable[_ListedFile], report: MenderReport) -> set[str]:
        """Send damaged files again, after another check. Returns the names of files that the source no longer has."""
        left = set[str]()
        for file in files:
            _, damage = self._look(file)
            if damage is None:
                continue
            is_repaired = self._repair(file)
            done = "sent again" if is_repaired else "published again from other files"
            report.findings.append(ReplicaFinding(self.name, file.name, damage, done))
            if not is_repaired:
                left.add(file.name)
        return left

    def _look(self, file: _ListedFile) -> tuple[int, Damage | None]:
        """The bytes read, and the damage, if any."""
        store = stored_files(self.replica)
        size = size_of(store, file.name)
        if size is None:
            return 0, Damage.MISSING
        if file.size not in {None, size}:
            return 0, Damage.OTHER_SIZE
        self.bandwidth.take(size)
        return size, None if checksum_of(store, file.name, size) == file.checksum else Damage.OTHER_BYTES

    def _repair(self, file: _ListedFile) -> bool:
        """Send a file again. Returns whether the source still has it as published."""
        try:
            content = stored_files(self.source).read(file.name)
        except FileNotFoundError:
            return False
        if hashlib.sha256(content).hexdigest() != file.checksum:
            return False
        stored_files(self.replica).put(file.name, content)
        return self._look(file)[1] is None

    def remove_extra_files(self, before: datetime, report: MenderReport) -> None:
        """Delete files outside all versions that were changed before an instant."""
        known = {name for lifetime in read_history(self.replica).lifetimes for name in lifetime.paths}
        store = stored_files(self.replica)
        extra = sorted(file.name for file in store.walk() if file.name not in known and file.changed < before)
        store.delete(extra)
        report.findings += [ReplicaFinding(self.name, name, Damage.EXTRA_FILE, "deleted") for name in extra]

    def foreign_changes(self, after: int, until: int) -> list[tuple[int, Files]]:
        """The versions after `after` in which another program changed rows, with the files added and removed."""
        try:
            steps = list(enumerate(file_steps(self.replica, after, until), after + 1))
        except VersionGoneError:  # commits that the log no longer has were checked in an earlier pass, or cannot be
            return []
        foreign = [version for version, step in steps if step.changes_rows and replica_told(step.info) is None]
        if not foreign:
            return []
        live = dict(version_content(self.replica, after).files) if after >= 0 else {}
        return list(_changed(live, steps, set(foreign)))


def _version_of(copy: SliceCopy) -> int:
    return copy.published.replica_version if copy.published else -1


def _changed(
    live: dict[FileKey, Mapping[str, Any]], steps: Iterable[tuple[int, FileStep]], foreign: Collection[int]
) -> Iterator[tuple[int, Files]]:
    for version, step in steps:
        removed = {key: live.pop(key) for key in step.removed if key in live}
        live |= step.added
        if version in foreign:
            yield version, {**removed, **step.added}


def _listed(content: VersionContent, where: TableLocation) -> Iterator[_ListedFile]:
    """Files with a checksum in the log. Several vectors may share a file, which is checked once."""
    seen = set[str]()
    for key, add in content.files.items():
        tags = add.get("tags") or {}
        checksums = (tags.get(CHECKSUM), tags.get(VECTOR_CHECKSUM))
        for (name, size), checksum in zip(file_names(add, where).items(), checksums, strict=False):
            if checksum is not None and name not in seen:
                seen.add(name)
                yield _ListedFile(key, name, size, checksum)
