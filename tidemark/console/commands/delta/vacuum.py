"""`tidemark delta vacuum`: deletes the files that no version needs any more."""

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
@click.option("--keep-versions", type=click.IntRange(1), default=10, show_default=True, help="The last so many stay.")
@click.option("--keep-age", type=_Age(), default="7d", show_default=True, help="What was readable since then stays.")
@click.option("--dry-run", is_flag=True, help="Say what would be deleted and what is kept, and delete nothing.")
@json_option
def vacuum(entity: str, *, keep_versions: int, keep_age: timedelta, dry_run: bool, as_json: bool) -> None:
    """Delete the files of versions that nobody needs any more.

    Kept are the last versions, those that could be read in the time given, and however old they are, those that have a
    name, that a program is reading at this moment, or that a replication has not copied yet. A dry run says which
    version is kept for which reason, and how many bytes would go with it alone.

    \b
    Exit codes: 0 done, 1 no such table, 2 called wrongly, 75 the table is being repaired or vacuumed, try again.
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
    print_table(["version kept", "bytes of it alone", "because"], rows)
    would = "would be deleted" if told["dry_run"] else "were deleted"
    print_line(f"{told['files_deleted']} files, {told['bytes_deleted']} bytes {would}")
    print_line(f"{told['history_bytes']} bytes are kept beside the {told['live_bytes']} of version {told['version']}")
