"""`tidemark upkeep`: remove old runs from Dagster's storage now."""

from __future__ import annotations

import os
from contextlib import closing
from datetime import UTC, datetime
from itertools import chain, islice

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.output import json_option, print_json, print_line

_AT_ONCE = 200


@click.command(cls=ActionCommand)
@click.option("--dry-run", is_flag=True, help="Only count the runs.")
@click.option("--most", default=10_000, show_default=True, type=click.IntRange(min=1), help="The most runs to remove.")
@json_option
def upkeep(most: int, *, dry_run: bool, as_json: bool) -> None:
    """Remove runs that ended more than `runs_days` days ago from Dagster's storage, oldest first.

    The center does the same in small steps while it runs. The command is for a storage that is already large.

    A run is removed with its events and its printed output. The newest materialization of each partition stays, so
    Dagster's pages and the status of slices do not change. These runs stay too: active runs, runs of an active slice or
    of an open backfill, runs of assets that this project does not compute, and runs whose events the center has not
    read yet. With `runs_days: 0` all runs stay.

    \b
      tidemark upkeep --dry-run
      tidemark upkeep --most 100000
    \b
    Exit codes: 0 done; 2 wrong usage; 75 the state store does not answer.
    With --json: {"runs", "files", "dry_run", "runs_days"}: removed runs (with --dry-run, runs to remove), and removed
                  files of events without a run.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    import dagster as dg  # noqa: PLC0415 - keeps --help fast

    from tidemark.center.old_runs import OldRuns  # noqa: PLC0415
    from tidemark.console.dagster_server.dagster_home import dagster_home, prepare_home  # noqa: PLC0415
    from tidemark.dagster_internals.long_lived_connections import keep_connections  # noqa: PLC0415
    from tidemark.dagster_internals.stored_runs import remove_runs  # noqa: PLC0415
    from tidemark.state_store.store import StateStore  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    settings, now = Settings.load(), datetime.now(UTC)
    home = dagster_home(settings, os.environ)
    prepare_home(settings, home)
    warehouse, files = load_warehouse(settings), 0
    with closing(StateStore.of(settings)) as store, dg.DagsterInstance.from_config(str(home)) as instance:
        keep_connections(instance)
        old = OldRuns(warehouse, store)
        runs = list(islice(chain.from_iterable(old.pages(instance, now, _AT_ONCE)), most))
        if not dry_run:
            for start in range(0, len(runs), _AT_ONCE):
                remove_runs(instance, runs[start : start + _AT_ONCE])
            files = old.remove_files(instance, now, most)
    if as_json:
        print_json({"runs": len(runs), "files": files, "dry_run": dry_run, "runs_days": settings.runs_days})
        return
    verb = "to remove" if dry_run else "removed"
    print_line(f"{len(runs):,} runs older than {settings.runs_days} days {verb}, {files:,} files without a run removed")
