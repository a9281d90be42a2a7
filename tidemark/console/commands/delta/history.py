"""`tidemark delta history`: the versions of a table."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import click

from tidemark.console.commands.delta.table_path import table_path
from tidemark.console.entity_argument import entity_argument
from tidemark.console.output import json_option, print_json, print_table
from tidemark.dependency_model.time.zone import zone_info

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo

    from tidemark.system.settings import Settings

_ROWS: Final = ("numOutputRows", "num_added_rows", "num_output_rows")
"""Names of the metric with written rows in commits of Spark and of delta-rs."""


@click.command()
@entity_argument("table")
@click.option(
    "--limit",
    default=20,
    show_default=True,
    type=click.IntRange(min=1),
    help="How many of the newest versions to list.",
)
@json_option
def history(table: str, *, limit: int, as_json: bool) -> None:
    """List the versions of a TABLE (an entity, or a path with a /), newest first, with operations and tags.

    `tidemark delta repair --from-version` takes a partition from one of them. A version can be read while it is tagged
    or young enough: `tidemark delta vacuum --dry-run` shows which versions are kept.

    \b
    Exit codes: 0 listed, 1 unknown table, 2 wrong usage.
    With --json: {"table", "versions": [{"version", "time", "operation", "rows", "tags": [...]}]}; rows is the number
    of rows that the commit wrote, null if unknown; time is in UTC.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.delta.open_table import open_table  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.settings import Settings  # noqa: PLC0415

    settings = Settings.load()
    commits = open_table(table_path(table)).history(limit)
    tags = {} if "/" in table else _tags(settings, table)
    versions = [_version(commit, tags) for commit in sorted(commits, key=_number, reverse=True)]
    if as_json:
        print_json({"table": table, "versions": versions})
    else:
        zone = zone_info(settings.time_zone)
        print_table(
            ["version", f"time ({settings.time_zone})", "operation", "rows", "tags"],
            [_row(version, zone) for version in versions],
        )


def _number(commit: Mapping[str, Any]) -> int:
    return int(commit["version"])


def _tags(settings: Settings, entity: str) -> dict[int, list[str]]:
    """Tags of the entity's table by version; empty for a table without an entity."""
    from tidemark.compute.table_version_tags import tags_of  # noqa: PLC0415
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.state_store.snapshot_registry import SnapshotRegistry  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    warehouse = load_warehouse(settings)
    tags: dict[int, list[str]] = {}
    if entity in warehouse.entities:
        for tag in tags_of(warehouse, SnapshotRegistry(Database.of(settings)), entity):
            tags.setdefault(tag.version, []).append(tag.slice)
    return tags


def _version(commit: Mapping[str, Any], tags: Mapping[int, list[str]]) -> dict[str, Any]:
    metrics = commit.get("operationMetrics") or {}
    rows = next((int(metrics[name]) for name in _ROWS if name in metrics), None)
    number = _number(commit)
    return {
        "version": number,
        "time": datetime.fromtimestamp(commit["timestamp"] / 1000, UTC).isoformat(timespec="seconds"),
        "operation": commit["operation"],
        "rows": rows,
        "tags": tags.get(number, []),
    }


def _row(version: Mapping[str, Any], zone: tzinfo) -> list[str]:
    time = datetime.fromisoformat(version["time"]).astimezone(zone)
    rows = "" if version["rows"] is None else str(version["rows"])
    return [
        str(version["version"]),
        f"{time:%Y-%m-%d %H:%M:%S}",
        version["operation"],
        rows,
        ", ".join(version["tags"]),
    ]
