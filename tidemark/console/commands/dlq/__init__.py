"""`tidemark dlq`: the dead-letter queue."""

from __future__ import annotations

import click

from tidemark.console.commands.dlq.list_ import list_
from tidemark.console.commands.dlq.replay import replay


@click.group()
def dlq() -> None:
    """List records that capture could not read, and read them again."""


for _command in (list_, replay):
    dlq.add_command(_command)
