"""`tidemark apply`: a backfill of the slices that a change of code made outdated, or a rebuilt table."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.asked_slices import asked_slices, confirm
from tidemark.console.commands.backfill import keep_and_tell
from tidemark.console.entity_argument import declared_names
from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, plural, print_json, print_line
from tidemark.dependency_model.subject import MAX_SLICES
from tidemark.system.account import account_name

if TYPE_CHECKING:
    from tidemark.catalog.code_plan import CodePlan
    from tidemark.state_store.store import StateStore
    from tidemark.warehouse.warehouse import Warehouse


@click.command(cls=ActionCommand)
@click.argument("entities", nargs=-1, metavar="[ENTITY]...", shell_complete=declared_names)
@click.option(
    "--slices",
    metavar="SLICES",
    help="Only these slices of each ENTITY, written as in `tidemark impact`.  [default: all]",
)
@click.option("--reason", default="its code changed", show_default=True, metavar="TEXT", help="Why.")
@click.option("--author", default=account_name, show_default="you", help="Your name; stored with the backfill.")
@click.option("--dry-run", is_flag=True, help="Show the plan without storing it.")
@click.option("--approve", is_flag=True, help="Start at once.  [default: `tidemark backfills approve NUMBER` starts]")
@click.option("--rebuild", is_flag=True, help="Rebuild the table of ENTITY: its period or its types changed.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation of more than 1,000 slices.")
@json_option
def apply(
    entities: tuple[str, ...],
    *,
    slices: str | None,
    reason: str,
    author: str,
    dry_run: bool,
    approve: bool,
    rebuild: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Plan a backfill of the outdated slices that `tidemark plan` lists, and of the slices built from them.

    It is one backfill in waves: each slice is computed once, and `reprocess` of each entity applies. Slices downstream
    are included only if they use a changed column. With ENTITY, only the outdated slices of these entities are
    included. Runs use the code that Dagster has loaded, so deploy the change first.

    With --rebuild this command itself rebuilds the table of one ENTITY, because no run can write to it: its period
    changed, or a column has another type. It computes every slice whose inputs are there into a table beside the old
    one, and one commit swaps them. Readers see the old table or the new one. Then the slices downstream follow their
    policies. If the command is killed, repeat it. The old rows stay in older versions until a VACUUM.

    \b
    Examples:
      tidemark apply --dry-run
      tidemark apply dws_course_attendance_1d --rebuild
      tidemark apply dws_course_attendance_1d --slices 2026-03-01..2026-03-31 --approve
    \b
    Exit codes: 0 planned, rebuilt, or no slice is outdated; 1 unknown entity or slice, a query is broken, or the table
                cannot be rebuilt; 2 wrong usage; 75 the state store does not answer, or another process changed the
                table.
    With --json what `tidemark backfill --json` says; {"number": null, "slices": []} if no slice is outdated.
                With --rebuild {"entity", "version", "slices": [...], "waiting": [...]}; version is null in a dry run.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.catalog.code_plan import CodePlan  # noqa: PLC0415 - keeps --help fast
    from tidemark.state_store.store import StateStore  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    if dry_run and approve:
        raise click.UsageError("--dry-run starts nothing: leave out --approve")
    if slices and not entities:
        raise click.UsageError("--slices needs an ENTITY")
    if rebuild and (len(entities) != 1 or slices or approve):
        raise click.UsageError("--rebuild needs one ENTITY, without --slices and --approve")
    settings, told, store = Settings.load(), CodePlan((), {}), None
    warehouse = load_warehouse(settings)
    for name in entities:
        warehouse.graph.entity(name)
    if rebuild:
        _rebuild(warehouse, entities[0], is_done=not dry_run, as_json=as_json)
        raise SystemExit(ExitCode.OK)
    if settings.state or settings.state_db.exists():
        store = StateStore.of(settings)
        told = _plan(warehouse, store, entities, slices, yes=yes)
    if store is None or not told.slices:
        _tell_nothing(as_json=as_json)
        raise SystemExit(ExitCode.OK)
    if approve and not yes and len(told.slices) > MAX_SLICES:
        confirm(f"{len(told.slices):,} slices would be rebuilt")
    asked = f"apply {' '.join(entities)}{f' --slices {slices}' if slices else ''}".strip()
    _keep(warehouse, store, told, (author, reason, asked), is_kept=not dry_run, is_begun=approve, as_json=as_json)
    store.close()
    raise SystemExit(ExitCode.OK)


def _rebuild(warehouse: Warehouse, entity: str, *, is_done: bool, as_json: bool) -> None:
    """Rebuild the table in this process, or only say which slices it would have."""
    import dagster as dg  # noqa: PLC0415 - keeps --help fast

    from tidemark.compute.rebuild import require_rebuildable  # noqa: PLC0415
    from tidemark.compute.runtime import Runtime  # noqa: PLC0415
    from tidemark.console.dagster_server.dagster_home import dagster_home, prepare_home  # noqa: PLC0415
    from tidemark.dagster.jobs.rebuild import TableRebuild  # noqa: PLC0415

    home = dagster_home(warehouse.settings, os.environ)
    prepare_home(warehouse.settings, home)
    with dg.DagsterInstance.from_config(str(home)) as instance:
        runtime = Runtime(warehouse)
        rebuild = TableRebuild(instance, runtime, entity)
        require_rebuildable(runtime, rebuild.planned)
        computed = rebuild.carry_out() if is_done else []
    version = computed[0].metrics.version if computed else None
    slices, waiting = rebuild.planned.slices, rebuild.planned.waiting
    if as_json:
        told = {"slices": [*map(str, slices)], "waiting": [*map(str, waiting)]}
        print_json({"entity": entity, "version": version, **told})
        return
    ends = slices[0].key if len(slices) == 1 else f"{slices[0].key} .. {slices[-1].key}"
    print_line(f"{entity}: {plural(len(slices), 'slice')} ({ends})", "bold")
    if waiting:
        print_line(f"{plural(len(waiting), 'slice')} without all inputs: the center computes them later", "yellow")
    print_line("this was a dry run" if version is None else f"the table was rebuilt: it is version {version}")


def _plan(warehouse: Warehouse, store: StateStore, names: tuple[str, ...], text: str | None, *, yes: bool) -> CodePlan:
    from tidemark.catalog.code_plan import code_plan  # noqa: PLC0415 - keeps --help fast
    from tidemark.console.spark_analysis import SparkAnalysis  # noqa: PLC0415
    from tidemark.state_store.code_registry import CodeRegistry  # noqa: PLC0415

    only = None
    if text:
        only = frozenset(slice_ for name in names for slice_ in asked_slices(warehouse.graph, name, text, yes=yes))
    clocks, now = SparkAnalysis(warehouse).goes_by_clock, datetime.now(UTC)
    return code_plan(warehouse, CodeRegistry(store.database), store.read, now, names, only, clocks)


def _keep(
    warehouse: Warehouse,
    store: StateStore,
    told: CodePlan,
    request: tuple[str, str, str],
    *,
    is_kept: bool,
    is_begun: bool,
    as_json: bool,
) -> None:
    from tidemark.center.pools import Pools  # noqa: PLC0415 - keeps --help fast
    from tidemark.console.backfill_planner import BackfillPlanner  # noqa: PLC0415
    from tidemark.dependency_model.backfill import plan_backfill  # noqa: PLC0415
    from tidemark.state_store.backfills import BackfillRequest  # noqa: PLC0415

    roots = dict.fromkeys(slice_ for planned in told.entities for slice_ in planned.outdated)
    there = [slice_ for slice_ in told.slices if slice_ not in roots]
    statuses = {current.slice: current.status for current in store.read.currents(told.slices)}
    planner = BackfillPlanner(warehouse.graph, store, Pools.parse(warehouse.settings.pools), datetime.now(UTC))
    preview = planner.preview(plan_backfill(warehouse.graph, roots, there, statuses, store.read.reads(there)))
    keep_and_tell(planner, preview, BackfillRequest(*request), is_kept=is_kept, is_begun=is_begun, as_json=as_json)


def _tell_nothing(*, as_json: bool) -> None:
    if as_json:
        print_json({"number": None, "slices": []})
    else:
        print_line("no slice is outdated", "green")
