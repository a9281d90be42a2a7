"""`tidemark engines`: how another engine reads a slice or a tag."""

from __future__ import annotations

import click

from tidemark.console.entity_argument import entity_argument
from tidemark.console.output import json_option, print_json
from tidemark.engines.engine_names import ENGINES, ICEBERG_ENGINES


@click.command()
@entity_argument()
@click.option("--for", "engine", type=click.Choice((*ENGINES, *ICEBERG_ENGINES)), required=True, help="The engine.")
@click.option("--slice", "slice_key", metavar="SLICE", help="A slice; the newest complete one by default.")
@click.option("--tag", metavar="TAG", help="A tag of the table, for a whole version.")
@json_option
def engines(entity: str, *, engine: str, slice_key: str | None, tag: str | None, as_json: bool) -> None:
    """Print how another engine reads a slice or a tag of a table: SQL, or Python for delta-rs and polars.

    The text names one version of the Delta table and the partition of the slice, so it gives the same rows after later
    writes, until the version is vacuumed. `delta` is delta-rs. The command does not start Spark or the engine.

    `iceberg` (PyIceberg), `iceberg-duckdb` and `iceberg-spark` read the Iceberg metadata of a table with
    `read_by: [iceberg]`, in which each slice and tag has a tag of its name.

    \b
      tidemark engines dws_course_orders_1d --for duckdb
      tidemark engines ods_orders --for clickhouse --slice 2026-03-29
      tidemark engines ods_orders --for polars --tag before_migration
      tidemark engines dws_course_orders_1d --for iceberg --slice 2026-03-29

    A slice that late changes restated has more than one version: only Spark reads it, by `tidemark.reader`.

    \b
    Exit codes: 0 printed; 1 unknown table, slice or tag, its version is gone, or the engine cannot read it;
                2 wrong usage; 75 the slice is not complete yet.
    With --json: {"entity", "name", "engine", "language": "sql" | "python", "is_tested", "table", "version",
                  "partition": {column: value}, "text"}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.compute.runtime import Runtime  # noqa: PLC0415 - keeps --help fast
    from tidemark.engines.engine_text import engine_text  # noqa: PLC0415
    from tidemark.engines.iceberg_text import iceberg_tag, iceberg_text  # noqa: PLC0415
    from tidemark.engines.slice_location import slice_location, tag_location  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    if slice_key is not None and tag is not None:
        raise click.UsageError("--slice and --tag exclude each other: a tag is a whole version of the table")
    runtime = Runtime(load_warehouse(Settings.load()))
    location = tag_location(runtime, entity, tag) if tag else slice_location(runtime, entity, slice_key)
    is_iceberg = engine in ICEBERG_ENGINES
    printed = iceberg_text(engine, iceberg_tag(runtime, location)) if is_iceberg else engine_text(engine, location)
    if not as_json:
        click.echo(printed.text, nl=False)
        return
    print_json(
        {
            "entity": entity,
            "name": location.name,
            "engine": engine,
            "language": printed.language,
            "is_tested": printed.is_tested,
            "table": str(location.table),
            "version": location.version,
            "partition": {name: str(value) for name, value in location.partition.items()},
            "text": printed.text,
        }
    )
