"""`tidemark restore`: restore a project from a backup."""

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
    from tidemark.backup.restore_backup import RestoreReport


@click.command(cls=ActionCommand, only_with="replace", unless="into", is_repair=True)
@click.argument("backup", type=click.Path(path_type=Path))
@click.option(
    "--into", type=click.Path(path_type=Path), metavar="FOLDER", help="A new folder, with the project's files."
)
@click.option("--replace", is_flag=True, help="Move existing stores and tables aside; nothing is deleted.")
@json_option
def restore(backup: Path, into: Path | None, *, replace: bool, as_json: bool) -> None:
    """Restore the folder BACKUP of `tidemark backup` into the project, or into a new FOLDER.

    Stop all services of the project first. Each file is checked before anything is written. The state store, Dagster's
    storage and, from a backup with the lake, the tables go to the places in the settings. The project's own files are
    written only with --into. If a store, a storage or a table exists already, nothing is written, unless --replace
    moves it aside.

    Then run `tidemark doctor --after-restore`, which makes state store, Dagster and lake consistent.

    \b
      tidemark restore ~/backups/2026-03-29 --into ~/restored
      tidemark restore ~/backups/2026-03-29 --replace
    \b
    Exit codes: 0 restored; 1 the backup is missing, changed or of a later version, or its place is not empty;
                2 wrong usage.
    With --json: {"backup", "made_at", "root", "files", "bytes", "with_lake", "replaced": {BEFORE: NOW},
                  "left_out": {FILE: why}, "shared_lake"}; the last one names a lake outside of FOLDER that the
                  original project uses too.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.backup.manifest import BackupManifest  # noqa: PLC0415 - keeps --help fast
    from tidemark.backup.restore_backup import RestoreTarget, restore_backup, settings_in  # noqa: PLC0415
    from tidemark.console.dagster_server.dagster_home import dagster_home  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415

    folder = backup.expanduser().absolute()
    manifest = BackupManifest.read(folder)
    root = into.expanduser().absolute() if into else None
    settings = settings_in(folder, root, os.environ) if root else Settings.load()
    home = dagster_home(settings, os.environ)
    target = RestoreTarget.of(folder, settings, home, os.environ, is_new=root is not None)
    tell = (lambda _: None) if as_json else print_line
    report = restore_backup(folder, manifest, target, datetime.now(UTC), tell, replace=replace)
    if as_json:
        print_json(_as_data(folder, settings.root, report))
    else:
        _print(settings.root, report)
    raise SystemExit(ExitCode.OK)


def _as_data(backup: Path, root: Path, report: RestoreReport) -> dict[str, object]:
    manifest = report.manifest
    return {
        "backup": str(backup),
        "made_at": manifest.made_at,
        "root": str(root),
        "files": len(manifest.files),
        "bytes": manifest.size_bytes,
        "with_lake": manifest.with_lake,
        "replaced": dict(report.replaced),
        "left_out": manifest.left_out,
        "shared_lake": report.shared_lake,
    }


def _print(root: Path, report: RestoreReport) -> None:
    for before, now in report.replaced:
        print_line(f"moved aside: {before} is now {now}", "yellow")
    for file, why in report.manifest.left_out.items():
        print_line(f"was not in the backup: {file} ({why})", "yellow")
    if report.shared_lake:
        use = "do not run services of both; TIDEMARK_WAREHOUSE names another lake"
        print_line(f"{report.shared_lake} is also the lake of the original project: {use}", "yellow")
    print_line(f"{root} is restored to its state at {report.manifest.made_at}", "bold")
    print_line("next: tidemark doctor --after-restore")
