"""The catalog's notes in the state store: how far each table's log was read, and what its partitions held then."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy import func, select, tuple_

from tidemark.catalog.partition_contents import PartitionContents
from tidemark.delta.table_changes import LogPosition
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.bulk_write import Rows
from tidemark.state_store.notes import Notes
from tidemark.state_store.row_codec import sub_of, sub_text
from tidemark.state_store.schema import CATALOG_PARTITIONS, CATALOG_SCHEMAS, CATALOG_TABLES
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy import Connection

    from tidemark.state_store.database import Database

_CHUNK: Final = 300
_TABLE: Final = (
    "entity",
    "version",
    "stamp",
    "table_id",
    "committed_at",
    "rows",
    "bytes",
    "files",
    "vacuumed",
    "verified_at",
)
_PARTITION: Final = ("entity", "key", "sub", "rows", "bytes", "files", "version", "is_suspect", "contents")
_SCHEMA: Final = ("entity", "version", "changed_at", "columns")


@dataclass(frozen=True)
class TableNote:
    """The progress in a table's log. `committed_at` is epoch ms, `verified_at` epoch seconds, `vacuumed` a version."""

    position: LogPosition
    table_id: str = ""
    committed_at: int = 0
    rows: int = 0
    size_bytes: int = 0
    files: int = 0
    vacuumed: int = -1
    verified_at: int = 0


class SchemaNote(NamedTuple):
    """The columns (types by name) of a table from `version` on; `at` is epoch ms."""

    version: int
    at: int
    columns: Mapping[str, str]


@dataclass
class TableUpdate:
    """The result of a look at a table. With `is_anew`, `partitions` are complete and replace earlier notes.

    `commits` is the number of commits read, `emptied` the versions of commits without actions. `is_verified`: its files
    were looked for on disk.
    """

    entity: str
    note: TableNote
    is_anew: bool = False
    partitions: dict[Slice, PartitionContents] = field(default_factory=dict)
    schemas: list[SchemaNote] = field(default_factory=list)
    commits: int = 0
    is_verified: bool = False
    emptied: set[int] = field(default_factory=set)


class CatalogNotes:
    """Reads and writes the notes. Writing a note twice has no further effect."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def tables(self) -> dict[str, TableNote]:
        """Each table's note by entity."""
        with self._database.reading() as connection:
            rows = connection.execute(select(*(CATALOG_TABLES.c[name] for name in _TABLE)))
            return {row[0]: _note(row) for row in rows}

    def partitions(self, entity: str, slices: Iterable[Slice] | None = None) -> dict[Slice, PartitionContents]:
        """The known contents of these partitions; of all partitions of the entity without `slices`."""
        columns = CATALOG_PARTITIONS.c
        query = select(columns.key, columns.sub, columns.contents).where(columns.entity == entity)
        with self._database.reading() as connection:
            if slices is None:
                return _contents(entity, connection.execute(query))
            wanted, held = [(slice_.key, sub_text(slice_.sub)) for slice_ in slices], {}
            for start in range(0, len(wanted), _CHUNK):
                some = tuple_(columns.key, columns.sub).in_(wanted[start : start + _CHUNK])
                held.update(_contents(entity, connection.execute(query.where(some))))
            return held

    def schemas(self, entity: str) -> list[SchemaNote]:
        """Each schema of the table, oldest first."""
        columns = CATALOG_SCHEMAS.c
        query = select(columns.version, columns.changed_at, columns.columns).where(columns.entity == entity)
        with self._database.reading() as connection:
            rows = connection.execute(query.order_by(columns.version)).all()
        return [SchemaNote(version, at, json.loads(text)) for version, at, text in rows]

    def schema_sizes(self) -> dict[str, tuple[int, int]]:
        """By entity, the version that brought the newest schema, and its number of columns."""
        columns = CATALOG_SCHEMAS.c
        query = select(columns.entity, columns.version, columns.columns).order_by(columns.version)
        with self._database.reading() as connection:
            newest = {name: (version, text) for name, version, text in connection.execute(query)}
        return {name: (version, len(json.loads(text))) for name, (version, text) in newest.items()}

    def suspects(self) -> dict[str, list[Slice]]:
        """By entity, the slices whose data may have been changed by other programs or lost."""
        columns = CATALOG_PARTITIONS.c
        query = select(columns.entity, columns.key, columns.sub).where(columns.is_suspect)
        suspects: dict[str, list[Slice]] = {}
        with self._database.reading() as connection:
            for entity, key, sub in connection.execute(query):
                suspects.setdefault(entity, []).append(Slice(entity, key, sub_of(sub)))
        return suspects

    def write(self, update: TableUpdate) -> None:
        """Writes the result of a look in one transaction, in which the table's sums are computed."""
        key = ("entity", "key", "sub")
        rows = [_partition_row(slice_, contents) for slice_, contents in update.partitions.items()]
        schemas = [
            (update.entity, schema.version, schema.at, json_text(dict(schema.columns))) for schema in update.schemas
        ]
        with self._database.writing() as connection:
            if update.is_anew:
                for table in (CATALOG_PARTITIONS, CATALOG_SCHEMAS):
                    connection.execute(table.delete().where(table.c.entity == update.entity))
            Rows(CATALOG_PARTITIONS, _PARTITION, rows, key).write(connection)
            Rows(CATALOG_SCHEMAS, _SCHEMA, schemas, ("entity", "version")).write(connection)
            note = (_table_row(connection, update.entity, update.note),)
            Rows(CATALOG_TABLES, _TABLE, note, ("entity",)).write(connection)


def _table_row(connection: Connection, entity: str, note: TableNote) -> tuple[Any, ...]:
    columns = CATALOG_PARTITIONS.c
    sums = (func.coalesce(func.sum(column), 0) for column in (columns.rows, columns.bytes, columns.files))
    counted = connection.execute(select(*sums).where(columns.entity == entity)).one()
    rows, size, files = map(int, counted)
    return (
        entity,
        *note.position,
        note.table_id,
        note.committed_at,
        rows,
        size,
        files,
        note.vacuumed,
        note.verified_at,
    )


def _partition_row(slice_: Slice, contents: PartitionContents) -> tuple[Any, ...]:
    return (
        *(slice_.entity, slice_.key, sub_text(slice_.sub)),
        *(contents.rows, contents.size_bytes, len(contents.files), contents.version),
        *(contents.is_suspect, contents.to_json()),
    )


def _note(row: Any) -> TableNote:
    _, version, stamp, *values = row
    return TableNote(LogPosition(version, stamp), *values)


def _contents(entity: str, rows: Iterable[Any]) -> dict[Slice, PartitionContents]:
    return {Slice(entity, key, sub_of(sub)): PartitionContents.of_json(text) for key, sub, text in rows}


def unreadable_tables(database: Database) -> Notes:
    """By entity, the reason why its table could not be read at the last look."""
    return Notes(database, "unreadable table")


def iceberg_troubles(database: Database) -> Notes:
    """By entity, the reason why its Iceberg metadata could not be written at the last try."""
    return Notes(database, "not in iceberg")
