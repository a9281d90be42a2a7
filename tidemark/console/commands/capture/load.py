"""`tidemark capture load`: load the rows from before the start of the capture."""

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
@click.option("--instance", "only", metavar="NAME", help="Only this instance.")
@json_option
def load(table: str, only: str | None, *, as_json: bool) -> None:
    """Request the rows that a captured TABLE (ods_orders) had before its changes were captured.

    Changes continue during the load. No snapshot of the table is tagged before the load is complete. After a stop or a
    kill, the connector continues the load. A load of a complete table compares every row again.

    Needs the instances' addresses in TIDEMARK_DATABASES, and connectors with snapshot.mode=no_data, a
    signal.data.collection and notifications (see docs/capture.md).

    \b
    Exit codes: 0 requested, 1 not possible, 75 a database does not answer.
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
        print_line(f"{instance}: requested {', '.join(tables)}; see tidemark capture status")


def captured_source(sources: Sequence[SourceTable], table: str) -> SourceTable:
    """The captured table of that name. Raises TerminalError."""
    match = next((source for source in sources if source.name == table), None)
    if match is None:
        names = ", ".join(source.name for source in sources)
        raise TerminalError("unknown captured table", expected=f"one of {names}", found=table)
    return match


def addresses_of(settings: Settings, source: SourceTable, only: str | None) -> list[HeartbeatDatabase]:
    """The address of each requested instance. Raises TerminalError before any database is asked."""
    from tidemark.capture.heartbeat.source_databases import databases  # noqa: PLC0415

    known = {address.instance: address for address in databases(settings.databases.get_secret_value())}
    wanted = source.instances if only is None else tuple(name for name in source.instances if name == only)
    missing = [name for name in wanted if name not in known]
    if missing or not wanted:
        raise TerminalError(
            "the address of an instance is missing",
            expected=", ".join(source.instances),
            found=f"none of {', '.join(missing) or only}",
            where="TIDEMARK_DATABASES",
            hint="a=mysql://user:password@host:3306/school, several separated by commas",
        )
    return [known[name] for name in wanted]
