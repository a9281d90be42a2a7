"""`tidemark backup`: a consistent copy of a project while its services run."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line

if TYPE_CHECKING:
    from tidemark.backup.make_backup import BackupSource
    from tidemark.backup.manifest import BackupManifest
    from tidemark.system.settings import Settings


@click.command(cls=ActionCommand)
@click.argument("to", type=click.Path(path_type=Path))
@click.option("--with-lake", is_flag=True, help="Also copy the files of each table; only for a lake on disk.")
@json_option
def backup(to: Path, *, with_lake: bool, as_json: bool) -> None:
    """Copy the state store, Dagster's storage, the positions of the lake's tables and the project into the folder TO.

    Services may keep running: the order of the copies makes them consistent. TO must be a new folder. It is written
    under another name and renamed at the end, so a folder with this name is complete.

    A store in SQLite is copied by its online backup, and one in PostgreSQL by pg_dump, which must be installed. For
    each table, the last version and the SHA-256 of its commit are stored. --with-lake also copies the files, which a
    restore into another folder needs. Project files that contain a password are left out and listed.

    \b
      tidemark backup ~/backups/2026-03-29
      tidemark backup ~/backups/2026-03-29 --with-lake
    \b
    Exit codes: 0 made; 1 not made, or a table of the lake cannot be read; 2 wrong usage;
                75 files disappeared while they were copied: try again.
    With --json: {"backup", "made_at", "files", "bytes", "with_lake", "tables": {NAME: {"version", "sha256", "table_id",
                  "trouble"}}, "left_out": {FILE: why}}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.backup.make_backup import make_backup  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.settings import Settings  # noqa: PLC0415

    tell = (lambda _: None) if as_json else (lambda what: print_line(f"copied: {what}"))
    folder = to.expanduser().absolute()
    manifest = make_backup(backup_source(Settings.load()), folder, datetime.now(UTC), tell, with_lake=with_lake)
    troubles = {name: table.trouble for name, table in manifest.tables.items() if table.trouble}
    if as_json:
        print_json(_as_data(folder, manifest))
    else:
        _print(folder, manifest, troubles)
    raise SystemExit(ExitCode.FAILED if troubles else ExitCode.OK)


def backup_source(settings: Settings) -> BackupSource:
    """The project of this process. Raises BackupSourceError if Dagster's configuration cannot be read."""
    from tidemark.backup.dagster_files import storage_of  # noqa: PLC0415 - keeps --help fast
    from tidemark.backup.make_backup import BackupSource  # noqa: PLC0415
    from tidemark.console.dagster_server.dagster_home import dagster_home  # noqa: PLC0415

    home = dagster_home(settings, os.environ)
    return BackupSource(settings, home, storage_of(home, os.environ) if home.is_dir() else None)


def _as_data(folder: Path, manifest: BackupManifest) -> dict[str, object]:
    return {
        "backup": str(folder),
        "made_at": manifest.made_at,
        "files": len(manifest.files),
        "bytes": manifest.size_bytes,
        "with_lake": manifest.with_lake,
        "tables": {name: table.model_dump() for name, table in manifest.tables.items()},
        "left_out": manifest.left_out,
    }


def _print(folder: Path, manifest: BackupManifest, troubles: dict[str, str]) -> None:
    for file, why in manifest.left_out.items():
        print_line(f"left out: {file} ({why})", "yellow")
    for name, trouble in troubles.items():
        print_line(f"{name}: {trouble}", "red")
    lake = "with their files" if manifest.with_lake else "only their positions"
    size = f"{len(manifest.files):,} files, {manifest.size_bytes:,} bytes"
    print_line(f"{folder}: {size}, {len(manifest.tables)} tables ({lake})", "bold")
