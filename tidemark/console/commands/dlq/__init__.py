"""`tidemark dlq`: records that nothing could be made of."""

from __future__ import annotations

import click

from tidemark.console.commands.dlq.list_ import list_
from tidemark.console.commands.dlq.replay import replay


@click.group()
def dlq() -> None:
    """Look at the records that capture could make nothing of, the dead letters, and read them once more."""


for _command in (list_, replay):
    dlq.add_command(_command)
