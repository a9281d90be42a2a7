"""`tidemark capture take-over`: this data folder captures into the warehouse from now on."""

from __future__ import annotations

import click

from tidemark.console.output import print_line


@click.command("take-over")
def take_over() -> None:
    """Let this data folder capture into the warehouse again, after another one took the lease.

    Stop the other capture first: it is refused from this one's next step on.

    \b
    Exit codes: 0 the next step takes the lease.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.capture.commits.capture_lease import forget_lease  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.settings import Settings  # noqa: PLC0415

    settings = Settings.load()
    forget_lease(settings)
    print_line(f"the next step of the capture with {settings.data} takes the lease of {settings.warehouse}")
