"""`tidemark counts`: read counts of records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.output import json_option, print_json, print_line

if TYPE_CHECKING:
    from typing import TextIO


@click.command(cls=ActionCommand, makes_store=True)
@click.argument("file", type=click.File(encoding="utf-8"))
@json_option
def counts(file: TextIO, *, as_json: bool) -> None:
    """Read counts of records in the source and the lake. FILE has JSON lines; - is stdin.

    Each part (a partition of a topic, a commit, a file) reports how many records of a minute it has. A later report
    replaces an earlier one. `offsets` of a Kafka partition count as their difference. `final_until` says that the
    source's counts before an instant will not change. Either the whole file is accepted, or nothing.

    \b
      {"of": "clicks", "at": "2026-03-29T15:58:00Z", "side": "source", "part": "topic-0", "offsets": [700, 40700]}
      {"of": "clicks", "at": "2026-03-29T15:58:00Z", "side": "lake", "part": "commit-17", "records": 39999}
      {"of": "clicks", "final_until": "2026-03-29T16:08:00Z"}

    \b
    Exit codes: 0 accepted, 1 a line is invalid, or the state store does not answer; 2 wrong usage.
    With --json: {"counts", "final": {name: "2026-03-29T16:08:00Z"}}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from datetime import UTC, datetime  # noqa: PLC0415 - keeps --help fast

    from tidemark.crawl.count_report import read_counts  # noqa: PLC0415
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.state_store.record_counts import RecordCounts  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415

    told, final = read_counts(file)
    RecordCounts(Database.of(Settings.load())).report(told, final)
    until = {name: f"{datetime.fromtimestamp(minute * 60, UTC):%Y-%m-%dT%H:%M:00Z}" for name, minute in final.items()}
    if as_json:
        print_json({"counts": len(told), "final": until})
        return
    print_line(f"{len(told)} counts taken", "green")
    for name, instant in until.items():
        print_line(f"  the source's counts of {name} are final until {instant}")
