"""`tidemark restore`: verifies a backup, writes it beside its final places, and moves it there when it is complete.

The lake is moved first and the state store last, as in the order of a backup. So a killed restore leaves no store that
is ahead of its lake.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tidemark.backup.copied_files import copy_file
from tidemark.backup.dagster_files import HISTORY, SCHEDULES, sqlite_files, storage_of
from tidemark.backup.errors import BackupPlaceError, BackupUnusableError, RestoreBlockedError
from tidemark.backup.lake_tables import lake_tables
from tidemark.backup.make_backup import CONFIGURATION, DUMP, IDENTITY, STATE_FILE, require_free
from tidemark.backup.manifest import DAGSTER, LAKE, PROJECT, STATE, BackupFile, BackupManifest, Storage
from tidemark.backup.postgresql_dump import PostgresqlDatabase
from tidemark.backup.staged_places import StagedPlaces
from tidemark.state_store.live_leases import live_leases
from tidemark.system.project_root import PROJECT_FILE, ROOT_VARIABLE
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

_LOGS: Final = ("-wal", "-shm")


@dataclass(frozen=True)
class RestoreTarget:
    """The place of a restore: the project of `settings`. With `is_new`, the project's files are written too."""

    settings: Settings
    home: Path
    storage: Path | str
    is_new: bool

    @classmethod
    def of(cls, backup: Path, settings: Settings, home: Path, env: Mapping[str, str], *, is_new: bool) -> RestoreTarget:
        """The target. Dagster's storage follows the home's dagster.yaml, or the backup's if there is none yet."""
        has_own = (home / CONFIGURATION).is_file()
        configured = home if has_own else backup / DAGSTER
        storage = storage_of(configured, env)
        return cls(settings, home, home if storage == configured else storage, is_new)


@dataclass(frozen=True)
class RestoreReport:
    """The restored manifest, and what was moved aside: old and new names."""

    manifest: BackupManifest
    replaced: list[tuple[str, str]]
    shared_lake: str = ""
    """The lake that a project in a new folder still has in common with the original one."""


def settings_in(backup: Path, folder: Path, env: Mapping[str, str]) -> Settings:
    """The settings of the backup's project in another folder. Raises BackupUnusableError, SettingsError."""
    project = (backup / PROJECT).absolute()
    if not (project / PROJECT_FILE).is_file():
        raise BackupUnusableError.foreign(backup, f"a folder without {PROJECT_FILE}")
    settings = Settings.load({**env, ROOT_VARIABLE: str(project)})
    places = {
        name: folder / value.relative_to(project)
        for name, value in settings
        if isinstance(value, Path) and value.is_relative_to(project)
    }
    return settings.model_copy(update=places)


def restore_backup(
    backup: Path,
    manifest: BackupManifest,
    target: RestoreTarget,
    now: datetime,
    tell: Callable[[str], None],
    *,
    replace: bool,
) -> RestoreReport:
    """Write everything, or nothing. Raises BackupUnusableError, RestoreBlockedError, BackupPlaceError."""
    manifest.verify(backup)
    tell(f"{len(manifest.files):,} files are unchanged")
    _require_same_databases(manifest, target)
    _require_nobody(target)
    _require_lake(backup, manifest, target)
    blocked = list(_in_the_way(manifest, backup, target))
    if blocked and not replace:
        raise RestoreBlockedError.there(blocked)
    require_free(_nearest(target.settings.data), manifest.size_bytes)
    restore = _Restore(backup, manifest, target, now)
    try:
        restore.stage()
        tell("all files are copied")
        restore.publish()
    except OSError as error:
        raise BackupPlaceError.not_writable(target.settings.root, error) from error
    finally:
        restore.discard()
    is_shared = target.is_new and manifest.lake == str(target.settings.warehouse)
    return RestoreReport(manifest, restore.moved, manifest.lake if is_shared else "")


class _Restore:
    def __init__(self, backup: Path, manifest: BackupManifest, target: RestoreTarget, now: datetime) -> None:
        self._backup, self._manifest, self._target, self._now = backup, manifest, target, now
        self._places = StagedPlaces(target.settings.root if target.is_new else None, now)
        self._moved_schemas = list[tuple[str, str]]()

    def stage(self) -> None:
        """Copy all files beside their final places, in the order of the moves, the state store last."""
        target, settings = self._target, self._target.settings
        if target.is_new:
            self._copy(PROJECT, settings.root)
        if self._manifest.with_lake and isinstance(settings.warehouse, Path):
            for name in self._manifest.tables:
                self._copy(f"{LAKE}/{name}", settings.warehouse / name)
        if isinstance(target.storage, Path):
            for name in (HISTORY, SCHEDULES):
                self._copy(f"{DAGSTER}/{name}", target.storage / name)
        self._copy_file(f"{DAGSTER}/{CONFIGURATION}", target.home / CONFIGURATION, only_new=True)
        for folder in (target.home, settings.data):
            self._copy_file(f"{DAGSTER}/{IDENTITY}", folder / IDENTITY)
        self._copy_file(f"{STATE}/{STATE_FILE}", settings.state_db)

    def publish(self) -> None:
        """Move everything.

        Databases of servers come first: each is restored completely, or fails before a file is moved.
        """
        self._restore_database(self._manifest.dagster, self._target.storage, f"{DAGSTER}/{DUMP}")
        self._restore_database(self._manifest.state_store, self._target.settings.state, f"{STATE}/{DUMP}")
        if self._manifest.state_store == "sqlite":
            for log in _LOGS:  # their content belongs to the file that is moved aside
                self._places.move_aside(Path(f"{self._target.settings.state_db}{log}"))
        self._places.publish()

    def discard(self) -> None:
        """Remove the files of a failed restore."""
        self._places.discard()

    @property
    def moved(self) -> list[tuple[str, str]]:
        """The old and new names of what was moved aside."""
        return [*self._moved_schemas, *((str(before), str(now)) for before, now in self._places.moved)]

    def _copy(self, folder: str, final: Path) -> None:
        files = self._manifest.in_folder(folder)
        place = self._places.place_for(final) if files else final
        for name, file in files.items():
            _copied(self._backup / folder / name, place / name, file, self._backup)

    def _copy_file(self, name: str, final: Path, *, only_new: bool = False) -> None:
        file = self._manifest.files.get(name)
        if file is not None and not (only_new and final.exists()):
            _copied(self._backup / name, self._places.place_for(final), file, self._backup)

    def _restore_database(self, kind: Storage, url: Path | str, dump: str) -> None:
        if kind != "postgresql" or not isinstance(url, str):
            return
        database = PostgresqlDatabase(url)
        if database.has_tables():
            self._moved_schemas.append((database.where, f"its schema {database.move_aside(self._now)}"))
        database.restore(self._backup / dump)


def _copied(source: Path, target: Path, file: BackupFile, backup: Path) -> None:
    if copy_file(source, target, file.changed_ns).sha256 != file.sha256:
        raise BackupUnusableError.changed(backup, [f"{source.name} was changed while it was restored"])


def _require_same_databases(manifest: BackupManifest, target: RestoreTarget) -> None:
    for what, there, here in (
        ("the state store", manifest.state_store, "postgresql" if target.settings.state else "sqlite"),
        ("Dagster's storage", manifest.dagster, "postgresql" if isinstance(target.storage, str) else "sqlite"),
    ):
        if there not in ("none", here):
            raise RestoreBlockedError.other_database(what, f"{what} in {here}, as the settings have it", there)


def _require_nobody(target: RestoreTarget) -> None:
    """Raise RestoreBlockedError if a process is active: it would write to files that were moved away."""
    settings = target.settings
    file = settings.state_db
    if not settings.state and not (file.is_file() and file.stat().st_size):
        return
    if holders := live_leases(settings.state or file):
        raise RestoreBlockedError.at_work(", ".join(holders))


def _require_lake(backup: Path, manifest: BackupManifest, target: RestoreTarget) -> None:
    lake = target.settings.warehouse
    needs_lake = manifest.tables and not manifest.with_lake and isinstance(lake, Path)
    if needs_lake and not manifest.tables.keys() & lake_tables(target.settings).keys():
        raise RestoreBlockedError.without_lake(backup, str(lake))


def _in_the_way(manifest: BackupManifest, backup: Path, target: RestoreTarget) -> Iterator[str]:
    settings, root = target.settings, target.settings.root
    if target.is_new and root.exists() and (not root.is_dir() or any(root.iterdir())):
        yield f"{root}, which is not empty"
    if settings.state and PostgresqlDatabase(settings.state).has_tables():
        yield f"tables in {PostgresqlDatabase(settings.state).where}"
    if isinstance(target.storage, str) and PostgresqlDatabase(target.storage).has_tables():
        yield f"tables in {PostgresqlDatabase(target.storage).where}"
    yield from (str(path) for path in _files_in_the_way(manifest, target) if not _is_inside(path, target))
    own, told = settings.data / IDENTITY, backup / DAGSTER / IDENTITY
    if own.is_file() and told.is_file() and own.read_bytes() != told.read_bytes() and not _is_inside(own, target):
        yield f"{own}, which belongs to another warehouse"


def _files_in_the_way(manifest: BackupManifest, target: RestoreTarget) -> Iterator[Path]:
    settings = target.settings
    if not settings.state and settings.state_db.exists():
        yield settings.state_db
    if isinstance(target.storage, Path):
        yield from sqlite_files(target.storage)[:1]
    if manifest.with_lake and isinstance(settings.warehouse, Path):
        yield from (path for name in manifest.tables if (path := settings.warehouse / name).exists())


def _is_inside(path: Path, target: RestoreTarget) -> bool:
    """Whether it is inside the new project folder, which is moved as a whole."""
    return target.is_new and path.is_relative_to(target.settings.root)


def _nearest(folder: Path) -> Path:
    """The folder, or the nearest existing one above."""
    return next(path for path in (folder, *folder.parents) if path.is_dir())
