"""`tidemark backfills`: how far backfills are; approve, pause, resume, cancel them, decide where they ask."""

from __future__ import annotations

import click

from tidemark.console.commands.backfills.decide import decide
from tidemark.console.commands.backfills.list_ import list_
from tidemark.console.commands.backfills.phases import approve, cancel, pause, resume
from tidemark.console.commands.backfills.show import show


@click.group()
def backfills() -> None:
    """Show how far backfills are. Approve, pause, resume and cancel them; decide where they ask a person."""


for _command in (list_, show, approve, pause, resume, cancel, decide):
    backfills.add_command(_command)
