"""`tidemark delta vacuum`: delete the files that no version needs any more."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.entity_argument import entity_argument
from tidemark.console.output import json_option, print_json, print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping


_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


class _Age(click.ParamType[timedelta]):
    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        match = re.fullmatch(r"(\d+)([hdw])", str(value))
        if not match:
            self.fail(f"expected hours, days or weeks such as 12h, 7d, 4w, found {value!r}", param, ctx)
        return timedelta(**{_UNITS[match[2]]: int(match[1])})


@click.command(cls=ActionCommand)
@entity_argument()
@click.option(
    "--keep-versions",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="How many of the last versions to keep.",
)
@click.option(
    "--keep-age", type=_Age(), default="7d", show_default=True, help="Keep what was readable within this time."
)
@click.option("--dry-run", is_flag=True, help="Show what would be deleted and kept, without deleting.")
@json_option
def vacuum(entity: str, *, keep_versions: int, keep_age: timedelta, dry_run: bool, as_json: bool) -> None:
    """Delete the files of versions that are no longer needed.

    It keeps the last versions, and versions that were readable within the given time. At any age, it keeps versions
    that are tagged, being read, or not replicated yet. A dry run shows why each version is kept, and how many bytes
    only
    this version uses.

    \b
    Exit codes: 0 done, 1 unknown table, 2 wrong usage, 75 the table is being repaired or vacuumed, try again.
    With --json: {"entity", "version", "dry_run", "kept": [{"version", "reasons", "only_bytes"}], "files_deleted",
                  "bytes_deleted", "live_bytes", "history_bytes"}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.compute.vacuum import plan_entity_vacuum, vacuum_as_data, vacuum_entity  # noqa: PLC0415
    from tidemark.delta.retention import Retention  # noqa: PLC0415 - keeps --help fast
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.state_store.snapshot_registry import SnapshotRegistry  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    settings = Settings.load()
    warehouse, registry = load_warehouse(settings), SnapshotRegistry(Database.of(settings))
    run = plan_entity_vacuum if dry_run else vacuum_entity
    told = vacuum_as_data(entity, run(warehouse, registry, entity, Retention(keep_versions, keep_age)), dry_run)
    if as_json:
        print_json(told)
    else:
        _print(told)


def _print(told: Mapping[str, Any]) -> None:
    rows = [
        [str(version["version"]), str(version["only_bytes"]), "; ".join(version["reasons"])] for version in told["kept"]
    ]
    print_table(["version kept", "own bytes", "because"], rows)
    would = "would be deleted" if told["dry_run"] else "were deleted"
    print_line(f"{told['files_deleted']} files, {told['bytes_deleted']} bytes {would}")
    print_line(
        f"{told['history_bytes']} bytes are kept for older versions, and {told['live_bytes']} "
        f"for version {told['version']}"
    )
