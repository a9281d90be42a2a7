"""`tidemark backfills list`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.backfill import SliceProgress
    from tidemark.state_store.backfills import BackfillRow


@click.command("list")
@json_option
def list_(*, as_json: bool) -> None:
    """List the newest hundred backfills, with the number of slices in each state of progress.

    \b
    Exit codes: 0 listed, 1 nothing was ever computed, 2 wrong usage, 75 the state store does not answer.
    With --json what GET /v1/backfills answers: {"backfills": [{"number", "phase", "asked", "who", "why", "origin",
                  "planned_at", "changed_at", "slices": {PROGRESS: HOW_MANY}}]}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.api.backfill_models import backfill_model  # noqa: PLC0415 - keeps --help fast
    from tidemark.console.commands.backfills.stored_backfills import stored_backfills  # noqa: PLC0415

    with stored_backfills() as stored:
        rows = stored.rows()
        counts = stored.counts([row.number for row in rows])
    if as_json:
        print_json({"backfills": [backfill_model(row, counts[row.number]).model_dump(mode="json") for row in rows]})
    else:
        _print(rows, counts)
    raise SystemExit(ExitCode.OK)


def _print(rows: list[BackfillRow], counts: Mapping[int, Mapping[SliceProgress, int]]) -> None:
    if not rows:
        print_line("no backfills")
    cells = [
        [str(row.number), row.phase.value, row.request.asked, row.request.who, f"{row.planned_at:%Y-%m-%d %H:%M}",
         ", ".join(f"{count:,} {progress.value}" for progress, count in counts[row.number].items())]
        for row in rows
    ]  # fmt: skip
    print_table(["number", "phase", "asked for", "by", "planned (UTC)", "slices"], cells)
