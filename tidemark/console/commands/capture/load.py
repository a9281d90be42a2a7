"""`tidemark capture load`: rows that were there before their changes were captured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.output import json_option, print_json, print_line
from tidemark.errors import TerminalError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.capture.heartbeat.source_databases import HeartbeatDatabase
    from tidemark.capture.source_table import SourceTable
    from tidemark.system.settings import Settings


@click.command(cls=ActionCommand)
@click.argument("table", metavar="TABLE")
@click.option("--instance", "only", metavar="NAME", help="Of this instance alone.")
@json_option
def load(table: str, only: str | None, *, as_json: bool) -> None:
    """Ask for the rows that a captured TABLE (ods_orders) had before its changes were captured.

    They come with the changes that go on meanwhile, and the table is whole once all are there; until then no snapshot
    of it is tagged. A connector that is stopped or killed goes on with it when it runs again. Asked for a table that is
    whole, it compares every row once more.

    Needs the instances' addresses in TIDEMARK_DATABASES, and connectors with snapshot.mode=no_data, a
    signal.data.collection and notifications (see docs/capture.md).

    \b
    Exit codes: 0 asked for, 1 it cannot be, 75 a database does not answer.
    With --json: {"asked": {instance: ["school.orders_0", ...]}}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.capture.initial_load.request_load import request_load  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    settings = Settings.load()
    source = captured_source(load_warehouse(settings).source_tables(), table)
    asked = {address.instance: request_load(address, source) for address in addresses_of(settings, source, only)}
    if as_json:
        print_json({"asked": asked})
        return
    for instance, tables in asked.items():
        print_line(f"{instance}: asked for {', '.join(tables)}; tidemark capture status says when all is there")


def captured_source(sources: Sequence[SourceTable], table: str) -> SourceTable:
    """The captured table of that name. Raises TerminalError."""
    match = next((source for source in sources if source.name == table), None)
    if match is None:
        names = ", ".join(source.name for source in sources)
        raise TerminalError("no captured table of that name", expected=f"one of {names}", found=table)
    return match


def addresses_of(settings: Settings, source: SourceTable, only: str | None) -> list[HeartbeatDatabase]:
    """Of each instance that is asked. Raises TerminalError before any of them is."""
    from tidemark.capture.heartbeat.source_databases import databases  # noqa: PLC0415

    known = {address.instance: address for address in databases(settings.databases.get_secret_value())}
    wanted = source.instances if only is None else tuple(name for name in source.instances if name == only)
    missing = [name for name in wanted if name not in known]
    if missing or not wanted:
        raise TerminalError(
            "no address of an instance",
            expected=", ".join(source.instances),
            found=f"none of {', '.join(missing) or only}",
            where="TIDEMARK_DATABASES",
            hint="a=mysql://user:password@host:3306/school, several with commas between",
        )
    return [known[name] for name in wanted]
