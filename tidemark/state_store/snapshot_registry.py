"""Tags of snapshots: (entity, period, slice) -> version of a Delta table.

A projection: every tag is also in the Delta commit of its version, so the table can be rebuilt from the logs. That is
why writing a tag twice is allowed, and changing its version is an error. A tagged snapshot changes only by a
restatement: late changes of its slice are added to the version, as a new generation unless the tag was still waiting
for them. With blocking rules, versions and restatements are candidates first (`snapshot_candidates`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

from sqlalchemy import delete as sql_delete
from sqlalchemy import select

from tidemark.state_store.database import Database
from tidemark.state_store.schema import CANDIDATES, SNAPSHOTS
from tidemark.state_store.snapshot_candidates import CandidateVerdict, SnapshotCandidates
from tidemark.state_store.tagged_snapshot import (
    SnapshotKey,
    TaggedSnapshot,
    delete_row,
    find_row,
    next_restatements,
    snapshot_of,
    update_row,
    write_row,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from sqlalchemy import Connection, Table

__all__ = ["SnapshotKey", "SnapshotRegistry", "TaggedSnapshot"]
_BOTH = (CANDIDATES, SNAPSHOTS)
_PENDING = {"verdict": CandidateVerdict.PENDING.value, "why": ""}


class SnapshotRegistry:
    """Reads and writes tags in the state store; safe between threads and processes."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @classmethod
    def at(cls, database: Path) -> Self:
        """The registry in the SQLite file `database`, created if missing."""
        return cls(Database.at(database))

    @cached_property
    def candidates(self) -> SnapshotCandidates:
        """Versions to tag when their rules pass, in the same database."""
        return SnapshotCandidates(self.database)

    def tag(self, snapshots: Sequence[TaggedSnapshot]) -> None:
        """Write all `snapshots` in one transaction; existing tags with the same version do not change.

        Raises SnapshotTagTakenError if a tag has another version.
        """
        with self.database.writing() as connection:
            for snapshot in snapshots:
                write_row(connection, SNAPSHOTS, snapshot)

    def restate(
        self, keys: Iterable[SnapshotKey], late_batch: int, audited: Collection[str] = ()
    ) -> tuple[TaggedSnapshot, ...]:
        """Add late changes up to that commit to these snapshots, in one transaction.

        For `audited` entities, the tag stays and the restated snapshot is a candidate. Returns the restated snapshots:
        without snapshots that had the changes already, had no tag, or waited for them.
        """
        with self.database.writing() as connection:
            there = [held for key in keys if (held := _newest(connection, key)) is not None]
            behind = [(table, snapshot) for table, snapshot in there if snapshot.late_batch < late_batch]
            for table, snapshot in behind:
                if snapshot.waits_for_late:
                    update_row(connection, table, snapshot.key, {"late_batch": late_batch})
            complete = [(table, snapshot) for table, snapshot in behind if not snapshot.waits_for_late]
            if not complete:
                return ()
            numbers = next_restatements(connection, len(complete))
            restated = [
                replace(snapshot, generation=snapshot.generation + 1, late_batch=late_batch, restatement=number)
                for number, (_, snapshot) in zip(numbers, complete, strict=True)
            ]
            for (table, _), snapshot in zip(complete, restated, strict=True):
                _write_restated(connection, table, snapshot, is_audited=snapshot.entity in audited)
            return tuple(restated)

    def stop_waiting(self, keys: Iterable[SnapshotKey]) -> None:
        """End these snapshots' wait for late changes."""
        if not (keys := list(keys)):
            return
        with self.database.writing() as connection:
            for key in keys:
                for table in _BOTH:
                    update_row(connection, table, key, {"late_until": 0})

    def restatements_after(self, restatement: int) -> tuple[TaggedSnapshot, ...]:
        """Snapshots restated after the restatement with that number, in order."""
        with self.database.reading() as connection:
            rows = [
                row
                for table in _BOTH
                for row in connection.execute(select(table).where(table.c.restatement > restatement))
            ]
        return tuple(sorted(map(snapshot_of, rows), key=lambda snapshot: snapshot.restatement))

    def get(self, entity: str, period: str, slice_key: str) -> TaggedSnapshot | None:
        """The snapshot with that key, None if it is not tagged."""
        with self.database.reading() as connection:
            return find_row(connection, SNAPSHOTS, (entity, period, slice_key))

    def newest(self, entity: str, period: str, slice_key: str) -> TaggedSnapshot | None:
        """The slice's tag or candidate, whichever is newer; None if capture has not reached its end."""
        with self.database.reading() as connection:
            held = _newest(connection, (entity, period, slice_key))
        return held[1] if held else None

    def of(self, entity: str, period: str | None = None) -> tuple[TaggedSnapshot, ...]:
        """All tags of an entity, ordered by period and slice."""
        query = select(SNAPSHOTS).where(SNAPSHOTS.c.entity == entity)
        if period is not None:
            query = query.where(SNAPSHOTS.c.period == period)
        with self.database.reading() as connection:
            rows = connection.execute(query.order_by(SNAPSHOTS.c.period, SNAPSHOTS.c.slice))
            return tuple(map(snapshot_of, rows))

    def keep(self, entity: str, period: str, newest: int) -> None:
        """Drop all but the newest tags of the entity's slices, and candidates of the same age."""
        columns = SNAPSHOTS.c
        of_entity = (columns.entity == entity) & (columns.period == period)
        too_old = select(columns.slice).where(of_entity).order_by(columns.slice.desc()).offset(newest).limit(1)
        with self.database.reading() as connection:
            last = connection.execute(too_old).scalar()
        if last is not None:
            with self.database.writing() as connection:
                for table in _BOTH:
                    is_old = (table.c.entity == entity) & (table.c.period == period) & (table.c.slice <= last)
                    connection.execute(sql_delete(table).where(is_old))

    def drop(self, entity: str, period: str, slice_key: str) -> None:
        """Drop one tag, if it exists."""
        with self.database.writing() as connection:
            delete_row(connection, SNAPSHOTS, (entity, period, slice_key))

    def forget(self, entity: str) -> None:
        """Drop all tags and candidates of an entity, to rebuild them from its Delta log."""
        with self.database.writing() as connection:
            for table in _BOTH:
                connection.execute(sql_delete(table).where(table.c.entity == entity))


def _newest(connection: Connection, key: SnapshotKey) -> tuple[Table, TaggedSnapshot] | None:
    """The candidate of a slice, which is newer than its tag, or else its tag."""
    held = ((table, find_row(connection, table, key)) for table in _BOTH)
    return next(((table, snapshot) for table, snapshot in held if snapshot is not None), None)


def _write_restated(connection: Connection, table: Table, restated: TaggedSnapshot, *, is_audited: bool) -> None:
    if table is SNAPSHOTS and is_audited:
        write_row(connection, CANDIDATES, restated, **_PENDING)
        return
    changed = {
        "generation": restated.generation,
        "late_batch": restated.late_batch,
        "restatement": restated.restatement,
    }
    update_row(connection, table, restated.key, changed if table is SNAPSHOTS else {**changed, **_PENDING})
