"""`tidemark take-over`: compute the flows of another center here, or take flows back."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.output import json_option, print_json, print_line, print_table
from tidemark.dependency_model.time.zone import zone_info
from tidemark.system.account import account_name

if TYPE_CHECKING:
    from tidemark.state_store.database import Database
    from tidemark.system.settings import Settings
    from tidemark.warehouse.warehouse import Warehouse

_HEADINGS: Final = ("flows of", "computed by", "term", "since", "this center", "why")


@click.command(cls=ActionCommand)
@click.argument("center", required=False)
@click.option("--lost", is_flag=True, help="Do not wait for the center that has the flows: it is lost.")
@click.option("--reason", default="", metavar="TEXT", help="Why; stored with the term.")
@click.option("--author", default=account_name, show_default="you", help="Your name; stored with the term.")
@click.option(
    "--wait", default=600, show_default=True, type=click.IntRange(0, 86_400), help="The most seconds to wait."
)
@click.option("--status", is_flag=True, help="Only show which center computes which flows.")
@json_option
def take_over(
    center: str | None, *, lost: bool, reason: str, author: str, wait: int, status: bool, as_json: bool
) -> None:
    """Compute the flows of CENTER here: after its loss, or to take them back.

    The flows are the tables with `center: CENTER`. The command writes a new term to the lakes of both centers. The
    center that has the flows then starts nothing more, ends its runs, replicates their slices and confirms. After that,
    this center fences the tables' logs, takes in what was published, and begins. Restart the processes of both centers:
    they have other roles then.

    With --lost, this center does not wait for a confirmation. The lost center stops by itself: it needs a look at the
    terms of all lakes, not older than a minute, for each launch, commit and copy. This center begins two minutes after
    the term. If the lost center comes back, it sees the term before it starts anything.

    Repeat the command after a crash or the end of --wait: it goes on where it was.

    \b
      tidemark take-over center_a --lost --reason "power failure"
      tidemark take-over center_a --reason "it is back"        (in center_a)
      tidemark take-over --status

    \b
    Exit codes: 0 this center has the flows; 1 refused; 2 wrong usage;
                75 the other center has not confirmed yet, or a lake or the state store does not answer.
    With --json: {"flows", "term", "holder", "before", "is_lost", "begun_at", "taken_in": [slice]};
                  with --status {"flows": [{"flows", "term", "holder", "since", "permission", "why", "troubles": []}]}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.center.take_over import TakeOver, TakeOverOrder  # noqa: PLC0415 - keeps --help fast
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.state_store.store import StateStore  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    if (center is None) != status:
        raise click.UsageError("name a center, or ask for --status")
    settings = Settings.load()
    warehouse = load_warehouse(settings)
    if center is None:
        with closing(Database.of(settings)) as database:
            _print_status(_flows(settings, database, warehouse), settings, as_json=as_json)
        return
    with closing(StateStore.of(settings)) as store:
        order = TakeOverOrder(center, lost, author, reason)
        done = TakeOver(warehouse, store, order).carry_out(most_looks=1 + wait // 2)
    term = done.term
    if as_json:
        told = {"flows": term.flows, "term": term.number, "holder": term.holder, "before": term.before}
        since = {"is_lost": term.is_lost, "begun_at": term.begun_at.isoformat()}
        print_json({**told, **since, "taken_in": list(map(str, done.taken_in))})
        return
    print_line(f"{term.holder} computes the flows of {term.flows} in term {term.number}", "bold")
    print_line(f"{len(done.taken_in)} published slices were taken in")
    print_line("restart the processes of this center, and those of the other one when it is back")


def _flows(settings: Settings, database: Database, warehouse: Warehouse) -> list[dict[str, Any]]:
    """The newest term of each center's flows, as far as the lakes answer, and what this center may do."""
    from tidemark.warehouse.center_fence import CenterFence  # noqa: PLC0415 - keeps --help fast

    fence = CenterFence(settings, database)
    shown = []
    for flows in sorted(warehouse.holders):
        seen, records = fence.seen(flows), fence.read(flows)
        term = seen.term if seen else records.newest
        since = term.begun_at.isoformat() if term.number > 1 else None
        permission = fence.permission(flows).value
        told = {"flows": flows, "term": term.number, "holder": term.holder, "since": since, "permission": permission}
        shown.append({**told, "why": term.why, "troubles": list(records.troubles.values())})
    return shown


def _print_status(shown: list[dict[str, Any]], settings: Settings, *, as_json: bool) -> None:
    if as_json:
        print_json({"flows": shown})
        return
    zone = zone_info(settings.time_zone)
    rows = []
    for told in shown:
        since = datetime.fromisoformat(told["since"]).astimezone(zone) if told["since"] else None
        when = f"{since:%Y-%m-%d %H:%M:%S}" if since else ""
        why = "; ".join(filter(None, (told["why"], *told["troubles"])))
        rows.append([told["flows"], told["holder"], str(told["term"]), when, told["permission"], why])
    print_table(_HEADINGS, rows)
