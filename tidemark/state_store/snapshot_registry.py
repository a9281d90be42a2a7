"""Tags of snapshots: (entity, period, slice) -> version of a Delta table.

A projection: every tag is also in the Delta commit that made the version, so the table can be thrown away and built
again from the logs. That is why writing a tag twice is no error, and giving it another version is one.
A tagged snapshot changes in one way only: it is restated. Late changes that belong to its slice are put on top of the
version, as a new generation unless the tag was still waiting for them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from sqlalchemy import ColumnElement, Connection, Row, Table, and_, select, update
from sqlalchemy import delete as sql_delete
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from tidemark.state_store.database import Database
from tidemark.state_store.errors import SnapshotTagTakenError
from tidemark.state_store.schema import CURSORS, RESTATEMENTS, SNAPSHOTS

SnapshotKey = tuple[str, str, str]
"""Entity, period, slice."""


@dataclass(frozen=True)
class TaggedSnapshot:
    """A slice (its key: `2026-03-23`, `2026-03-30T07`) of an entity stands for `version` of its table.

    `rows` are those of the whole table at that version; `tagged_at` is the record time, with zone. To a restated
    snapshot belong also the late changes of the table's commits up to number `late_batch`; `restatement` numbers the
    restatements of all tags in their order. Until the event time `late_until` (epoch ms) was passed late changes come
    into it without making a new generation, and nobody reads it; 0 when that is over.
    """

    entity: str
    period: str
    slice: str
    version: int
    rows: int
    tagged_at: datetime
    generation: int = 1
    late_batch: int = 0
    restatement: int = 0
    late_until: int = 0

    @property
    def key(self) -> SnapshotKey:
        """What the tag is found by."""
        return self.entity, self.period, self.slice

    @property
    def waits_for_late(self) -> bool:
        """Whether late changes are waited for: the tag keeps its version, and is not to be read yet."""
        return self.late_until > 0

    @property
    def is_restated(self) -> bool:
        """Whether the version alone is not the snapshot any more."""
        return self.late_batch > 0


class SnapshotRegistry:
    """Reads and writes the tags, in the database of the state store; safe between threads and between processes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def at(cls, database: Path) -> Self:
        """The registry in the SQLite file `database`, created when missing."""
        return cls(Database.at(database))

    def tag(self, snapshots: Sequence[TaggedSnapshot]) -> None:
        """Write all of `snapshots` in one transaction; what is there already with the same version stays as it is.

        Raises SnapshotTagTakenError when a tag stands for another version.
        """
        with self._database.writing() as connection:
            for snapshot in snapshots:
                _write(connection, snapshot)

    def restate(self, keys: Iterable[SnapshotKey], late_batch: int) -> tuple[TaggedSnapshot, ...]:
        """Let the late changes up to that commit belong to these snapshots, in one transaction.

        Returns those that were restated: not what holds them already, nor what has no tag, nor what waited for them.
        """
        with self._database.writing() as connection:
            tagged = [snapshot for key in keys if (snapshot := _find(connection, *key)) is not None]
            behind = [snapshot for snapshot in tagged if snapshot.late_batch < late_batch]
            for snapshot in behind:
                if snapshot.waits_for_late:
                    _update(connection, snapshot.key, {"late_batch": late_batch})
            complete = [snapshot for snapshot in behind if not snapshot.waits_for_late]
            return tuple(_restate(connection, complete, late_batch)) if complete else ()

    def stop_waiting(self, keys: Iterable[SnapshotKey]) -> None:
        """End the waiting of these snapshots for late changes; nothing where they do not wait."""
        if not (keys := list(keys)):
            return
        with self._database.writing() as connection:
            for key in keys:
                _update(connection, key, {"late_until": 0})

    def restatements_after(self, restatement: int) -> tuple[TaggedSnapshot, ...]:
        """What was restated after the restatement of that number, in the order of their last ones."""
        query = select(SNAPSHOTS).where(SNAPSHOTS.c.restatement > restatement).order_by(SNAPSHOTS.c.restatement)
        with self._database.reading() as connection:
            return tuple(_snapshot(row) for row in connection.execute(query))

    def get(self, entity: str, period: str, slice_key: str) -> TaggedSnapshot | None:
        """The snapshot with that key, None while it is not tagged."""
        with self._database.reading() as connection:
            return _find(connection, entity, period, slice_key)

    def of(self, entity: str, period: str | None = None) -> tuple[TaggedSnapshot, ...]:
        """All tags of an entity, ordered by period and slice."""
        query = select(SNAPSHOTS).where(SNAPSHOTS.c.entity == entity)
        if period is not None:
            query = query.where(SNAPSHOTS.c.period == period)
        with self._database.reading() as connection:
            rows = connection.execute(query.order_by(SNAPSHOTS.c.period, SNAPSHOTS.c.slice))
            return tuple(_snapshot(row) for row in rows)

    def keep(self, entity: str, period: str, newest: int) -> None:
        """Drop all tags of the entity's slices but the newest."""
        columns = SNAPSHOTS.c
        of_entity = (columns.entity == entity) & (columns.period == period)
        too_old = select(columns.slice).where(of_entity).order_by(columns.slice.desc()).offset(newest).limit(1)
        with self._database.reading() as connection:
            last = connection.execute(too_old).scalar()
        if last is not None:
            with self._database.writing() as connection:
                connection.execute(sql_delete(SNAPSHOTS).where(of_entity & (columns.slice <= last)))

    def drop(self, entity: str, period: str, slice_key: str) -> None:
        """Drop one tag; nothing where it is not there."""
        with self._database.writing() as connection:
            connection.execute(sql_delete(SNAPSHOTS).where(_is_at((entity, period, slice_key))))

    def forget(self, entity: str) -> None:
        """Drop all tags of an entity, to build them again from its Delta log."""
        with self._database.writing() as connection:
            connection.execute(sql_delete(SNAPSHOTS).where(SNAPSHOTS.c.entity == entity))


def _restate(connection: Connection, snapshots: Sequence[TaggedSnapshot], late_batch: int) -> Iterator[TaggedSnapshot]:
    number = int(connection.execute(select(CURSORS.c.position).where(CURSORS.c.name == RESTATEMENTS)).scalar() or 0)
    for at, snapshot in enumerate(snapshots, start=number + 1):
        restated = replace(snapshot, generation=snapshot.generation + 1, late_batch=late_batch, restatement=at)
        changed = {"generation": restated.generation, "late_batch": late_batch, "restatement": at}
        _update(connection, snapshot.key, changed)
        yield restated
    position = {"name": RESTATEMENTS, "position": str(number + len(snapshots))}
    insert = _insert_into(connection, CURSORS).values(position)
    connection.execute(insert.on_conflict_do_update(index_elements=["name"], set_=position))


def _update(connection: Connection, key: SnapshotKey, values: Mapping[str, int]) -> None:
    connection.execute(update(SNAPSHOTS).where(_is_at(key)).values(values))


def _is_at(key: SnapshotKey) -> ColumnElement[bool]:
    return and_(*(column == value for column, value in zip(SNAPSHOTS.primary_key, key, strict=True)))


def _insert_into(connection: Connection, table: Table) -> Any:
    return (sqlite_insert if connection.dialect.name == "sqlite" else postgresql_insert)(table)


def _write(connection: Connection, snapshot: TaggedSnapshot) -> None:
    values = {**asdict(snapshot), "tagged_at": snapshot.tagged_at.isoformat()}
    connection.execute(_insert_into(connection, SNAPSHOTS).values(values).on_conflict_do_nothing())
    stored = _find(connection, *snapshot.key)
    if stored is None or stored.version != snapshot.version:
        where = f"snapshot {' '.join(snapshot.key)}"
        is_now = "nothing" if stored is None else f"version {stored.version}, tagged at {stored.tagged_at.isoformat()}"
        raise SnapshotTagTakenError.of(where, snapshot.version, is_now)


def _find(connection: Connection, entity: str, period: str, slice_key: str) -> TaggedSnapshot | None:
    row = connection.execute(select(SNAPSHOTS).where(_is_at((entity, period, slice_key)))).one_or_none()
    return None if row is None else _snapshot(row)


def _snapshot(row: Row[Any]) -> TaggedSnapshot:
    values = dict(row._mapping)  # noqa: SLF001 - public in SQLAlchemy, the underscore keeps off column names
    return TaggedSnapshot(**{**values, "tagged_at": datetime.fromisoformat(values["tagged_at"])})
