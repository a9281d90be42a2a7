"""`tidemark backup`: one consistent copy of a project while its processes go on.

The order makes the copy consistent. A run writes the lake first, and then reports the written version to Dagster. Then
the center stores what Dagster reports. So everything in the state store is in Dagster's log, and everything in
Dagster's log is in the lake. The backup copies in the reverse order: the store, then Dagster, then the lake. Let s, d
and l be the instants of the three copies, so s <= d <= l. The store's content at s was in the log before s, hence at d.
The log's content at d was in the lake before d, hence at l. The same holds for capture, which commits to the lake
before it tags the version in the store.

A lake that is ahead is reconciled: later events are taken in, and unreported commits count as foreign. A store that is
ahead of its lake would list slices that do not exist.

Within Dagster's SQLite the same reasoning applies. A run is closed after its last event is stored, so the runs are
copied first. An event is stored in its run's file before it is in the index, so the index comes before the runs' files.
"""

from __future__ import annotations

import shutil
import sqlite3
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tidemark.backup.copied_files import CopiedFiles, publish, sync_folders, total_bytes
from tidemark.backup.dagster_files import FIRST, RUNS, sqlite_files
from tidemark.backup.errors import BackupPlaceError, BackupSourceError
from tidemark.backup.lake_tables import copy_table, lake_tables, position_of, table_bytes
from tidemark.backup.manifest import (
    DAGSTER,
    FORMAT,
    LAKE,
    PROJECT,
    STATE,
    BackupManifest,
    Storage,
    TablePosition,
    program_version,
)
from tidemark.backup.postgresql_dump import PostgresqlDatabase
from tidemark.backup.project_files import project_files, why_left_out
from tidemark.state_store.migrations import migrations
from tidemark.system.files import private_directory
from tidemark.system.sqlite_copies import copy_sqlite, damage_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from tidemark.system.settings import Settings
    from tidemark.system.table_location import TableLocation

DUMP: Final = "database.dump"
STATE_FILE: Final = "state.db"
CONFIGURATION: Final = "dagster.yaml"
IDENTITY: Final = "warehouse_id"
_SPARE_BYTES: Final = 16 << 20


@dataclass(frozen=True)
class BackupSource:
    """The source of a backup: the project, Dagster's home, and its storage (None: never used)."""

    settings: Settings
    home: Path
    storage: Path | str | None


def make_backup(
    source: BackupSource, to: Path, now: datetime, tell: Callable[[str], None], *, with_lake: bool
) -> BackupManifest:
    """Write the folder `to`, under another name until it is complete; `tell` receives each copied part.

    Raises BackupPlaceError, BackupSourceError, BackupProgramError, BackupDisturbedError.
    """
    if to.exists() or to.is_symlink():
        raise BackupPlaceError.taken(to)
    tables = _tables(source.settings, with_lake=with_lake)
    unfinished = to.with_name(f".{to.name}.unfinished-{uuid.uuid4().hex[:8]}")
    try:
        private_directory(to.parent)
        _require_room(source, tables if with_lake else {}, to.parent)
        manifest = _Backup(source, CopiedFiles(unfinished), tell).make(tables, now, with_lake=with_lake)
        manifest.write(unfinished)
        sync_folders(unfinished)
        publish(unfinished, to)
    except OSError as error:
        raise BackupPlaceError.not_writable(to, error) from error
    finally:
        if unfinished.exists():
            shutil.rmtree(unfinished, ignore_errors=True)
    return manifest


class _Backup:
    def __init__(self, source: BackupSource, copied: CopiedFiles, tell: Callable[[str], None]) -> None:
        self._source, self._settings, self._copied, self._tell = source, source.settings, copied, tell

    def make(self, tables: dict[str, TableLocation], now: datetime, *, with_lake: bool) -> BackupManifest:
        """Copy in exactly this order (see the module's docstring)."""
        state_store = self._copy_state_store()
        self._tell("state store")
        dagster = self._copy_dagster()
        self._tell("Dagster's storage")
        # Include tables that were created after the copy of the store.
        tables = {**tables, **_tables(self._settings, with_lake=with_lake)}
        positions = {name: position_of(path) for name, path in sorted(tables.items())}
        self._tell(f"positions of {len(positions)} tables")
        if with_lake:
            self._copy_tables(tables, positions)
        left_out = self._copy_project()
        self._tell("project")
        return BackupManifest(
            format=FORMAT,
            made_by="tidemark",
            program=program_version(),
            made_at=now.isoformat(timespec="seconds"),
            step=migrations()[-1].number,
            state_store=state_store,
            dagster=dagster,
            lake=str(self._settings.warehouse),
            with_lake=with_lake,
            tables=positions,
            files=self._copied.files,
            left_out=left_out,
        )

    def _copy_state_store(self) -> Storage:
        if self._settings.state:
            return self._dump(self._settings.state, f"{STATE}/{DUMP}")
        if not self._settings.state_db.is_file() or not self._settings.state_db.stat().st_size:
            raise BackupSourceError.without_store(self._settings.state_db)
        self._copy_sqlite(self._settings.state_db, f"{STATE}/{STATE_FILE}")
        return "sqlite"

    def _copy_dagster(self) -> Storage:
        for file in (IDENTITY, CONFIGURATION):
            path = self._source.home / file
            if path.is_file() and not why_left_out(path):
                self._copied.copy(path, f"{DAGSTER}/{file}")
        storage = self._source.storage
        if storage is None:
            return "none"
        if isinstance(storage, str):
            return self._dump(storage, f"{DAGSTER}/{DUMP}")
        for name in FIRST:
            if (storage / name).exists():
                self._copy_sqlite(storage / name, f"{DAGSTER}/{name}")
        for path in sqlite_files(storage):
            name = path.relative_to(storage).as_posix()
            if name not in FIRST:
                self._copy_run(path, f"{DAGSTER}/{name}", is_run=path.parent == storage / RUNS)
        return "sqlite"

    def _copy_run(self, path: Path, name: str, *, is_run: bool) -> None:
        """Copy a run's file. The run, with its file, may be deleted meanwhile."""
        try:
            self._copy_sqlite(path, name)
        except BackupSourceError:
            if not is_run or path.exists():
                raise
            with suppress(FileNotFoundError):
                (self._copied.folder / name).unlink()

    def _copy_sqlite(self, file: Path, name: str) -> None:
        copy = self._copied.place_for(name)
        try:
            copy_sqlite(file, copy)
        except sqlite3.Error as error:
            raise BackupSourceError.damaged(file, str(error)) from error
        if damage := damage_of(copy):
            raise BackupSourceError.damaged(file, damage)
        self._copied.adopt(name)

    def _dump(self, url: str, name: str) -> Storage:
        PostgresqlDatabase(url).dump(self._copied.place_for(name))
        self._copied.adopt(name)
        return "postgresql"

    def _copy_tables(self, tables: dict[str, TableLocation], positions: dict[str, TablePosition]) -> None:
        for number, (name, position) in enumerate(positions.items(), 1):
            copy_table(Path(str(tables[name])), name, position, self._copied)
            self._tell(f"{LAKE} {number} of {len(positions)}: {name} version {position.version}")

    def _copy_project(self) -> dict[str, str]:
        root = self._settings.root
        kept, left_out = project_files(self._settings, self._source.home)
        for name in kept:
            with suppress(FileNotFoundError):
                self._copied.copy(root / name, f"{PROJECT}/{name}")
        configuration = self._source.home / CONFIGURATION
        if configuration.is_file() and (why := why_left_out(configuration)):
            left_out[str(configuration)] = why
        return left_out


def _tables(settings: Settings, *, with_lake: bool) -> dict[str, TableLocation]:
    if with_lake and not isinstance(settings.warehouse, Path):
        raise BackupSourceError.lake_elsewhere(str(settings.warehouse))
    return lake_tables(settings)


def _require_room(source: BackupSource, tables: dict[str, TableLocation], folder: Path) -> None:
    """Check for room for the current size, as if nothing were smaller in the copy."""
    settings, storage = source.settings, source.storage
    needed = _SPARE_BYTES + sum(table_bytes(path) for path in tables.values() if isinstance(path, Path))
    needed += PostgresqlDatabase(settings.state).size_bytes() if settings.state else total_bytes([settings.state_db])
    if isinstance(storage, str):
        needed += PostgresqlDatabase(storage).size_bytes()
    elif storage is not None:
        needed += total_bytes(sqlite_files(storage))
    require_free(folder, needed)


def require_free(folder: Path, needed: int) -> None:
    """Raise BackupPlaceError if a folder's disk has fewer bytes free."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise BackupPlaceError.too_small(folder, needed, free)
