"""`tidemark backfill`: compute slices again, with everything that was built from them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.asked_slices import asked_slices, confirm
from tidemark.console.entity_argument import entity_argument
from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line, print_table
from tidemark.dependency_model.subject import MAX_SLICES
from tidemark.system.account import account_name

if TYPE_CHECKING:
    from tidemark.center.backfill_preview import BackfillPreview
    from tidemark.console.backfill_planner import BackfillPlanner
    from tidemark.state_store.backfills import BackfillRequest


@click.command(cls=ActionCommand)
@entity_argument()
@click.argument("slices")
@click.option("--reason", default="", metavar="TEXT", help="The reason; stored with the backfill.")
@click.option("--author", default=account_name, show_default="you", help="Your name; stored with the backfill.")
@click.option("--dry-run", is_flag=True, help="Show the plan without storing it.")
@click.option("--approve", is_flag=True, help="Start at once.  [default: `tidemark backfills approve NUMBER` starts]")
@click.option("--until", type=click.DateTime(), help="Only slices that begin before this (UTC).  [default: now]")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation of more than 1,000 slices.")
@json_option
def backfill(
    entity: str,
    slices: str,
    *,
    reason: str,
    author: str,
    dry_run: bool,
    approve: bool,
    until: datetime | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Plan to compute slices again, in waves, with everything that was built from them.

    Write SLICES as for `tidemark impact`. Each slice is computed once, after its inputs. `reprocess` of its entity
    applies: `if_changed` stops if the input has the same rows as before, `never` keeps the slice, `ask` waits for
    `tidemark backfills decide`. Slices of other systems (`kind: Virtual`, captured tables) are not computed, only the
    slices built from them. A slice keeps its data until its own run.

    The plan gets a number. After you approve it, the center (`tidemark up`, `tidemark center`) carries it out, in runs
    with the tag tidemark/backfill. Other slices go first: backfills use at most half of a pool. A slice of two
    backfills belongs to the earlier one until that is done with it.

    \b
      tidemark backfill entity_3 2026-03-29T05..2026-03-29T14 --reason "the feed repeated itself"
      tidemark backfills approve 1
    \b
    Exit codes: 0 planned; 1 unknown entity or slice, or nothing was ever computed; 2 wrong usage;
                75 the state store does not answer.
    With --json: {"number", "phase", "dry_run", "waves", "runs", "slices": [{"slice", "wave", "policy", "root",
                  "given"}], "estimate": {"slices", "p50_seconds", "p90_seconds", "p99_seconds", "work_seconds"},
                  "also_in": {NUMBER: SLICES}}; number is null in a dry run.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.console.backfill_planner import BackfillPlanner  # noqa: PLC0415 - keeps --help fast
    from tidemark.state_store.backfills import BackfillRequest  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415

    if dry_run and approve:
        raise click.UsageError("--dry-run starts nothing: leave out --approve")
    now = datetime.now(UTC)
    planner = BackfillPlanner.of(Settings.load(), now)
    roots = asked_slices(planner.graph, entity, slices, yes=yes)
    preview = planner.plan(roots, until.replace(tzinfo=UTC) if until else now)
    rebuilt = len(preview.planned.rebuilt)
    if approve and not yes and rebuilt > max(MAX_SLICES, len(roots)):
        confirm(f"{rebuilt:,} slices would be rebuilt")
    request = BackfillRequest(author, reason, f"{entity} {slices}")
    keep_and_tell(planner, preview, request, is_kept=not dry_run, is_begun=approve, as_json=as_json)
    planner.close()
    raise SystemExit(ExitCode.OK)


def keep_and_tell(
    planner: BackfillPlanner,
    preview: BackfillPreview,
    request: BackfillRequest,
    *,
    is_kept: bool,
    is_begun: bool,
    as_json: bool,
) -> None:
    """Store the plan, or only print it."""
    from tidemark.api.backfill_models import planned_model  # noqa: PLC0415 - keeps --help fast
    from tidemark.console.backfill_planner import summary, table_rows  # noqa: PLC0415
    from tidemark.dependency_model.backfill import BackfillPhase  # noqa: PLC0415

    phase = BackfillPhase.RUNNING if is_begun else BackfillPhase.PLANNED
    number = planner.backfills.add(preview.planned, request, phase) if is_kept else None
    if as_json:
        print_json(planned_model(preview, number, phase).model_dump(mode="json"))
        return
    print_table(["wave", "entity", "reprocess", "pool", "slices", ""], table_rows(planner.graph, preview))
    print_line(summary(preview), "bold")
    for other, count in preview.also_in.items():
        print_line(f"{count:,} of them are also in backfill {other}, which goes first", "yellow")
    if number is None:
        print_line("this was a dry run")
    elif is_begun:
        print_line(f"backfill {number} runs while a center runs: tidemark backfills show {number}")
    else:
        print_line(f"backfill {number} is planned. To start it: tidemark backfills approve {number}")
