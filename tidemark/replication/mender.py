"""Looks whether a replica still has what was published there, file by file, and repairs what is not so (C6).

Each file is compared with the checksum that the replica's log has of it, and the log with what was published. A file
that is damaged there and whole here is sent again under its name; what cannot be repaired so is published again.
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
"""The kind of the notes, by place, that say what the last pass found."""
_AT_ONCE: Final = 4
_KEPT: Final = 100
_YOUNG: Final = timedelta(hours=1)
"""A file that no version has may be one of a commit that is still to come: somebody else's, after a fail-over."""
_LOGGER: Final = logging.getLogger("tidemark.replication")


class Damage(Enum):
    """How a replica differs from what was published."""

    MISSING = "missing"
    OTHER_SIZE = "other size"
    OTHER_BYTES = "other bytes"
    EXTRA_FILE = "extra file"
    OTHER_VERSION = "other version"


@dataclass(frozen=True, slots=True)
class ReplicaFinding:
    """`what` is a file of the table, or for another version a slice; `done` is what became of it."""

    table: str
    what: str
    damage: Damage
    done: str


@dataclass
class MenderReport:
    """What one pass looked at, and what it found; `troubles` are tables that could not be looked at, with why."""

    files: int = 0
    read_bytes: int = 0
    findings: list[ReplicaFinding] = field(default_factory=list)
    troubles: dict[str, str] = field(default_factory=dict)

    def as_data(self) -> dict[str, Any]:
        """For programs."""
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
    """`key` tells the `add` whose data file or deletion vector it is; of a vector the log does not say the size."""

    key: FileKey
    name: str
    size: int | None
    checksum: str


class Mender:
    """Looks at the tables of one place; `bandwidth` bounds what is read there."""

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
        self._positions = Notes(store.database, f"repaired {place.name}")

    def run_pass(self) -> MenderReport:
        """Look at each table once. What is to be published again is done by the next pass of the replication.

        Raises StateStoreDownError, and AlreadyRunningError while another process copies to the place.
        """
        report = MenderReport()
        for _ in self.steps(report):
            pass
        return report

    def steps(self, report: MenderReport) -> Iterator[None]:
        """The same in steps of some files: whoever goes on with others in between does not wait for a whole pass."""
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
        """The entities of each table."""
        tables: dict[TableLocation, list[str]] = {}
        for entity in self._warehouse.entities.values():
            if self._place.name in entity.replicate:
                tables.setdefault(self._warehouse.table_path(entity.name), []).append(entity.name)
        return tables

    def _steps_of(self, path: TableLocation, names: list[str], report: MenderReport) -> Iterator[None]:
        """Only what is done needs the lease of the place: what was seen before is looked at once more then."""
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
        """Slices into which somebody else wrote after they were published."""
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
        """Of snapshots the newest alone: what somebody writes later is in none of those before."""
        snapshots = [copy for copy in published if self._warehouse.is_snapshot(copy.slice.entity)]
        newest = max(snapshots, key=lambda copy: (copy.version, str(copy.slice)), default=None)
        return [copy for copy in published if copy not in snapshots or copy == newest]

    def _partition(self, copy: SliceCopy) -> SliceFiles:
        name = copy.slice.entity
        is_snapshot = self._warehouse.is_snapshot(name)
        return SliceFiles({} if is_snapshot else slice_values(self._warehouse.entities[name], copy.slice))


@dataclass(frozen=True)
class _ReplicaTable:
    """One table and its replica."""

    source: TableLocation
    replica: TableLocation
    bandwidth: Bandwidth

    @property
    def name(self) -> str:
        return self.source.name

    def damaged(self, files: list[_ListedFile], report: MenderReport) -> list[_ListedFile]:
        """Those of the files that are not there as the log has them."""
        with ThreadPoolExecutor(_AT_ONCE, "repair") as pool:
            looked = list(pool.map(self._look, files))
        report.files += len(files)
        report.read_bytes += sum(size for size, _ in looked)
        return [file for file, (_, damage) in zip(files, looked, strict=True) if damage]

    def repair(self, files: Iterable[_ListedFile], report: MenderReport) -> set[str]:
        """Send again what the source has, after one more look; the names of the files that it has no more."""
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
        """How much was read, and what is wrong."""
        store = stored_files(self.replica)
        size = size_of(store, file.name)
        if size is None:
            return 0, Damage.MISSING
        if file.size not in {None, size}:
            return 0, Damage.OTHER_SIZE
        self.bandwidth.take(size)
        return size, None if checksum_of(store, file.name, size) == file.checksum else Damage.OTHER_BYTES

    def _repair(self, file: _ListedFile) -> bool:
        """Whether the source has the file as it was published."""
        try:
            content = stored_files(self.source).read(file.name)
        except FileNotFoundError:
            return False
        if hashlib.sha256(content).hexdigest() != file.checksum:
            return False
        stored_files(self.replica).put(file.name, content)
        return self._look(file)[1] is None

    def remove_extra_files(self, before: datetime, report: MenderReport) -> None:
        """Those that no version has, and that are not younger."""
        known = {name for lifetime in read_history(self.replica).lifetimes for name in lifetime.paths}
        store = stored_files(self.replica)
        extra = sorted(file.name for file in store.walk() if file.name not in known and file.changed < before)
        store.delete(extra)
        report.findings += [ReplicaFinding(self.name, name, Damage.EXTRA_FILE, "deleted") for name in extra]

    def foreign_changes(self, after: int, until: int) -> list[tuple[int, Files]]:
        """Versions behind `after` in which somebody else changed rows, with the files that came and went."""
        try:
            steps = list(enumerate(file_steps(self.replica, after, until), after + 1))
        except VersionGoneError:  # what its log has no more was looked at in an earlier pass, or never will be
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
    """Files whose checksum the log has; a vector's file may be that of several, and is looked at once."""
    seen = set[str]()
    for key, add in content.files.items():
        tags = add.get("tags") or {}
        checksums = (tags.get(CHECKSUM), tags.get(VECTOR_CHECKSUM))
        for (name, size), checksum in zip(file_names(add, where).items(), checksums, strict=False):
            if checksum is not None and name not in seen:
                seen.add(name)
                yield _ListedFile(key, name, size, checksum)
