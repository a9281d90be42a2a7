"""Names of snapshots: (entity, period, slice) -> version of a Delta table.

A projection: every name also travels in the Delta commit that made the version, so the table can be thrown away and
built again from the logs. That is why writing a name twice is no error, and giving it another version is one.
A name moves on in one way only: late changes that belong to its slice are put on top of the version, a new generation
unless it was still waiting for them.
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
from tidemark.state_store.errors import SnapshotNameTakenError
from tidemark.state_store.schema import CURSORS, MOVED, SNAPSHOTS

Place = tuple[str, str, str]
"""Entity, period, slice: where a name is."""


@dataclass(frozen=True)
class NamedSnapshot:
    """A slice (its key: `2026-03-23`, `2026-03-30T07`) of an entity stands for `version` of its table.

    `rows` are those of the whole table at that version; `named_at` is the record time, with zone. To a reopened
    snapshot belong also the late changes of the table's commits up to number `late_batch` (late.snapshot); `moved`
    numbers reopenings of whatever name in their order. Until the event time `open_until` (epoch ms) was passed late
    changes come into it without making a new generation, and nobody reads it; 0 when that is over.
    """

    entity: str
    period: str
    slice: str
    version: int
    rows: int
    named_at: datetime
    generation: int = 1
    late_batch: int = 0
    moved: int = 0
    open_until: int = 0

    @property
    def is_open(self) -> bool:
        """Whether late changes are waited for: the name keeps its version, and is not to be read yet."""
        return self.open_until > 0

    @property
    def is_reopened(self) -> bool:
        """Whether the version alone is not the snapshot any more."""
        return self.late_batch > 0


class SnapshotRegistry:
    """Reads and writes the names, in the database of the state store; safe between threads and between processes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def at(cls, database: Path) -> Self:
        """The registry in the SQLite file `database`, created when missing."""
        return cls(Database.at(database))

    def name(self, snapshots: Sequence[NamedSnapshot]) -> None:
        """Write all of `snapshots` in one transaction; what is there already with the same version stays as it is.

        Raises SnapshotNameTakenError when a name stands for another version.
        """
        with self._database.writing() as connection:
            for snapshot in snapshots:
                _write(connection, snapshot)

    def reopen(self, slices: Iterable[Place], late_batch: int) -> tuple[NamedSnapshot, ...]:
        """Let the late changes up to that commit belong to these (entity, period, slice), in one transaction.

        Returns those that moved: not what holds them already, nor what has no name, nor what waited for them.
        """
        with self._database.writing() as connection:
            found = [_find(connection, *one) for one in slices]
            behind = [one for one in found if one is not None and one.late_batch < late_batch]
            for one in behind:
                if one.is_open:
                    _tell(connection, _place(one), {"late_batch": late_batch})
            settled = [one for one in behind if not one.is_open]
            return tuple(_moved(connection, settled, late_batch)) if settled else ()

    def settle(self, slices: Iterable[Place]) -> None:
        """End the waiting of these names for late changes; nothing where they do not wait."""
        if not (slices := list(slices)):
            return
        with self._database.writing() as connection:
            for one in slices:
                _tell(connection, one, {"open_until": 0})

    def reopened(self, after: int) -> tuple[NamedSnapshot, ...]:
        """What was reopened after the reopening of that number, in the order of their last ones."""
        query = select(SNAPSHOTS).where(SNAPSHOTS.c.moved > after).order_by(SNAPSHOTS.c.moved)
        with self._database.reading() as connection:
            return tuple(_snapshot(row) for row in connection.execute(query))

    def get(self, entity: str, period: str, slice_key: str) -> NamedSnapshot | None:
        """The snapshot of that name, None while it is not named."""
        with self._database.reading() as connection:
            return _find(connection, entity, period, slice_key)

    def of(self, entity: str, period: str | None = None) -> tuple[NamedSnapshot, ...]:
        """All names of an entity, ordered by period and slice."""
        query = select(SNAPSHOTS).where(SNAPSHOTS.c.entity == entity)
        if period is not None:
            query = query.where(SNAPSHOTS.c.period == period)
        with self._database.reading() as connection:
            rows = connection.execute(query.order_by(SNAPSHOTS.c.period, SNAPSHOTS.c.slice))
            return tuple(_snapshot(row) for row in rows)

    def keep(self, entity: str, period: str, newest: int) -> None:
        """Drop all names of the entity's slices but the newest."""
        columns = SNAPSHOTS.c
        of_entity = (columns.entity == entity) & (columns.period == period)
        too_old = select(columns.slice).where(of_entity).order_by(columns.slice.desc()).offset(newest).limit(1)
        with self._database.reading() as connection:
            last = connection.execute(too_old).scalar()
        if last is not None:
            with self._database.writing() as connection:
                connection.execute(sql_delete(SNAPSHOTS).where(of_entity & (columns.slice <= last)))

    def drop(self, entity: str, period: str, slice_key: str) -> None:
        """Drop one name; nothing where it is not there."""
        with self._database.writing() as connection:
            connection.execute(sql_delete(SNAPSHOTS).where(_is_at((entity, period, slice_key))))

    def forget(self, entity: str) -> None:
        """Drop all names of an entity, to build them again from its Delta log."""
        with self._database.writing() as connection:
            connection.execute(sql_delete(SNAPSHOTS).where(SNAPSHOTS.c.entity == entity))


def _moved(connection: Connection, snapshots: Sequence[NamedSnapshot], late_batch: int) -> Iterator[NamedSnapshot]:
    number = int(connection.execute(select(CURSORS.c.position).where(CURSORS.c.name == MOVED)).scalar() or 0)
    for at, one in enumerate(snapshots, start=number + 1):
        moved = replace(one, generation=one.generation + 1, late_batch=late_batch, moved=at)
        _tell(connection, _place(one), {"generation": moved.generation, "late_batch": late_batch, "moved": at})
        yield moved
    position = {"name": MOVED, "position": str(number + len(snapshots))}
    insert = _insert_into(connection, CURSORS).values(position)
    connection.execute(insert.on_conflict_do_update(index_elements=["name"], set_=position))


def _place(one: NamedSnapshot) -> Place:
    return one.entity, one.period, one.slice


def _tell(connection: Connection, place: Place, values: Mapping[str, int]) -> None:
    connection.execute(update(SNAPSHOTS).where(_is_at(place)).values(values))


def _is_at(place: Place) -> ColumnElement[bool]:
    return and_(*(column == value for column, value in zip(SNAPSHOTS.primary_key, place, strict=True)))


def _insert_into(connection: Connection, table: Table) -> Any:
    return (sqlite_insert if connection.dialect.name == "sqlite" else postgresql_insert)(table)


def _write(connection: Connection, snapshot: NamedSnapshot) -> None:
    values = {**asdict(snapshot), "named_at": snapshot.named_at.isoformat()}
    connection.execute(_insert_into(connection, SNAPSHOTS).values(values).on_conflict_do_nothing())
    found = _find(connection, snapshot.entity, snapshot.period, snapshot.slice)
    if found is None or found.version != snapshot.version:
        where = f"snapshot {snapshot.entity} {snapshot.period} {snapshot.slice}"
        is_now = "nothing" if found is None else f"version {found.version}, named at {found.named_at.isoformat()}"
        raise SnapshotNameTakenError.of(where, snapshot.version, is_now)


def _find(connection: Connection, entity: str, period: str, slice_key: str) -> NamedSnapshot | None:
    row = connection.execute(select(SNAPSHOTS).where(_is_at((entity, period, slice_key)))).one_or_none()
    return None if row is None else _snapshot(row)


def _snapshot(row: Row[Any]) -> NamedSnapshot:
    values = dict(row._mapping)  # noqa: SLF001 - public in SQLAlchemy, the underscore keeps off column names
    return NamedSnapshot(**{**values, "named_at": datetime.fromisoformat(values["named_at"])})
