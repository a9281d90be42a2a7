"""`tidemark capture accept`: go on after a gap that somebody looked into."""

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
@click.option("--because", required=True, help="Why nothing is missing, or why it may be.")
def accept(instance: str, offset: int, *, because: str) -> None:
    """Go on with an instance that is halted at OFFSET, as `tidemark capture status` shows it.

    What is before the gap and what comes after it is merged as if nothing were between; the answer is kept.

    \b
    Exit codes: 0 the next step goes on, 1 nothing is halted there, 2 called wrongly.
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
            "nothing is halted there",
            found=f"instance {instance}, offset {offset}",
            hint="tidemark capture status shows what is halted, by instance and offset",
        )
    AcceptedFindings(database).add(instance, offset, datetime.now(UTC), account_name(), because)
    print_line(f"accepted: {halted[0]}")
