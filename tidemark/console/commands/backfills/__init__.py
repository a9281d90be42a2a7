"""`tidemark backfills`: list, approve, pause, resume and cancel backfills, and decide about their slices."""

from __future__ import annotations

import click

from tidemark.console.commands.backfills.decide import decide
from tidemark.console.commands.backfills.list_ import list_
from tidemark.console.commands.backfills.phases import approve, cancel, pause, resume
from tidemark.console.commands.backfills.show import show


@click.group()
def backfills() -> None:
    """List backfills. Approve, pause, resume and cancel them; decide about slices with `reprocess: ask`."""


for _command in (list_, show, approve, pause, resume, cancel, decide):
    backfills.add_command(_command)
