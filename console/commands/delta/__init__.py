"""`tidemark delta`: people's hands on Delta tables."""

from __future__ import annotations

import click

from console.commands.delta.advise import advise
from console.commands.delta.layout import layout


@click.group()
def delta() -> None:
    """Look after Delta tables."""


for _command in (advise, layout):
    delta.add_command(_command)
