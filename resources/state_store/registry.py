"""Names of snapshots: (entity, period, slice) -> version of a Delta table.

A projection: every name also travels in the Delta commit that made the version, so the table can be thrown away and
built again from the logs. That is why writing a name twice is no error, and giving it another version is one.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from sqlalchemy import Connection, Row, select
from sqlalchemy import delete as sql_delete
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from resources.errors import SnapshotNameTakenError
from resources.state_store.database import Database
from resources.state_store.schema import SNAPSHOTS


@dataclass(frozen=True)
class NamedSnapshot:
    """A slice (its key: `2026-03-23`, `2026-03-30T07`) of an entity stands for `version` of its table.

    `rows` are those of the whole table at that version; `named_at` is the record time, with zone.
    """

    entity: str
    period: str
    slice: str
    version: int
    rows: int
    named_at: datetime


class SnapshotRegistry:
    """Reads and writes the names; safe between threads and between processes."""

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

    def drop(self, entity: str, period: str, slice_key: str) -> None:
        """Drop one name; nothing where it is not there."""
        columns = SNAPSHOTS.c
        named = (columns.entity == entity) & (columns.period == period) & (columns.slice == slice_key)
        with self._database.writing() as connection:
            connection.execute(sql_delete(SNAPSHOTS).where(named))

    def forget(self, entity: str) -> None:
        """Drop all names of an entity, to build them again from its Delta log."""
        with self._database.writing() as connection:
            connection.execute(sql_delete(SNAPSHOTS).where(SNAPSHOTS.c.entity == entity))


def _write(connection: Connection, snapshot: NamedSnapshot) -> None:
    values = {**asdict(snapshot), "named_at": snapshot.named_at.isoformat()}
    insert = sqlite_insert if connection.dialect.name == "sqlite" else postgresql_insert
    connection.execute(insert(SNAPSHOTS).values(values).on_conflict_do_nothing())
    found = _find(connection, snapshot.entity, snapshot.period, snapshot.slice)
    if found is None or found.version != snapshot.version:
        raise SnapshotNameTakenError.of(snapshot, found)


def _find(connection: Connection, entity: str, period: str, slice_key: str) -> NamedSnapshot | None:
    columns = SNAPSHOTS.c
    query = select(SNAPSHOTS).where(columns.entity == entity, columns.period == period, columns.slice == slice_key)
    row = connection.execute(query).one_or_none()
    return None if row is None else _snapshot(row)


def _snapshot(row: Row[Any]) -> NamedSnapshot:
    values = dict(row._mapping)  # noqa: SLF001 - public in SQLAlchemy, the underscore keeps off column names
    return NamedSnapshot(**{**values, "named_at": datetime.fromisoformat(values["named_at"])})
