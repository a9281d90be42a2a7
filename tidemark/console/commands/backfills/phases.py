"""`tidemark backfills approve|pause|resume|cancel`: change the phase of a backfill."""

from __future__ import annotations

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line
from tidemark.dependency_model.backfill.progress import BackfillAction

_NUMBER = click.argument("number", type=click.IntRange(min=1))


@click.command(cls=ActionCommand)
@_NUMBER
@json_option
def approve(number: int, *, as_json: bool) -> None:
    """Start a planned backfill: the center carries it out, in `tidemark up` or `tidemark center`.

    \b
    Exit codes: 0 done, 1 it is not planned, or the backfill does not exist; 75 the state store does not answer.
    With --json: {"number", "phase"}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    _act(number, BackfillAction.APPROVE, as_json=as_json)


@click.command(cls=ActionCommand)
@_NUMBER
@json_option
def pause(number: int, *, as_json: bool) -> None:
    """Pause a backfill: active runs finish, and no further slice is started.

    \b
    Exit codes: 0 done; 1 the backfill does not exist or is not active; 75 the state store does not answer.
    With --json: {"number", "phase"}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    _act(number, BackfillAction.PAUSE, as_json=as_json)


@click.command(cls=ActionCommand)
@_NUMBER
@json_option
def resume(number: int, *, as_json: bool) -> None:
    """Continue a paused backfill.

    \b
    Exit codes: 0 done, 1 it is not paused, or the backfill does not exist; 75 the state store does not answer.
    With --json: {"number", "phase"}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    _act(number, BackfillAction.RESUME, as_json=as_json)


@click.command(cls=ActionCommand)
@_NUMBER
@json_option
def cancel(number: int, *, as_json: bool) -> None:
    """Cancel a backfill: slices that were not started get their earlier status back, active runs finish.

    Rebuilt slices stay rebuilt. Slices that were built from their old rows, and not rebuilt, do not change.

    \b
    Exit codes: 0 done, 1 it has ended, or the backfill does not exist; 75 the state store does not answer.
    With --json: {"number", "phase"}; `cancelling` until the center is done.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    _act(number, BackfillAction.CANCEL, as_json=as_json)


def _act(number: int, action: BackfillAction, *, as_json: bool) -> None:
    from tidemark.console.commands.backfills.stored_backfills import stored_backfills  # noqa: PLC0415 - keeps --help fast

    with stored_backfills() as stored:
        row = stored.act(number, action)
    if as_json:
        print_json({"number": row.number, "phase": row.phase.value})
    else:
        print_line(f"backfill {row.number} is {row.phase.value}")
    raise SystemExit(ExitCode.OK)
