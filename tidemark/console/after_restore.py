"""`tidemark doctor --after-restore`: the plan that brings state store, Dagster and lake together, and its execution."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.center.after_restore import AfterRestore
from tidemark.center.backfill_planning import plan_of
from tidemark.center.restore_step import BY_CAPTURE, RestoreStep, StepKind
from tidemark.console.dagster_server.dagster_home import dagster_home, prepare_home
from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import print_json, print_line
from tidemark.dependency_model.backfill import BackfillPhase
from tidemark.state_store.backfills import BackfillRequest, Backfills
from tidemark.state_store.store import StateStore
from tidemark.system.account import account_name
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from tidemark.warehouse.warehouse import Warehouse

_SHOWN: Final = 5
_ASKED: Final = "doctor --after-restore"


def bring_together(*, is_applied: bool, as_json: bool) -> ExitCode:
    """Show the plan for this process's project; with `is_applied` carry it out."""
    settings = Settings.load()
    home = dagster_home(settings, os.environ)
    prepare_home(settings, home)
    warehouse, store = load_warehouse(settings), StateStore.of(settings)
    try:
        with dg.DagsterInstance.from_config(str(home)) as instance:
            compared = AfterRestore(warehouse, store, instance)
            steps, number = compared.plan(), None
            if steps and is_applied:
                compared.apply()
                number = _backfill(warehouse, store, compared)
    finally:
        store.close()
    _tell(steps, number, is_applied=is_applied, as_json=as_json)
    by_others = {*BY_CAPTURE, *(() if not is_applied else set(StepKind) - {StepKind.SEE_TO})}
    return ExitCode.OK if all(step.kind in by_others for step in steps) else ExitCode.FAILED


def _backfill(warehouse: Warehouse, store: StateStore, compared: AfterRestore) -> int | None:
    """Plan a backfill and return its number; None if nothing has to be computed again."""
    roots = compared.to_compute()
    if not roots:
        return None
    planned = plan_of(warehouse.graph, store, roots, datetime.now(UTC))
    request = BackfillRequest(account_name(), "a backup was restored", _ASKED)
    return Backfills(store.database).add(planned, request, BackfillPhase.RUNNING)


def _tell(steps: list[RestoreStep], number: int | None, *, is_applied: bool, as_json: bool) -> None:
    if as_json:
        plan = [
            {"do": step.kind.value, "why": step.why, "names": list(step.names), "slices": list(map(str, step.slices))}
            for step in steps
        ]
        print_json({"plan": plan, "applied": is_applied, "backfill": number})
        return
    for step in steps:
        print_line(f"{step.kind.value}: {_named(step)}{step.why}", "bold red" if step.kind is StepKind.SEE_TO else "")
    if all(step.kind in BY_CAPTURE for step in steps):
        print_line("State store, Dagster and lake agree." + (" The capture does the rest." if steps else ""))
    elif not is_applied:
        print_line("Nothing was changed. To carry this out: tidemark doctor --after-restore --apply", "bold")
    elif number is None:
        print_line("Done. Start the services.", "bold")
    else:
        print_line(f"Done. Start the services. Backfill {number} computes the wrong slices again.", "bold")


def _named(step: RestoreStep) -> str:
    names = [*step.names, *map(str, step.slices)]
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more} - " if names else ""
