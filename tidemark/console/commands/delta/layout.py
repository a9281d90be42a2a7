"""`tidemark delta layout`: how well the files of a table are clustered by its columns."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from tidemark.console.entity_argument import entity_argument
from tidemark.console.output import json_option, print_json, print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.delta.clustering.layout import Between, Layout


@click.command()
@entity_argument("table")
@click.option("--column", "columns", multiple=True, help="Only this column; may be repeated.")
@click.option(
    "--where",
    "filters",
    multiple=True,
    metavar="COLUMN=LOW[..HIGH]",
    help="Show what this filter reads; several are combined with AND.",
)
@json_option
def layout(table: str, *, columns: Sequence[str], filters: Sequence[str], as_json: bool) -> None:
    """Show how many files of TABLE a filter on one value of each column reads.

    TABLE is the name of an entity, or a path. The numbers come from the table's log; no row is read. A depth of 1 means
    that the table is sorted by the column; the number of all files means that it is not clustered by it.

    \b
      tidemark delta layout ods_orders
      tidemark delta layout ods_orders --where user_id=17 --where amount=10..20

    \b
    Exit codes: 0 shown, 1 unknown table or column, 2 wrong usage.
    With --json: {"version", "files", "size_bytes", "columns": [{"column", "depth", "deepest", "bounded"}],
                  "read": {"files", "size_bytes"}}; "read" only with --where.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.console.commands.delta.table_path import table_path  # noqa: PLC0415 - keeps --help fast
    from tidemark.delta.clustering.layout import files_read, layout_of  # noqa: PLC0415

    path = table_path(table)
    wanted = [_between(text) for text in filters]
    layout_now = layout_of(path, [*columns, *(condition.column for condition in wanted)] or None)
    read = files_read(path, wanted) if wanted else None
    if as_json:
        said = {} if read is None else {"read": {"files": read[0], "size_bytes": read[1]}}
        print_json({**asdict(layout_now), **said})
        return
    _print(layout_now)
    if read is not None:
        print_line(
            f"this filter reads {read[0]} of {layout_now.files} files, {read[1]:,} of {layout_now.size_bytes:,} bytes"
        )


def _between(text: str) -> Between:
    from tidemark.delta.clustering.layout import Between  # noqa: PLC0415

    column, equals, value = text.partition("=")
    if not equals:
        raise click.BadParameter(f"expected COLUMN=LOW or COLUMN=LOW..HIGH, found {text!r}", param_hint="--where")
    low, _, high = value.partition("..")
    return Between(column, low, high or low)


def _print(measured: Layout) -> None:
    print_line(f"version {measured.version}, {measured.files} files, {measured.size_bytes:,} bytes")
    rows = [
        [column.column, f"{column.depth:.1f}", str(column.deepest), str(column.bounded)] for column in measured.columns
    ]
    print_table(["column", "depth", "deepest", "files with bounds"], rows)
