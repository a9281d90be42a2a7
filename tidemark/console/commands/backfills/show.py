"""`tidemark backfills show`."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import click

from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.state_store.backfills import BackfillRow, MemberRow

_STYLES = {
    "failed": "red",
    "blocked": "red",
    "asking": "yellow",
    "rebuilt": "green",
    "given": "green",
    "unchanged": "green",
}


@click.command()
@click.argument("number", type=click.IntRange(min=1))
@json_option
def show(number: int, *, as_json: bool) -> None:
    """Show the progress of each slice of a backfill, and the reasons.

    \b
    pending    its inputs are not settled; it keeps its rows
    asking     a person decides: tidemark backfills decide NUMBER --rebuild|--keep
    requested  it waits for its run, or is running
    rebuilt    done; unchanged: with the same rows as before
    kept       not rebuilt: its inputs did not change
    failed     its run or its rules failed; blocked: a slice that it needs did

    \b
    Exit codes: 0 shown; 1 slices failed or are blocked, or the backfill does not exist; 2 wrong usage;
                75 the state store does not answer.
    With --json what GET /v1/backfills/NUMBER answers: the backfill as in `list`, and "progress": [{"slice", "wave",
                  "progress", "why", "after"}]; after is the earlier backfill that has the slice, or null.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.api.backfill_models import backfill_page_model  # noqa: PLC0415 - keeps --help fast
    from tidemark.console.commands.backfills.stored_backfills import stored_backfills  # noqa: PLC0415
    from tidemark.dependency_model.backfill.progress import UNSUCCESSFUL  # noqa: PLC0415

    with stored_backfills() as stored:
        row, counts, members = stored.row(number), stored.counts([number])[number], stored.members(number)
    if as_json:
        print_json(backfill_page_model(row, counts, members).model_dump(mode="json"))
    else:
        _print(row, members)
    has_failed = not UNSUCCESSFUL.isdisjoint(counts)
    raise SystemExit(ExitCode.FAILED if has_failed else ExitCode.OK)


def _print(backfill: BackfillRow, members: Sequence[MemberRow]) -> None:
    from tidemark.dependency_model.backfill.progress import ACTIVE, OPEN  # noqa: PLC0415 - keeps --help fast

    request = backfill.request
    print_line(f"backfill {backfill.number} is {backfill.phase.value}: {request.asked}, by {request.who}", "bold")
    if request.why:
        print_line(request.why)

    def alike(member: MemberRow) -> tuple[int, str, str, str]:
        waits = member.after is not None and backfill.phase in ACTIVE and member.progress in OPEN
        because = f"after backfill {member.after}" if waits else member.why
        return member.wave, member.slice.entity, member.progress.value, because

    rows = []
    for (wave, name, progress, because), group in groupby(sorted(members, key=alike), key=alike):
        keys = [member.slice.key for member in group]
        ends = keys[0] if len(keys) == 1 else f"{keys[0]} .. {keys[-1]}"
        rows.append([str(wave), name, progress, f"{len(keys):,}", ends, because])
    styles = [_STYLES.get(cells[2], "") for cells in rows]
    print_table(["wave", "entity", "progress", "slices", "", "because"], rows, styles)
