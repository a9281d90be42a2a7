"""`tidemark delta iceberg`: write the Iceberg metadata of tables now."""

from __future__ import annotations

from dataclasses import asdict

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.entity_argument import entity_argument
from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line


@click.command(cls=ActionCommand)
@entity_argument(required=False)
@json_option
def iceberg(entity: str | None, *, as_json: bool) -> None:
    """Write the Iceberg metadata of a table now, by default of all tables with `read_by: [iceberg]`.

    The center does this a few seconds after each commit and tag. Without a center, use this command. It lists the files
    of the Delta table and copies no rows. It may run at any time, also beside the center.

    \b
    Exit codes: 0 written, 1 the table does not declare it or the metadata was not written, 2 wrong usage.
    With --json: {"tables": [{"entity", "location", "tags": number, null without a table, "why": why it was not
                  written, or empty}]}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.engines.errors import NotInIcebergError  # noqa: PLC0415 - keeps --help fast
    from tidemark.engines.iceberg.iceberg_tables import IcebergTables  # noqa: PLC0415
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    settings = Settings.load()
    warehouse = load_warehouse(settings)
    tables = IcebergTables(warehouse, Database.of(settings))
    if entity is not None:
        warehouse.graph.entity(entity)
        if entity not in tables.names:
            raise NotInIcebergError.undeclared(entity)
    written = [tables.write(name) for name in ([entity] if entity else tables.names)]
    if as_json:
        print_json({"tables": [asdict(told) for told in written]})
    else:
        for told in written:
            there = "no table yet" if told.tags is None else f"{told.tags} tags in {told.location}"
            print_line(f"{told.entity}: {told.why or there}", "red" if told.why else None)
    raise SystemExit(ExitCode.FAILED if any(told.why for told in written) else ExitCode.OK)
