"""`tidemark demo`: replay recorded changes, compute tables, and compare them with the database."""

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
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), help="The last day to replay (default: all recorded days).")
@click.option("--json", "as_json", is_flag=True, help="Print nothing but one JSON object at the end.")
def demo(until: datetime | None, *, as_json: bool) -> None:
    """Replay a recorded week of a real database and compute its figures.

    The recording has nine days (23 to 31 March 2026) of an education company's MySQL shards, captured by Debezium. They
    are replayed in order: changes are merged into Delta tables, each snapshot is tagged when every shard has passed its
    end, and each slice of DWD, DWS and ADS is computed when its inputs are complete. At the end, every snapshot and
    every figure is compared with the answer of the source database at that moment.

    A second run changes nothing. After a kill, the next run continues.

    \b
    Exit codes: 0 everything is equal, 1 something differs or failed, 2 it could not start.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.console.demo.run_demo import run_demo  # noqa: PLC0415 - Dagster and Spark load for seconds; --help must not

    last = until.date() if until else LAST_DAY
    # A pipe or a file has no width: print tables without wrapping.
    console = Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH)
    sys.exit(run_demo(last, console, as_json=as_json))
