"""`tidemark dlq`: records that nothing could be made of."""

from __future__ import annotations

import click

from console.commands.dlq.list_ import list_


@click.group()
def dlq() -> None:
    """Look at the records that capture could make nothing of: the dead letters."""


dlq.add_command(list_)
