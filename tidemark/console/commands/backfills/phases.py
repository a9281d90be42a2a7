"""`tidemark backfills approve|pause|resume|cancel`: one phase to the next."""

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
    """Let a planned backfill begin: the center carries it out, in `tidemark up` or `tidemark center`.

    \b
    Exit codes: 0 done, 1 it is not planned, or there is no such backfill; 75 the state store does not answer.
    With --json: {"number", "phase"}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    _act(number, BackfillAction.APPROVE, as_json=as_json)


@click.command(cls=ActionCommand)
@_NUMBER
@json_option
def pause(number: int, *, as_json: bool) -> None:
    """Let a backfill rest: runs under way end, no further slice of it begins.

    \b
    Exit codes: 0 done, 1 it does not go on, or there is no such backfill; 75 the state store does not answer.
    With --json: {"number", "phase"}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    _act(number, BackfillAction.PAUSE, as_json=as_json)


@click.command(cls=ActionCommand)
@_NUMBER
@json_option
def resume(number: int, *, as_json: bool) -> None:
    """Let a paused backfill go on where it was.

    \b
    Exit codes: 0 done, 1 it is not paused, or there is no such backfill; 75 the state store does not answer.
    With --json: {"number", "phase"}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    _act(number, BackfillAction.RESUME, as_json=as_json)


@click.command(cls=ActionCommand)
@_NUMBER
@json_option
def cancel(number: int, *, as_json: bool) -> None:
    """End a backfill: slices that have not begun are again what they were, runs under way come to their end.

    What was rebuilt stays; what was built from it before, and was not rebuilt, is as it was.

    \b
    Exit codes: 0 done, 1 it is at its end, or there is no such backfill; 75 the state store does not answer.
    With --json: {"number", "phase"}; cancelling until the center has done it.
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
