"""A tagged snapshot and its row, the same in the tables of tags and of candidates."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import ColumnElement, Connection, Row, Table, and_, select, update
from sqlalchemy import delete as sql_delete
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from tidemark.state_store.errors import SnapshotTagTakenError
from tidemark.state_store.schema import CURSORS, RESTATEMENTS

if TYPE_CHECKING:
    from collections.abc import Mapping

SnapshotKey = tuple[str, str, str]
"""Entity, period, slice."""


@dataclass(frozen=True)
class TaggedSnapshot:
    """The slice of an entity (key: `2026-03-23`, `2026-03-30T07`) is `version` of its table.

    `rows` counts the whole table at that version; `tagged_at` is the record time, with zone. A restated snapshot also
    contains the late changes of the table's commits up to number `late_batch`; `restatement` numbers restatements of
    all tags. Until the event time `late_until` (epoch ms), late changes are added without a new generation, and the
    snapshot is not read; 0 means that this is over.
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
        """The key of the tag."""
        return self.entity, self.period, self.slice

    @property
    def waits_for_late(self) -> bool:
        """Whether it waits for late changes: the tag keeps its version but must not be read yet."""
        return self.late_until > 0

    @property
    def is_restated(self) -> bool:
        """Whether the snapshot is more than its version."""
        return self.late_batch > 0


_FIELDS: Final = tuple(field.name for field in fields(TaggedSnapshot))


def find_row(connection: Connection, table: Table, key: SnapshotKey) -> TaggedSnapshot | None:
    """The row of a key; None if there is none."""
    row = connection.execute(select(table).where(is_at(table, key))).one_or_none()
    return None if row is None else snapshot_of(row)


def snapshot_of(row: Row[Any]) -> TaggedSnapshot:
    """A snapshot from a row; columns without a field are left out."""
    values = row._mapping  # noqa: SLF001 - public in SQLAlchemy, the underscore keeps off column names
    own = {name: values[name] for name in _FIELDS}
    return TaggedSnapshot(**{**own, "tagged_at": datetime.fromisoformat(own["tagged_at"])})


def values_of(snapshot: TaggedSnapshot) -> dict[str, Any]:
    """The columns of a row."""
    return {**asdict(snapshot), "tagged_at": snapshot.tagged_at.isoformat()}


def write_row(connection: Connection, table: Table, snapshot: TaggedSnapshot, **more: str) -> None:
    """Add a row; an existing row with the same version does not change. Raises SnapshotTagTakenError."""
    values = {**values_of(snapshot), **more}
    connection.execute(insert_into(connection, table).values(values).on_conflict_do_nothing())
    stored = find_row(connection, table, snapshot.key)
    if stored is None or stored.version != snapshot.version:
        where = f"snapshot {' '.join(snapshot.key)}"
        is_now = "nothing" if stored is None else f"version {stored.version}, tagged at {stored.tagged_at.isoformat()}"
        raise SnapshotTagTakenError.of(where, snapshot.version, is_now)


def update_row(connection: Connection, table: Table, key: SnapshotKey, values: Mapping[str, Any]) -> None:
    """Change columns of a row, if it exists."""
    connection.execute(update(table).where(is_at(table, key)).values(values))


def delete_row(connection: Connection, table: Table, key: SnapshotKey) -> None:
    """Remove a row, if it exists."""
    connection.execute(sql_delete(table).where(is_at(table, key)))


def next_restatements(connection: Connection, count: int) -> range:
    """New numbers for restatements."""
    last = int(connection.execute(select(CURSORS.c.position).where(CURSORS.c.name == RESTATEMENTS)).scalar() or 0)
    position = {"name": RESTATEMENTS, "position": str(last + count)}
    insert = insert_into(connection, CURSORS).values(position)
    connection.execute(insert.on_conflict_do_update(index_elements=["name"], set_=position))
    return range(last + 1, last + count + 1)


def is_at(table: Table, key: SnapshotKey) -> ColumnElement[bool]:
    """The condition for one row."""
    return and_(*(column == value for column, value in zip(table.primary_key, key, strict=True)))


def insert_into(connection: Connection, table: Table) -> Any:
    """An INSERT with conflict handling, for this kind of database."""
    return (sqlite_insert if connection.dialect.name == "sqlite" else postgresql_insert)(table)
