"""One look at a table: the news in its log since the last seen commit, as changes of the catalog's notes.

Partitions of a captured table are not slices. They are noted under their values as text, only to be counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tidemark.catalog.notes import SchemaNote, TableNote, TableUpdate
from tidemark.catalog.partition_contents import PartitionContents, by_partition
from tidemark.delta.own_commit import is_own
from tidemark.delta.table_changes import LogPosition, changes_after, has_commits, has_log, position_at
from tidemark.dependency_model.slice import STATIC_KEY, Slice
from tidemark.dependency_model.time.partition_columns import partition_columns
from tidemark.strict_json import json_text
from tidemark.warehouse.dagster_partition_keys import slice_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.catalog.notes import CatalogNotes
    from tidemark.delta.table_changes import CommitChanges, TableFile
    from tidemark.dependency_model.entity import Entity
    from tidemark.system.table_location import TableLocation

_VACUUMED: Final = "VACUUM END"
NO_LOG: Final = LogPosition(-1, "no log")
"""The position of a table that does not exist."""
_NOWHERE: Final = "0"
"""The key for files whose partition is not known."""
_DELETED: Final = "the table's deletion"


@dataclass(frozen=True)
class LookedTable:
    """The table of an entity. `is_computed`: its partitions are slices."""

    entity: Entity
    path: TableLocation
    is_computed: bool


def look_at(table: LookedTable, note: TableNote | None, notes: CatalogNotes) -> TableUpdate | None:
    """The news of a table; None without news. Raises UnreadableLogError and TableFeatureError."""
    if not has_log(table.path):
        return None if note is None or note.position == NO_LOG else _deleted(table, note, notes)
    if note is None and not has_commits(table.path):
        return None  # its first writer is at work
    seen = note.position if note is not None and note.position != NO_LOG else None
    changes = changes_after(table.path, seen)
    look = _Look(table, notes, note or TableNote(LogPosition(-1, "")), is_anew=changes.is_anew)
    for commit in changes.commits:
        look.take(commit)
    return look.update() if look.version is not None else None


def _deleted(table: LookedTable, note: TableNote, notes: CatalogNotes) -> TableUpdate:
    """The update for a deleted table: all of its data is gone."""
    partitions = notes.partitions(table.entity.name)
    for contents in partitions.values():
        contents.lose_all(_DELETED)
    return TableUpdate(table.entity.name, replace(note, position=NO_LOG), partitions=partitions)


class _Look:
    """`version` is the last that was read, None before any."""

    def __init__(self, table: LookedTable, notes: CatalogNotes, note: TableNote, *, is_anew: bool) -> None:
        self.version: int | None = None
        self._table, self._notes, self._note, self._is_anew = table, notes, note, is_anew
        self._vacuumed = -1 if is_anew else note.vacuumed
        self._at, self._table_id = 0 if is_anew else note.committed_at, note.table_id
        self._partitions: dict[Slice, PartitionContents] = {}
        self._before: dict[Slice, PartitionContents] = notes.partitions(table.entity.name) if is_anew else {}
        self._schemas: list[SchemaNote] = []
        self._commits, self._emptied = 0, set[int]()

    def take(self, commit: CommitChanges) -> None:
        """Applies one commit, in order."""
        self.version = commit.version
        self._commits += 1
        if commit.is_empty:
            self._emptied.add(commit.version)
        self._at = commit.at or self._at
        if str(commit.info.get("operation", "")) == _VACUUMED:
            self._vacuumed = commit.version
        self._table_id = commit.table_id or self._table_id
        if commit.columns is not None:
            self._take_columns(SchemaNote(commit.version, commit.at, commit.columns))
        added, removed = self._by_slice(commit.added), self._by_slice(commit.removed)
        for file in (file for file in commit.removed if file.partition is None):
            removed.setdefault(self._holder_of(file.identity), []).append(file)
        slices = dict.fromkeys((*added, *removed))
        held = self._contents(slices)
        for slice_ in slices:
            if commit.is_checkpoint:
                held[slice_].begin(commit.version, added.get(slice_, ()))
                continue
            held[slice_].take(
                commit.version,
                added.get(slice_, ()),
                removed.get(slice_, ()),
                changes_rows=commit.changes_rows,
                is_own=not self._table.is_computed or is_own(commit.info),
                operation=str(commit.info.get("operation", "a write")),
            )

    def update(self) -> TableUpdate:
        """The update after all commits."""
        position = position_at(self._table.path, self.version or 0)
        note = replace(self._note, position=position, committed_at=self._at, vacuumed=self._vacuumed)
        if self._is_anew:
            self._compare_with_before(is_other_table=self._table_id != self._note.table_id)
            note = replace(note, verified_at=0, table_id=self._table_id)
        name = self._table.entity.name
        update = TableUpdate(name, note, self._is_anew, self._partitions, self._schemas, self._commits)
        update.emptied = self._emptied
        return update

    def _compare_with_before(self, *, is_other_table: bool) -> None:
        """Carries over which earlier content was sound, after the table was read again from the start."""
        for slice_, before in self._before.items():
            now = self._partitions.setdefault(slice_, PartitionContents.empty())
            now.succeed(before, is_other_table=is_other_table)

    def _take_columns(self, schema: SchemaNote) -> None:
        """Adds a schema if it changed. A commit may repeat the columns, as RESTORE does."""
        known = self._schemas if self._is_anew or self._schemas else self._notes.schemas(self._table.entity.name)
        if not known or dict(known[-1].columns) != dict(schema.columns):
            self._schemas.append(schema)

    def _contents(self, slices: Iterable[Slice]) -> dict[Slice, PartitionContents]:
        missing = [slice_ for slice_ in slices if slice_ not in self._partitions]
        if not self._is_anew and missing:
            self._partitions.update(self._notes.partitions(self._table.entity.name, missing))
        for slice_ in missing:
            self._partitions.setdefault(slice_, PartitionContents.empty())
        return self._partitions

    def _holder_of(self, identity: str) -> Slice:
        """The slice of a removed file whose partition is not in the log."""
        if not self._is_anew:
            self._partitions = {**self._notes.partitions(self._table.entity.name), **self._partitions}
        holders = (slice_ for slice_, contents in self._partitions.items() if identity in contents.files)
        return next(holders, Slice(self._table.entity.name, _NOWHERE))

    def _by_slice(self, files: Iterable[TableFile]) -> dict[Slice, list[TableFile]]:
        grouped: dict[Slice, list[TableFile]] = {}
        known = (file for file in files if file.partition is not None)
        for values, some in by_partition(known).items():
            slice_ = self._slice(dict(values))
            if slice_ is not None:
                grouped.setdefault(slice_, []).extend(some)
        return grouped

    def _slice(self, values: dict[str, str | None]) -> Slice | None:
        if self._table.is_computed:
            return slice_of_partition(self._table.entity, values)
        return Slice(self._table.entity.name, json_text(values, sort_keys=True))


def slice_of_partition(entity: Entity, values: Mapping[str, str | None]) -> Slice | None:
    """The slice of a partition's values in the log; None if they do not belong to the entity."""
    times = partition_columns(entity.period)
    names = (*times, *sorted(entity.sub_partitions))
    texts = {name: text for name, text in values.items() if text}
    if set(texts) != set(names) or len(values) != len(names):
        return None
    sub = tuple((name, texts[name]) for name in sorted(entity.sub_partitions))
    if entity.period is None:
        return Slice(entity.name, STATIC_KEY, sub)
    key = _key(str(entity.period), [texts[name] for name in times])
    return Slice(entity.name, key, sub)


def _key(period: str, times: list[str]) -> str:
    """`2026-03-29`, `02+01:00`, `30` -> `2026-03-29T02:30+01:00`."""
    match times:
        case [day, hour, minute]:
            return f"{day}T{hour[:2]}:{minute}{hour[2:]}"
        case [day, hour]:
            return f"{day}T{hour}"
        case [day]:
            return slice_key(period, day)
    raise ValueError(f"no partition columns: {times}")
