"""`tidemark dlq list`: the records of the dead-letter queue, with their source and the reason."""

from __future__ import annotations

import click

from tidemark.console.output import json_option, print_json, print_line, print_table

_SHOWN = 80


@click.command("list")
@click.option("--all", "with_replayed", is_flag=True, help="Also list replayed records.")
@json_option
def list_(*, with_replayed: bool, as_json: bool) -> None:
    """List the waiting records in the order of their topics.

    \b
    Exit codes: 0 shown.
    With --json: {"dead_letters": [{"topic", "partition", "offset", "row", "event_time", "physical", "reason", "raw",
    "replayed_at"}]}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.capture.source.dead_letters import DeadLetters  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.settings import Settings  # noqa: PLC0415

    letters = DeadLetters(Settings.load().warehouse)
    records = letters.all() if with_replayed else letters.waiting()
    if as_json:
        print_json({"dead_letters": [record._asdict() for record in records]})
        return
    if not records:
        print_line("the dead-letter queue is empty")
        return
    rows = [
        [record.topic, str(record.offset), record.physical or "", record.reason, (record.raw or "")[:_SHOWN]]
        for record in records
    ]
    print_table(["topic", "offset", "table", "why", "record"], rows)
