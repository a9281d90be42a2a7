"""`tidemark capture`: the capture of the source databases."""

from __future__ import annotations

import click

from tidemark.console.commands.capture.accept import accept
from tidemark.console.commands.capture.audit import audit
from tidemark.console.commands.capture.check import check
from tidemark.console.commands.capture.distribute import distribute
from tidemark.console.commands.capture.load import load
from tidemark.console.commands.capture.reload import reload
from tidemark.console.commands.capture.run import run
from tidemark.console.commands.capture.status import status
from tidemark.console.commands.capture.take_over import take_over


@click.group()
def capture() -> None:
    """Show and control how changes of the source databases are captured."""


for _command in (status, check, run, load, reload, audit, accept, take_over, distribute):
    capture.add_command(_command)
