"""`tidemark capture take-over`: move the capture of the warehouse to this state store."""

from __future__ import annotations

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.output import print_line


@click.command("take-over", cls=ActionCommand)
def take_over() -> None:
    """Let this state store capture into the warehouse, after another state store took the lease.

    Stop the other capture first: it is refused after the next step of this one.

    \b
    Exit codes: 0 the next step takes the lease.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.capture.commits.capture_lease import forget_lease  # noqa: PLC0415 - keeps --help fast
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415

    settings = Settings.load()
    database = Database.of(settings)
    forget_lease(settings, database)
    print_line(f"the next step of the capture with {database.where} takes the lease of {settings.warehouse}")
