"""`tidemark capture accept`: continue after a gap that a person has checked."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.output import print_line
from tidemark.errors import TerminalError
from tidemark.system.account import account_name


@click.command(cls=ActionCommand)
@click.argument("instance")
@click.argument("offset", type=click.IntRange(0))
@click.option("--because", required=True, help="Why nothing is missing, or why the loss is acceptable.")
def accept(instance: str, offset: int, *, because: str) -> None:
    """Continue with an instance that is halted at OFFSET, as shown by `tidemark capture status`.

    Changes before and after the gap are merged as if there were no gap. The answer is stored.

    \b
    Exit codes: 0 the next step continues, 1 no capture is halted at this place, 2 wrong usage.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.capture.binlog.accepted_findings import AcceptedFindings  # noqa: PLC0415 - keeps --help fast
    from tidemark.capture.binlog.halted_sources import HaltedSources  # noqa: PLC0415
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415

    database = Database.of(Settings.load())
    halted = [
        source for source in HaltedSources(database).read() if (source.instance, source.offset) == (instance, offset)
    ]
    if not halted:
        raise TerminalError(
            "no capture is halted at this place",
            found=f"instance {instance}, offset {offset}",
            hint="tidemark capture status shows what is halted, by instance and offset",
        )
    AcceptedFindings(database).add(instance, offset, datetime.now(UTC), account_name(), because)
    print_line(f"accepted: {halted[0]}")
