"""`tidemark dlq`: records that nothing could be made of."""

from __future__ import annotations

import click

from tidemark.console.commands.dlq.list_ import list_
from tidemark.console.commands.dlq.replay import replay


@click.group()
def dlq() -> None:
    """Show the dead-letter queue: records that capture could not read. Read them again."""


for _command in (list_, replay):
    dlq.add_command(_command)
