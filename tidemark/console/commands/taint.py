"""`tidemark taint`: mark slices as wrong, with everything that was built from them."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.asked_slices import asked_slices
from tidemark.console.entity_argument import entity_argument
from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line, print_table
from tidemark.system.account import account_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tidemark.dependency_model.impact.taint_plan import TaintPlan
    from tidemark.dependency_model.slice import Slice


@click.command(cls=ActionCommand)
@entity_argument()
@click.argument("slices")
@click.option("--reason", required=True, metavar="TEXT", help="What is wrong; stored with each slice.")
@click.option("--author", default=account_name, show_default="you", help="Your name; stored with each slice.")
@click.option("--dry-run", is_flag=True, help="Show the slices without marking them.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation of more than 1,000 slices.")
@json_option
def taint(entity: str, slices: str, *, reason: str, author: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Mark slices as wrong, with all slices that were built from them.

    It follows what the runs read, by generation. Slices that were built from another generation, or without these
    slices, are not marked. If a run did not record its inputs, the declarations decide. Slices that wait for a tainted
    one keep waiting; nothing is deleted. A slice is clean again when it was computed from clean inputs. Write SLICES as
    for `tidemark impact`.

    You may repeat the command: marked slices stay marked, and an interrupted call is completed.

    \b
      tidemark taint entity_3 2026-03-29T05..2026-03-29T14 --reason "the feed repeated itself" --dry-run
    \b
    Exit codes: 0 marked, or there was nothing to mark; 1 unknown entity or slice, or nothing was ever computed;
                2 wrong usage; 75 the state store does not answer, or other processes write to it all the time.
    With --json: {"dry_run", "author", "reason", "marked": [{"slice", "because"}], "tainted_before": [...],
                  "not_there": [...], "left_alone": [...]}; because is the slice that it read.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.center.taint import Taint, carry_out, plan_taint  # noqa: PLC0415 - keeps --help fast
    from tidemark.console.errors import NothingComputedError  # noqa: PLC0415
    from tidemark.state_store.store import StateStore  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    settings = Settings.load()
    graph = load_warehouse(settings).graph
    causes = asked_slices(graph, entity, slices, yes=yes)
    if not settings.state and not settings.state_db.exists():
        raise NothingComputedError("nothing is computed yet, so there is nothing to mark")
    store, asked = StateStore.of(settings), Taint(causes, author, reason, datetime.now(UTC))
    plan = (plan_taint if dry_run else carry_out)(graph, store, asked)
    store.close()
    if as_json:
        marked = [{"slice": str(slice_), "because": str(cause)} for slice_, cause in plan.marked.items()]
        head = {"dry_run": dry_run, "author": author, "reason": reason, "marked": marked}
        print_json({**head, **{name: list(map(str, those)) for name, those in _others(plan)}})
    else:
        _print(plan, dry_run=dry_run)
    raise SystemExit(ExitCode.OK)


def _others(plan: TaintPlan) -> Iterator[tuple[str, Iterable[Slice]]]:
    yield "tainted_before", plan.known
    yield "not_there", plan.absent
    yield "left_alone", plan.left_alone


def _print(plan: TaintPlan, *, dry_run: bool) -> None:
    rows = []
    for what, slices in (("tainted", plan.marked), *_others(plan)):
        for name, group in groupby(sorted(slices), key=lambda slice_: slice_.entity):
            those = list(group)
            ends = those[0].key if len(those) == 1 else f"{those[0].key} .. {those[-1].key}"
            rows.append([what.replace("_", " "), name, str(len(those)), ends])
    print_table(["", "entity", "slices", ""], rows, ["red" if row[0] == "tainted" else "" for row in rows])
    verb = "would be tainted: this was a dry run" if dry_run else "are tainted now"
    print_line(f"{len(plan.marked):,} slices {verb}", "bold")
