"""Numbered steps from an empty database, or an older one, to today's tables. A step that was released never changes.

Opening applies what is missing, under a lock: two processes may open a new database at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from sqlalchemy import func, inspect, select, text
from sqlalchemy.schema import CreateIndex, CreateTable

from tidemark.state_store.errors import DatabaseOfOthersError, SchemaTooNewError
from tidemark.state_store.schema import (
    ALERT_DELIVERIES,
    ALERTS,
    BACKFILL_SLICES,
    BACKFILLS,
    CANDIDATES,
    CATALOG_COUNTS,
    CATALOG_PARTITIONS,
    CATALOG_SCHEMAS,
    CATALOG_TABLES,
    CODE_VERSIONS,
    COUNTED_LOGS,
    CURSORS,
    JOURNAL,
    LEASES,
    MIGRATIONS,
    NOTES,
    PROFILES,
    QUALITY_RESULTS,
    RECORD_COUNTS,
    SCAN_COUNTS,
    SCHEDULES,
    SLICE_CODES,
    SLICES,
    SNAPSHOTS,
    TRANSITIONS,
    VERSION_CLAIMS,
    WORKER_HOSTS,
    WORKER_RUNS,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy import Connection, Table


@dataclass(frozen=True, slots=True)
class Migration:
    """One step; `apply` runs in the transaction that also notes it."""

    number: int
    name: str
    apply: Callable[[Connection], None]


def _create(*tables: Table) -> Callable[[Connection], None]:
    """Make the tables that are missing."""

    def apply(connection: Connection) -> None:
        for table in tables:
            connection.execute(CreateTable(table, if_not_exists=True))
            for index in table.indexes:
                connection.execute(CreateIndex(index, if_not_exists=True))

    return apply


def _snapshots(connection: Connection) -> None:
    """As they were first: later steps change them. They were there before migrations were numbered."""
    connection.execute(
        text(
            "CREATE TABLE IF NOT EXISTS snapshots (entity VARCHAR NOT NULL, period VARCHAR NOT NULL,"
            " slice VARCHAR NOT NULL, version BIGINT NOT NULL, rows BIGINT NOT NULL, named_at VARCHAR NOT NULL,"
            " PRIMARY KEY (entity, period, slice))"
        )
    )


def _open_slices(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text('ALTER TABLE slices ALTER COLUMN key TYPE varchar COLLATE "C"'))
    _create(SLICES, SCHEDULES)(connection)


def _reopened_snapshots(connection: Connection) -> None:
    _add_to_snapshots(connection, {"generation": ("INTEGER", 1), "late_batch": ("BIGINT", 0), "moved": ("BIGINT", 0)})
    connection.execute(text("CREATE INDEX IF NOT EXISTS snapshots_moved ON snapshots (moved)"))


def _open_snapshots(connection: Connection) -> None:
    _add_to_snapshots(connection, {"open_until": ("BIGINT", 0)})


def _tagged_snapshots(connection: Connection) -> None:
    """The words of the glossary: a snapshot is tagged, and restated."""
    connection.execute(text("DROP INDEX snapshots_moved"))
    for old, new in (("named_at", "tagged_at"), ("moved", "restatement"), ("open_until", "late_until")):
        connection.execute(text(f"ALTER TABLE snapshots RENAME COLUMN {old} TO {new}"))
    connection.execute(text("CREATE INDEX snapshots_restatement ON snapshots (restatement)"))
    connection.execute(text("UPDATE cursors SET name = 'restatements' WHERE name = 'names moved'"))


def _fencing_tokens(connection: Connection) -> None:
    """A lease has a fencing token: generations are those of slices."""
    if "generation" in {column["name"] for column in inspect(connection).get_columns(LEASES.name)}:
        connection.execute(text("ALTER TABLE leases RENAME COLUMN generation TO fencing_token"))
    connection.execute(text("UPDATE cursors SET name = 'restated snapshots' WHERE name = 'reopened snapshots'"))


def _shared_notes(connection: Connection) -> None:
    """What hosts share: leases of processes, claims of readers, notes."""
    if "process" not in {column["name"] for column in inspect(connection).get_columns(LEASES.name)}:
        connection.execute(text("ALTER TABLE leases ADD COLUMN process VARCHAR NOT NULL DEFAULT ''"))
    _create(VERSION_CLAIMS, NOTES, JOURNAL, SCAN_COUNTS)(connection)


def _add_to_snapshots(connection: Connection, columns: Mapping[str, tuple[str, int]]) -> None:
    """The first releases made the table with some of these columns already."""
    there = {column["name"] for column in inspect(connection).get_columns(SNAPSHOTS.name)}
    for name, (kind, default) in columns.items():
        if name not in there:
            connection.execute(text(f"ALTER TABLE snapshots ADD COLUMN {name} {kind} NOT NULL DEFAULT {default}"))


ALL: Final = (
    Migration(1, "names of snapshots", _snapshots),
    Migration(2, "transitions, their projection, cursors of detectors", _create(TRANSITIONS, SLICES, CURSORS)),
    Migration(3, "open slices and recent ones found by themselves, schedules noted", _open_slices),
    Migration(4, "leases", _create(LEASES)),
    Migration(5, "snapshots that are restated", _reopened_snapshots),
    Migration(6, "snapshots that wait for late events", _open_snapshots),
    Migration(7, "snapshots are tagged and restated", _tagged_snapshots),
    Migration(8, "leases have fencing tokens", _fencing_tokens),
    Migration(9, "the catalog's notes", _create(CATALOG_TABLES, CATALOG_PARTITIONS, CATALOG_SCHEMAS, CATALOG_COUNTS)),
    Migration(10, "counts of records by event time", _create(RECORD_COUNTS)),
    Migration(11, "the code that computed each slice", _create(CODE_VERSIONS, SLICE_CODES)),
    Migration(12, "backfills and their slices", _create(BACKFILLS, BACKFILL_SLICES)),
    Migration(13, "alerts", _create(ALERTS, ALERT_DELIVERIES)),
    Migration(14, "up to which commit the lake is counted", _create(COUNTED_LOGS)),
    Migration(15, "profiles of slices", _create(PROFILES)),
    Migration(16, "candidates for tags", _create(CANDIDATES)),
    Migration(17, "results of quality rules", _create(QUALITY_RESULTS)),
    Migration(18, "what hosts share: claims of readers, notes, counts of scans", _shared_notes),
    Migration(19, "hosts of warm workers, and the runs that they take", _create(WORKER_HOSTS, WORKER_RUNS)),
)


def _refuse_database_of_others(connection: Connection, where: str) -> None:
    """Dagster has a table of snapshots, too: before migrations were numbered ours had entities and slices."""
    tables = inspect(connection)
    if tables.has_table(SNAPSHOTS.name) and "entity" not in {
        column["name"] for column in tables.get_columns(SNAPSHOTS.name)
    }:
        raise DatabaseOfOthersError.of(where, SNAPSHOTS.name)


def migrate(connection: Connection, where: str, migrations: tuple[Migration, ...] = ALL) -> None:
    """Bring the database up to date; the caller holds the write lock.

    Raises SchemaTooNewError, DatabaseOfOthersError.
    """
    connection.execute(CreateTable(MIGRATIONS, if_not_exists=True))
    done = connection.execute(select(func.max(MIGRATIONS.c.number))).scalar() or 0
    if not done:
        _refuse_database_of_others(connection, where)
    if done > migrations[-1].number:
        raise SchemaTooNewError.of(where, migrations[-1].number, done)
    for migration in migrations:
        if migration.number > done:
            migration.apply(connection)
            now = int(datetime.now(UTC).timestamp() * 1_000_000)
            connection.execute(MIGRATIONS.insert().values(number=migration.number, name=migration.name, applied_at=now))
