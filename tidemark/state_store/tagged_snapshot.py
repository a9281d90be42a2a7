"""A tagged snapshot, and its row: the same in the table of tags and in that of candidates."""

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


_FIELDS: Final = tuple(field.name for field in fields(TaggedSnapshot))


def find_row(connection: Connection, table: Table, key: SnapshotKey) -> TaggedSnapshot | None:
    """The row of a key; None where there is none."""
    row = connection.execute(select(table).where(is_at(table, key))).one_or_none()
    return None if row is None else snapshot_of(row)


def snapshot_of(row: Row[Any]) -> TaggedSnapshot:
    """A row as a value; columns that tags do not have are left out."""
    values = row._mapping  # noqa: SLF001 - public in SQLAlchemy, the underscore keeps off column names
    own = {name: values[name] for name in _FIELDS}
    return TaggedSnapshot(**{**own, "tagged_at": datetime.fromisoformat(own["tagged_at"])})


def values_of(snapshot: TaggedSnapshot) -> dict[str, Any]:
    """The columns of a row."""
    return {**asdict(snapshot), "tagged_at": snapshot.tagged_at.isoformat()}


def write_row(connection: Connection, table: Table, snapshot: TaggedSnapshot, **more: str) -> None:
    """Add a row; one that is there with the same version stays as it is. Raises SnapshotTagTakenError."""
    values = {**values_of(snapshot), **more}
    connection.execute(insert_into(connection, table).values(values).on_conflict_do_nothing())
    stored = find_row(connection, table, snapshot.key)
    if stored is None or stored.version != snapshot.version:
        where = f"snapshot {' '.join(snapshot.key)}"
        is_now = "nothing" if stored is None else f"version {stored.version}, tagged at {stored.tagged_at.isoformat()}"
        raise SnapshotTagTakenError.of(where, snapshot.version, is_now)


def update_row(connection: Connection, table: Table, key: SnapshotKey, values: Mapping[str, Any]) -> None:
    """Change columns of a row; nothing where it is not there."""
    connection.execute(update(table).where(is_at(table, key)).values(values))


def delete_row(connection: Connection, table: Table, key: SnapshotKey) -> None:
    """Remove a row; nothing where it is not there."""
    connection.execute(sql_delete(table).where(is_at(table, key)))


def next_restatements(connection: Connection, count: int) -> range:
    """So many numbers that no restatement has had."""
    last = int(connection.execute(select(CURSORS.c.position).where(CURSORS.c.name == RESTATEMENTS)).scalar() or 0)
    position = {"name": RESTATEMENTS, "position": str(last + count)}
    insert = insert_into(connection, CURSORS).values(position)
    connection.execute(insert.on_conflict_do_update(index_elements=["name"], set_=position))
    return range(last + 1, last + count + 1)


def is_at(table: Table, key: SnapshotKey) -> ColumnElement[bool]:
    """The condition of one row."""
    return and_(*(column == value for column, value in zip(table.primary_key, key, strict=True)))


def insert_into(connection: Connection, table: Table) -> Any:
    """An INSERT that can say what to do on a conflict, of the database's kind."""
    return (sqlite_insert if connection.dialect.name == "sqlite" else postgresql_insert)(table)
