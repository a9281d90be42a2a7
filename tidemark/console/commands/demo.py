"""`tidemark demo`: from recorded changes to attendance, retention and activity, checked against the database."""

from __future__ import annotations

import sys
from datetime import date
from typing import TYPE_CHECKING

import click
from rich.console import Console

if TYPE_CHECKING:
    from datetime import datetime

LAST_DAY = date(2026, 3, 31)
_PIPE_WIDTH = 140


@click.command()
@click.option(
    "--until", type=click.DateTime(["%Y-%m-%d"]), help="Last business day to replay; default: all of the recording."
)
@click.option("--json", "as_json", is_flag=True, help="Print nothing but one JSON object at the end.")
def demo(until: datetime | None, *, as_json: bool) -> None:
    """Replay a recorded week of a real database and compute its figures.

    The recording holds nine days (23 to 31 March 2026) of an education company's MySQL shards, as Debezium captured
    them. It is replayed as it came in: changes are merged into Delta tables, each snapshot is tagged when every
    shard has passed its end, and each slice of DWD, DWS and ADS is computed when its inputs are complete. At the end
    every snapshot and every figure is compared with what the source database itself answered at that moment.

    Run it again and nothing changes; kill it and it goes on where it was.

    \b
    Exit codes: 0 everything is equal, 1 something differs or failed, 2 it could not start.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.console.demo.run_demo import run_demo  # noqa: PLC0415 - Dagster and Spark load for seconds; --help must not

    last = until.date() if until else LAST_DAY
    # A pipe or a file has no width: tables are as wide there as they are.
    console = Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH)
    sys.exit(run_demo(last, console, as_json=as_json))
