"""`tidemark delta snapshots`: list, add and remove tags of versions."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from tidemark.console.entity_argument import entity_argument
from tidemark.console.output import json_option, print_json, print_line, print_table


@click.command()
@entity_argument()
@click.option("--tag", help="Tag a version with this name.")
@click.option("--version", type=int, help="The version to tag (default: the newest).")
@click.option("--drop", metavar="TAG", help="Remove this tag; tags of slices stay.")
@json_option
def snapshots(entity: str, *, tag: str | None, version: int | None, drop: str | None, as_json: bool) -> None:
    """List the tags of a table's versions; tag a version, or remove a tag.

    Capture tags the version that is complete at the end of a day or an hour. A tagged version stays readable: VACUUM
    keeps its files until the tag is removed.

    \b
      tidemark delta snapshots dws_course_orders_1d --tag before-the-migration
      tidemark delta snapshots dws_course_orders_1d --drop before-the-migration

    \b
    Exit codes: 0 done, 1 unknown table or version, or the tag belongs to another version; 2 wrong usage.
    With --json: {"entity", "snapshots": [{"entity", "period", "slice", "version", "rows", "tagged_at", "generation",
                  "late_batch", "restatement", "late_until"}]}; a snapshot with late_batch has late changes in
                  addition to its version; with late_until (event time, epoch ms), it waits for more.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    if version is not None and tag is None:
        raise click.UsageError("--version needs --tag")
    from tidemark.compute.runtime import Runtime  # noqa: PLC0415
    from tidemark.compute.table_version_tags import BY_HAND, tag_version, tags_of  # noqa: PLC0415
    from tidemark.delta.file_statistics import require_table  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    runtime = Runtime(load_warehouse(Settings.load()))
    runtime.warehouse.graph.entity(entity)
    require_table(runtime.warehouse.table_path(entity))
    if tag is not None:
        tag_version(runtime.warehouse, runtime.registry, entity, tag, datetime.now(UTC), version)
    if drop is not None:
        runtime.registry.drop(entity, BY_HAND, drop)
    tags = tags_of(runtime.warehouse, runtime.registry, entity)
    if not tags and not as_json:
        print_line(
            f"{entity} has no tags: tidemark delta history {entity} lists its versions, "
            f"and --tag TAG --version N adds one"
        )
    if as_json:
        print_json({"entity": entity, "snapshots": [vars(snapshot) for snapshot in tags]})
        return
    print_table(
        ["version", "tag", "of", "rows", "tagged at"],
        [
            [
                f"{o.version}{' and late changes' * o.is_restated}{', waits for late changes' * o.waits_for_late}",
                o.slice,
                f"{o.entity} [{o.period}]",
                str(o.rows),
                o.tagged_at.isoformat(),
            ]
            for o in tags
        ],
    )
