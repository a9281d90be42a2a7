"""`tidemark delta repair`: restore or recompute one partition."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.entity_argument import entity_argument
from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.compute.repair import PlannedRepair
    from tidemark.compute.runtime import Runtime
    from tidemark.compute.slice_computer import ComputedSlice
    from tidemark.system.settings import Settings


@click.command(cls=ActionCommand)
@entity_argument()
@click.argument("partition", metavar="SLICE|COLUMN=VALUE")
@click.option("--from-version", type=int, help="The version with the right partition.")
@click.option("--from-tag", metavar="TAG", help="The tag of the version with the right partition.")
@click.option("--recompute", is_flag=True, help="Compute it again from its inputs instead.")
@click.option("--dry-run", is_flag=True, help="Show the changes without making them.")
@json_option
def repair(
    entity: str,
    partition: str,
    *,
    from_version: int | None,
    from_tag: str | None,
    recompute: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Restore one partition of a table from an older version; other partitions do not change.

    A partition of a computed table is a slice; for a captured table, name it by its column. The files of the older
    version are put back if they still exist, without reading or writing rows. If the schema changed since, the rows are
    written again. The result is a new version, so you can undo it in the same way. If another writer changes the
    partition at the same moment, the repair stops without a change. Then the rules of the slice are checked, and the
    slices downstream follow their policies.

    \b
      tidemark delta repair dws_course_orders_1d 2026-03-23 --from-version 0 --dry-run
      tidemark delta repair dws_course_orders_1d 2026-03-23 --recompute
      tidemark delta repair ods_orders order_date=2026-03-23 --from-tag 2026-03-28

    \b
    Exit codes: 0 done, or nothing to do; 1 unknown table, slice, version or name, its files are gone, or the slice
                still breaks a rule; 2 wrong usage; 75 another writer or repair works on the partition: try again.
    With --json: {"entity", "partition", "way", "reason", "from_version", "version", "dry_run", "rows_before",
                  "rows_after", "files_removed", "bytes_removed", "files_restored", "bytes_restored", "files_written",
                  "bytes_written", "downstream_count", "downstream"}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    if sum([from_version is not None, from_tag is not None, recompute]) != 1:
        raise click.UsageError("give one of --from-version, --from-tag and --recompute")
    from tidemark.compute.repair import RepairRequest, carry_out, plan  # noqa: PLC0415
    from tidemark.compute.runtime import Runtime  # noqa: PLC0415
    from tidemark.dagster.jobs.repair import as_data  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415 - Spark and Dagster load for seconds; --help must not
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    settings = Settings.load()
    runtime = Runtime(load_warehouse(settings))
    request = RepairRequest(entity, partition, from_version, from_tag, recompute)
    planned, report = plan(runtime, request, datetime.now(UTC)), None
    if not dry_run:
        report, written = carry_out(runtime, planned)
        _tell(settings, runtime, planned, written)
    told = as_data(entity, planned, report)
    if as_json:
        print_json(told)
    else:
        _print(told)
    raise SystemExit(ExitCode.OK)


def _tell(settings: Settings, runtime: Runtime, planned: PlannedRepair, written: ComputedSlice | None) -> None:
    """Report the repair to Dagster's event log, which the center reads."""
    import dagster as dg  # noqa: PLC0415

    from tidemark.console.dagster_server.dagster_home import dagster_home, prepare_home  # noqa: PLC0415
    from tidemark.dagster.jobs.repair import tell_repair  # noqa: PLC0415

    home = dagster_home(settings, os.environ)
    prepare_home(settings, home)
    with dg.DagsterInstance.from_config(str(home)) as instance:
        tell_repair(instance, runtime, planned, written)


def _print(told: Mapping[str, Any]) -> None:
    where = ", ".join(f"{name}={value}" for name, value in told["partition"].items())
    source = "its inputs" if told["from_version"] is None else f"version {told['from_version']}"
    print_line(f"{told['entity']} {where} from {source}: {told['way']} ({told['reason']})", "bold")
    after = "unknown" if told["rows_after"] is None else str(told["rows_after"])
    print_table(
        ["", "rows", "files", "bytes"],
        [
            ["goes", "", str(told["files_removed"]), str(told["bytes_removed"])],
            ["comes back", "", str(told["files_restored"]), str(told["bytes_restored"])],
            ["is written", "", str(told["files_written"]), str(told["bytes_written"])],
            ["before", str(told["rows_before"]), "", ""],
            ["after", after, "", ""],
        ],
    )
    if told["downstream"]:
        more = f" and {told['downstream_count'] - 8} more" if told["downstream_count"] > 8 else ""
        print_line(f"built from it: {', '.join(told['downstream'][:8])}{more}")
    print_line("nothing was changed: this was a dry run" if told["dry_run"] else f"it is version {told['version']}")
