"""`tidemark delta advise`: advice on clustering columns."""

from __future__ import annotations

from dataclasses import asdict

import click

from tidemark.console.entity_argument import entity_argument
from tidemark.console.output import json_option, print_json, print_line, print_table


@click.command()
@entity_argument("table")
@json_option
def advise(table: str, *, as_json: bool) -> None:
    """Suggest columns to cluster TABLE by, from the filters of past queries.

    TABLE is the name of an entity, or a path. The filters come from the state store: each run that computed slices
    stores the filters that Spark pushed down to the files. The table's log shows how well its files are clustered. No
    row is read.

    \b
    Exit codes: 0 shown, 1 unknown table, 2 wrong usage.
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
