"""Compares each table with its slices in the state store (D8) and finds changed or missing data.

The slices of a captured table are tagged versions. They are absent once their version cannot be read. Writes by other
programs stop the capture (`capture/commits/foreign_writes.py`); versions that are tagged already do not change.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from tidemark.catalog.notes import CatalogNotes, TableNote, TableUpdate
from tidemark.catalog.partition_contents import DataCondition, DataVerdict, PartitionContents
from tidemark.catalog.table_look import NO_LOG, LookedTable, look_at
from tidemark.catalog.told_data import NOTHING, told_data, versions_told_since
from tidemark.delta.missing_files import paths_on_disk, readable_versions, whole_paths
from tidemark.delta.table_changes import changes_after, has_log
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.warehouse.dagster_partition_keys import period_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.state_store.store import StateStore
    from tidemark.state_store.transition import Current
    from tidemark.warehouse.warehouse import Warehouse

_VERIFIED_SECONDS: Final = 3_600
_TRIES: Final = 3
_IS_JUDGED: Final = frozenset({RunState.COMPLETED, RunState.ABSENT})


@dataclass
class Reconciled:
    """`update`, if any, is to be noted after the `verdicts` are reported.

    `looked` is the number of examined partitions.
    """

    update: TableUpdate | None
    verdicts: list[tuple[Current, DataVerdict]] = field(default_factory=list)
    looked: int = 0


class Reconciliation:
    """Reads the tables of a warehouse. It writes only notes, in `note`."""

    def __init__(self, warehouse: Warehouse, store: StateStore) -> None:
        self._warehouse, self._store = warehouse, store
        self.notes, self._registry = CatalogNotes(store.database), SnapshotRegistry(store.database)
        self._on_disk: dict[str, frozenset[str]] = {}
        self._vacuumed: set[str] = set()
        self._told_to, self._told = 0, defaultdict[str, dict[Slice, int]](dict)
        self.tables = [
            LookedTable(entity, warehouse.table_path(name), is_computed=entity.source is None)
            for name, entity in warehouse.entities.items()
            if entity.source or name in warehouse.queries or name in warehouse.functions
        ]

    def reconcile(
        self, table: LookedTable, note: TableNote | None, suspects: Iterable[Slice], now: int, *, verify: bool = False
    ) -> Reconciled | None:
        """Compares one table. None if its writers commit faster than it can be read. `now` is in epoch seconds.

        Files are looked for on disk hourly, with `verify`, and after a VACUUM (a VACUUM of Spark is noticed at the same
        process's next look). Raises UnreadableLogError and TableFeatureError.
        """
        for _ in range(_TRIES):
            update = look_at(table, note, self.notes) or self._without_log(table, note)
            update = self._verified(table, note, update, now, verify=verify)
            reconciled = self._judged(table, update, {*suspects, *self._beyond(table.entity.name, update, note)})
            if not _has_moved(table, note, update):
                return reconciled
        return None

    def note(self, update: TableUpdate) -> None:
        """Writes the result of a look, after its verdicts were reported."""
        self.notes.write(update)
        self._vacuumed.discard(update.entity)

    def _beyond(self, entity: str, update: TableUpdate | None, note: TableNote | None) -> Iterable[Slice]:
        """Slices whose run reported a version that the log does not have, or whose commit is empty.

        The log may be an older copy, or have lost the contents of the file.
        """
        self._told_to, told = versions_told_since(self._store.database, self._told_to)
        for slice_, version in told.items():
            self._told[slice_.entity][slice_] = version
        seen = update.note if update is not None else note
        newest = -1 if seen is None else seen.position.version
        emptied = update.emptied if update is not None else ()
        suspects = {slice_: version for slice_, version in self._told[entity].items() if version > newest}
        lost = [slice_ for slice_, version in self._told[entity].items() if version in emptied]
        self._told[entity] = suspects
        return [*suspects, *lost]

    def _without_log(self, table: LookedTable, note: TableNote | None) -> TableUpdate | None:
        """The first update for a table that never existed."""
        is_new = note is None and not has_log(table.path)
        return TableUpdate(table.entity.name, TableNote(NO_LOG), is_anew=True) if is_new else None

    def _verified(
        self, table: LookedTable, note: TableNote | None, update: TableUpdate | None, now: int, *, verify: bool
    ) -> TableUpdate | None:
        newest = update.note if update else note
        if newest is None or newest.position == NO_LOG:
            return update
        is_vacuumed = newest.vacuumed != (note.vacuumed if note else -1) or self._lost_files(table)
        if not (verify or is_vacuumed or now - newest.verified_at >= _VERIFIED_SECONDS):
            return update
        update = update or TableUpdate(table.entity.name, newest)
        update.note, update.is_verified = replace(newest, verified_at=now), True
        if table.is_computed:
            self._count_missing(table, update)
        return update

    def _lost_files(self, table: LookedTable) -> bool:
        """Whether files of a captured table are gone since the last look: the log does not show Spark's VACUUM.

        Files of a computed slice are live, so no VACUUM deletes them.
        """
        if table.is_computed:
            return False
        before, now = self._on_disk.get(table.entity.name, frozenset()), paths_on_disk(table.path)
        self._on_disk[table.entity.name] = now
        if not before <= now:
            self._vacuumed.add(table.entity.name)
        return table.entity.name in self._vacuumed

    def _count_missing(self, table: LookedTable, update: TableUpdate) -> None:
        """Counts the missing files of each partition. Partitions whose count changed are judged."""
        on_disk = whole_paths(table.path)
        known = {} if update.is_anew else self.notes.partitions(table.entity.name)
        for slice_, contents in {**known, **update.partitions}.items():
            missing = sum(not on_disk.issuperset(file.paths) for file in contents.files.values())
            if missing != contents.missing:
                contents.missing = missing
                update.partitions[slice_] = contents

    def _judged(self, table: LookedTable, update: TableUpdate | None, suspects: Iterable[Slice]) -> Reconciled:
        if not table.is_computed:
            return Reconciled(update, self._snapshots(table) if update is not None and update.is_verified else [])
        is_new = update is not None
        update = self._with_suspects(table, update, suspects)
        if update is None:
            return Reconciled(None)
        currents = self._currents(table.entity.name, update)
        told = told_data(self._store.database, currents)
        verdicts = []
        for slice_, current in currents.items():
            contents = update.partitions.get(slice_)
            data = told.get(slice_, NOTHING)
            if contents is None and not data.rows:
                continue
            contents = update.partitions.setdefault(slice_, PartitionContents.empty())
            if data.version is not None and data.version in update.emptied:
                contents.lose_commit(data.version)
            verdict = contents.judge(data, update.note.position.version)
            if verdict.condition is DataCondition.SOUND and data.version is not None:
                is_new |= contents.is_suspect
                contents.vouch()
            verdicts.append((current, verdict))
        return Reconciled(update if is_new else None, verdicts, len(update.partitions))

    def _with_suspects(
        self, table: LookedTable, update: TableUpdate | None, suspects: Iterable[Slice]
    ) -> TableUpdate | None:
        """Slices that were not sound are judged each time: their run may have ended and reported its version."""
        if update is not None and update.is_anew:
            return update
        held = self.notes.partitions(table.entity.name, suspects)
        held.update((slice_, PartitionContents.empty()) for slice_ in suspects if slice_ not in held)
        if update is None:
            note = self.notes.tables().get(table.entity.name) if held else None
            return TableUpdate(table.entity.name, note, partitions=held) if note else None
        update.partitions = {**held, **update.partitions}
        return update

    def _currents(self, entity: str, update: TableUpdate) -> Mapping[Slice, Current]:
        """The slices to judge: all completed ones if the table was read from the start, or is gone."""
        read = self._store.read
        currents = read.currents(update.partitions)
        if update.is_anew or update.note.position == NO_LOG:
            currents = [*currents, *read.completed_slices(entity)]
        return {current.slice: current for current in currents if current.status.run_state in _IS_JUDGED}

    def _snapshots(self, table: LookedTable) -> list[tuple[Current, DataVerdict]]:
        """Whether the version of each tag of a captured table can be read."""
        readable = readable_versions(table.path)
        names = [name for name, other in self._warehouse.entities.items() if other.snapshot_of == table.entity.name]
        tags = {
            Slice(name, tag.slice): tag.version
            for name in (table.entity.name, *names)
            for tag in self._registry.of(name, period_of(self._warehouse.graph, name))
        }
        currents = self._store.read.currents(tags)
        reasons = {current.slice: readable.why_not(tags[current.slice]) for current in currents}
        return [
            (current, DataVerdict(DataCondition.ABSENT if why else DataCondition.SOUND, tags[current.slice], why))
            for current in currents
            if (why := reasons[current.slice]) is not None and current.status.run_state in _IS_JUDGED
        ]


def _has_moved(table: LookedTable, note: TableNote | None, update: TableUpdate | None) -> bool:
    """Whether another commit followed after the log was read: the store's state may be of that commit."""
    newest = update.note if update else note
    if newest is None or newest.position == NO_LOG:
        return has_log(table.path)
    if not has_log(table.path):
        return True
    changes = changes_after(table.path, newest.position)
    return changes.is_anew or next(changes.commits, None) is not None
