"""`tidemark backfills show`."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import click

from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.backfill import Backfill, SliceProgress
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.backfills import BackfillRow

_STYLES = {"failed": "red", "blocked": "red", "asking": "yellow", "rebuilt": "green", "unchanged": "green"}


@click.command()
@click.argument("number", type=click.IntRange(min=1))
@json_option
def show(number: int, *, as_json: bool) -> None:
    """Say how far each slice of a backfill is, and why.

    \b
    pending    the slices that it reads are not settled; it holds what it held
    asking     a person decides: tidemark backfills decide NUMBER --rebuild|--keep
    requested  it waits for its run, or is under way
    rebuilt    done; unchanged: with the content that it had before
    kept       not rebuilt: nothing that it goes by has changed
    failed     its run or its rules failed; blocked: a slice that it needs did

    \b
    Exit codes: 0 told; 1 slices failed or are blocked, or there is no such backfill; 2 called wrongly;
                75 the state store does not answer.
    With --json: the backfill as in `list`, and "progress": [{"slice", "wave", "progress", "why", "after"}]; after is
                  the earlier backfill that has the slice, or null.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.api.backfill_models import backfill_model  # noqa: PLC0415 - keeps --help fast
    from tidemark.console.commands.backfills.stored_backfills import stored_backfills  # noqa: PLC0415
    from tidemark.dependency_model.backfill.progress import ACTIVE, UNSUCCESSFUL  # noqa: PLC0415

    with stored_backfills() as stored:
        row, backfill, why = stored.row(number), stored.load(number), stored.reasons(number)
        earlier = [stored.load(other.number) for other in stored.rows(ACTIVE) if other.number < number]
    after = {s: next((o.number for o in earlier if o.is_open(s)), None) for s in backfill.progress}
    if as_json:
        progress = [
            {"slice": str(slice_), "wave": backfill.plan.members[slice_].wave, "progress": far.value,
             "why": why.get(slice_, ""), "after": after[slice_]}
            for slice_, far in backfill.progress.items()
        ]  # fmt: skip
        print_json({**backfill_model(row, backfill.counts).model_dump(mode="json"), "progress": progress})
    else:
        _print(row, backfill, why, after)
    has_failed = not UNSUCCESSFUL.isdisjoint(backfill.progress.values())
    raise SystemExit(ExitCode.FAILED if has_failed else ExitCode.OK)


def _print(row: BackfillRow, backfill: Backfill, why: Mapping[Slice, str], after: Mapping[Slice, int | None]) -> None:
    request = row.request
    print_line(f"backfill {row.number} is {row.phase.value}: {request.asked}, by {request.who}", "bold")
    if request.why:
        print_line(request.why)

    def alike(item: tuple[Slice, SliceProgress]) -> tuple[int, str, str, str]:
        slice_, progress = item
        other = after[slice_]
        because = f"after backfill {other}" if other is not None and backfill.is_open(slice_) else why.get(slice_, "")
        return backfill.plan.members[slice_].wave, slice_.entity, progress.value, because

    rows = []
    for (wave, name, progress, because), group in groupby(sorted(backfill.progress.items(), key=alike), key=alike):
        keys = [slice_.key for slice_, _ in group]
        ends = keys[0] if len(keys) == 1 else f"{keys[0]} .. {keys[-1]}"
        rows.append([str(wave), name, progress, f"{len(keys):,}", ends, because])
    styles = [_STYLES.get(cells[2], "") for cells in rows]
    print_table(["wave", "entity", "progress", "slices", "", "because"], rows, styles)
