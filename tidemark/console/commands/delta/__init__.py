"""`tidemark delta`: commands for Delta tables."""

from __future__ import annotations

import click

from tidemark.console.commands.delta.advise import advise
from tidemark.console.commands.delta.history import history
from tidemark.console.commands.delta.iceberg import iceberg
from tidemark.console.commands.delta.layout import layout
from tidemark.console.commands.delta.repair import repair
from tidemark.console.commands.delta.snapshots import snapshots
from tidemark.console.commands.delta.vacuum import vacuum


@click.group()
def delta() -> None:
    """Repair one partition, tag versions, delete unneeded files, cluster files, and write Iceberg metadata."""


for _command in (advise, history, iceberg, layout, repair, snapshots, vacuum):
    delta.add_command(_command)
