"""`tidemark show`: rows of exactly one slice."""

from __future__ import annotations

import click

from tidemark.console.entity_argument import entity_argument
from tidemark.console.output import json_option, print_json, print_line, print_table


@click.command()
@entity_argument()
@click.argument("slice_key", metavar="SLICE")
@click.option("--where", metavar="CONDITION", help="Only rows with this condition, in Spark SQL: \"city = 'Lyon'\".")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(min=1), help="The most rows.")
@json_option
def show(entity: str, slice_key: str, *, where: str | None, limit: int, as_json: bool) -> None:
    """Show rows of one slice: the partition of a computed table, or the tagged version of a captured one.

    \b
      tidemark show dws_course_orders_1d 2026-03-29
      tidemark show ods_orders 2026-03-29 --where "status = 'paid'" --limit 5

    The condition is Spark SQL in the entity's time zone, as in queries and rules. It starts Spark.

    \b
    Exit codes: 0 shown, also without rows; 1 unknown table, slice or snapshot, or the condition cannot
                be evaluated; 2 wrong usage.
    With --json: {"slice", "columns": [...], "rows": [{column: value}]}; times and decimals are texts.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.compute.read_slice_rows import slice_rows  # noqa: PLC0415
    from tidemark.compute.runtime import Runtime  # noqa: PLC0415 - keeps --help fast
    from tidemark.dependency_model.slice import Slice  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    slice_ = Slice(entity, slice_key)
    rows = slice_rows(Runtime(load_warehouse(Settings.load())), slice_, where, limit)
    if as_json:
        print_json({"slice": str(slice_), "columns": rows.column_names, "rows": rows.to_pylist()})
        return
    texts = [["" if value is None else str(value) for value in row.values()] for row in rows.to_pylist()]
    print_table(rows.column_names, texts)
    if not texts:
        print_line(f"no rows of {slice_}{' with this condition' if where else ''}")
