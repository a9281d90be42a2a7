"""Creates or upgrades the tables by the steps in `steps/`, each one file of SQL.

A released step never changes: it makes the tables of its time. `schema.py` is the result of all steps. A new table or
column is a new file, `NNNN_what.sql`. Opening a database applies the missing steps, under a lock, because two processes
may open it at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final

from sqlalchemy import func, inspect, select
from sqlalchemy.schema import CreateTable

from tidemark.state_store.errors import DatabaseOfOthersError, SchemaTooNewError
from tidemark.state_store.schema import METADATA, MIGRATIONS, SNAPSHOTS
from tidemark.state_store.sqlite_file import copy_before_migration, newest_copy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

_FOLDER: Final = Path(__file__).with_name("steps")
_TYPES: Final = {
    "sqlite": {"key_text": "VARCHAR", "sequence": "INTEGER", "bytes": "BLOB"},
    "postgresql": {"key_text": 'VARCHAR COLLATE "C"', "sequence": "BIGINT", "bytes": "BYTEA"},
}
"""Types of the steps in each database: keys sort by bytes in both."""
_ONLY_POSTGRESQL: Final = "-- only postgresql\n"


@dataclass(frozen=True, slots=True)
class Migration:
    """One step: the statements of a file."""

    number: int
    name: str
    text: str

    @classmethod
    def read(cls, file: Path) -> Migration:
        """The step in a file."""
        number, _, name = file.stem.partition("_")
        return cls(int(number), name.replace("_", " "), file.read_text("utf-8"))

    def statements(self, dialect: str) -> Iterator[str]:
        """The statements for a database, in order."""
        for statement in Template(self.text).substitute(_TYPES[dialect]).split(";\n"):
            if statement.strip() and (dialect == "postgresql" or not statement.startswith(_ONLY_POSTGRESQL)):
                yield statement


@cache
def migrations() -> tuple[Migration, ...]:
    """All steps in order."""
    return tuple(Migration.read(file) for file in sorted(_FOLDER.glob("*.sql")))


def migrate(connection: Connection, where: str, steps: tuple[Migration, ...] | None = None) -> None:
    """Bring the database up to date; the caller holds the write lock. A SQLite file is copied before a change.

    Raises SchemaTooNewError, DatabaseOfOthersError.
    """
    steps = migrations() if steps is None else steps
    connection.execute(CreateTable(MIGRATIONS, if_not_exists=True))
    done = connection.execute(select(func.max(MIGRATIONS.c.number))).scalar() or 0
    last = steps[-1].number
    if done > last:
        raise SchemaTooNewError.of(where, last, done, newest_copy(connection.engine.url, last))
    if done == last:
        return
    if not done:
        _refuse_database_of_others(connection, where)
    if inspect(connection).has_table(SNAPSHOTS.name):
        copy_before_migration(connection.engine.url, done)
    for step in steps[done:]:
        _apply(connection, step)


def _apply(connection: Connection, step: Migration) -> None:
    for statement in step.statements(connection.dialect.name):
        connection.exec_driver_sql(statement)
    now = int(datetime.now(UTC).timestamp() * 1_000_000)
    connection.execute(MIGRATIONS.insert().values(number=step.number, name=step.name, applied_at=now))


def _refuse_database_of_others(connection: Connection, where: str) -> None:
    """Dagster has a table of snapshots, too: before migrations were numbered ours had entities and slices.

    A file is one program's; a database of a server may hold tables of several.
    """
    looked = inspect(connection)
    names = set(looked.get_table_names())
    if SNAPSHOTS.name in names:
        if "entity" not in {column["name"] for column in looked.get_columns(SNAPSHOTS.name)}:
            raise DatabaseOfOthersError.of(where, SNAPSHOTS.name)
    elif connection.dialect.name == "sqlite" and (others := sorted(names - METADATA.tables.keys())):
        raise DatabaseOfOthersError.of(where, others[0])
