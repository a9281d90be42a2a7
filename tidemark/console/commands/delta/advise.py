"""`tidemark delta advise`: which columns to cluster a table by, and whether it pays."""

from __future__ import annotations

from dataclasses import asdict

import click

from tidemark.console.entity_argument import entity_argument
from tidemark.console.output import json_option, print_json, print_line, print_table


@click.command()
@entity_argument("table")
@json_option
def advise(table: str, *, as_json: bool) -> None:
    """Say which columns to cluster TABLE by, from the filters that queries really used.

    TABLE is an entity's name, or a path. Filters are those of the queries that computed slices: each run notes what its
    plan pushed down to a table's files, in the state store. How well the table's files are
    clustered by their columns is read from its log. No row is read.

    \b
    Exit codes: 0 said, 1 no such table, 2 called wrongly.
    With --json: {"action": "cluster"|"keep"|"none", "weights": {column: share of scans}, "reason"}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.console.commands.delta.table_path import table_path  # noqa: PLC0415 - keeps --help fast
    from tidemark.delta.clustering.advice import advice_for  # noqa: PLC0415
    from tidemark.delta.clustering.layout import layout_of  # noqa: PLC0415
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.state_store.scan_counts import ScanCounts  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415

    path = table_path(table)
    advice = advice_for(ScanCounts(Database.of(Settings.load())).of(str(path)), layout_of(path))
    if as_json:
        print_json(asdict(advice))
        return
    print_line(f"{advice.action}: {advice.reason}")
    if advice.weights:
        print_table(["column", "share of scans"], [[name, f"{share:.0%}"] for name, share in advice.weights.items()])
