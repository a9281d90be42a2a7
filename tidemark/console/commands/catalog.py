"""`tidemark catalog`: the contents of the lake."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any, Final

import click

from tidemark.console.catalog_words import completeness_in_words, profile_in_words, rules_in_words, state_in_words
from tidemark.console.entity_argument import declared_names
from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from tidemark.api.catalog_models import CatalogEntryModel, CatalogPageModel
    from tidemark.center.detectors.storage import StorageReport
    from tidemark.state_store.database import Database
    from tidemark.system.settings import Settings
    from tidemark.warehouse.warehouse import Warehouse

_ENTITY_HEADINGS: Final = (
    *("layer", "entity", "owner", "slices", "newest", "flaws", "snapshots"),
    *("rows", "size", "files", "version", "columns", "last reader"),
)
_SLICE_HEADINGS: Final = (
    *("slice", "state", "quality", "rows", "size", "files", "version", "generation", "run"),
    *("rules", "profile", "complete"),
)
_FLAWS: Final = ("invalid", "tainted", "foreign", "partial", "absent", "failed")


@click.command()
@click.argument("entity", required=False, shell_complete=declared_names)
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1, 1_000), help="The largest number of slices."
)
@click.option("--before", default="", metavar="KEY", help="Only slices before this one.")
@click.option("--markdown", is_flag=True, help="Print Markdown, for a page or a ticket.")
@click.option("--reconcile", is_flag=True, help="First compare the state store with all tables.")
@click.option("--verify", is_flag=True, help="With --reconcile: also look for each file on disk.")
@click.option(
    "--to-lake", is_flag=True, help="Write all slices to the Delta table _slices; the center then updates it."
)
@click.option("--as-of", type=click.DateTime(), help="As recorded at this time (UTC).")
@json_option
def catalog(
    entity: str | None,
    *,
    limit: int,
    before: str,
    markdown: bool,
    reconcile: bool,
    verify: bool,
    to_lake: bool,
    as_of: datetime | None,
    as_json: bool,
) -> None:
    """List entities with slices, rows, size, schema and last reader; with ENTITY also its slices.

    The answer comes from the state store; no table is opened. While a center runs, it compares the store with the logs
    of the tables: slices whose data was deleted, rolled back, overwritten or vacuumed become absent or foreign.
    --reconcile does this now, if no center runs.

    For each slice of ENTITY it shows the last results of the rules, the failed slices that invalidate it, its profile
    (see `tidemark profile`), and how many of its records arrived if they are counted (see `tidemark completeness`).

    --to-lake also writes all slices and tags to the table _slices of the lake for other engines (columns in
    docs/engines.md). While this table exists, the center updates it within about a minute.

    --as-of shows a past time, from the stored transitions: slices and their flaws, rows, versions, runs and results of
    rules. Sizes, schemas, profiles and counts are known only for now.

    \b
      tidemark catalog
      tidemark catalog dws_course_orders_1d --limit 7
      tidemark catalog --markdown > catalog.md
      tidemark catalog --to-lake
      tidemark catalog dws_course_orders_1d --as-of "2026-03-24 10:00:00"

    \b
    Exit codes: 0 shown; 1 unknown entity, or with --reconcile a table whose log cannot be read; 2 wrong usage;
                75 the state store does not answer, or with --reconcile a center is active, which does it.
    With --json: {"entities": [...]}, or for one entity {"entity": {...}, "schemas": [...], "slices": [{..., "rules",
                  "untagged", "issues": [...], "profile": {"measured_at", "rows", "columns", "history", "anomalies",
                  "is_published"} | null, "completeness": {"source", "lake", "slots", "open_slots", "is_complete"} |
                  null}]}, as GET /v1/catalog and GET /v1/catalog/ENTITY answer; with --reconcile also "reconciled":
                  {"tables", "changed", "commits", "judged", "absent", "foreign", "recovered", "is_whole",
                  "troubles"}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.api.catalog_models import catalog_model, page_model  # noqa: PLC0415 - keeps --help fast
    from tidemark.catalog.catalog import Catalog  # noqa: PLC0415
    from tidemark.catalog.past_catalog import PastCatalog  # noqa: PLC0415
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    if verify and not reconcile:
        raise click.UsageError("--verify needs --reconcile")
    if as_of is not None and (reconcile or to_lake):
        raise click.UsageError("the past does not change: --as-of does not go with --reconcile or --to-lake")
    settings = Settings.load()
    report = _reconcile(settings, verify=verify) if reconcile else None
    warehouse, database = load_warehouse(settings), Database.of(settings)
    graph = warehouse.graph
    if to_lake:
        _write_to_lake(warehouse, database, as_json=as_json)
    answers = Catalog(graph, database) if as_of is None else PastCatalog(graph, database, as_of.replace(tzinfo=UTC))
    if entity is None:
        entries = catalog_model(answers.entries())
        _print(entries.model_dump(mode="json"), report, as_json=as_json)
        if not as_json:
            _print_rows(_ENTITY_HEADINGS, [_entity_row(entry) for entry in entries.entities], markdown=markdown)
    else:
        page = page_model(answers.page(entity, limit, before))
        _print(page.model_dump(mode="json"), report, as_json=as_json)
        if not as_json:
            _print_page(page, markdown=markdown)
    raise SystemExit(ExitCode.FAILED if report and report.troubles else ExitCode.OK)


def _reconcile(settings: Settings, *, verify: bool) -> StorageReport:
    """Compare with storage now. Raises AnotherCenterError."""
    from tidemark.catalog.slice_counts import note_counts  # noqa: PLC0415
    from tidemark.center.reconcile_storage import reconcile_storage  # noqa: PLC0415
    from tidemark.state_store.store import StateStore  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    store = StateStore.of(settings)
    report = reconcile_storage(load_warehouse(settings), store, verify=verify)
    note_counts(store.database)
    store.close()
    return report


def _write_to_lake(warehouse: Warehouse, database: Database, *, as_json: bool) -> None:
    from tidemark.engines.slices_table import SlicesTable  # noqa: PLC0415 - keeps --help fast

    table = SlicesTable(warehouse, database)
    rows = table.publish()
    if not as_json:
        print_line(f"{rows} slices and tags written to {table.path}")


def _print(answer: dict[str, Any], report: StorageReport | None, *, as_json: bool) -> None:
    if as_json:
        print_json({**answer, **({"reconciled": report.as_data()} if report else {})})
    elif report:
        print_line(
            f"{report.tables} tables checked, {report.changed} changed: {report.absent} slices absent, "
            f"{report.foreign} foreign, {report.recovered} recovered"
        )
        for table, trouble in report.troubles:
            print_line(f"{table}: {trouble}", "red")


def _print_page(page: CatalogPageModel, *, markdown: bool) -> None:
    entry = page.entity
    _print_rows(_ENTITY_HEADINGS, [_entity_row(entry)], markdown=markdown)
    rows = [[str(schema.version), _columns(schema.columns)] for schema in page.schemas]
    if rows:
        print_line("")
        _print_rows(("from version", "columns"), rows, markdown=markdown)
    slices = [
        [
            slice_.slice.partition("@")[2],
            state_in_words(slice_),
            slice_.quality,
            _text(slice_.rows),
            _size(slice_.size_bytes),
            _text(slice_.files),
            _text(slice_.version),
            str(slice_.generation),
            slice_.run_id or "",
            rules_in_words(slice_),
            profile_in_words(slice_.profile),
            completeness_in_words(slice_.completeness),
        ]
        for slice_ in page.slices
    ]
    if slices:
        print_line("")
        _print_rows(_SLICE_HEADINGS, slices, markdown=markdown)


def _entity_row(entry: CatalogEntryModel) -> list[str]:
    flaws = [f"{count} {name}" for name in _FLAWS if (count := getattr(entry.slices, name))]
    return [
        entry.layer,
        entry.entity,
        entry.owner,
        str(entry.slices.completed),
        entry.slices.newest,
        ", ".join(flaws),
        str(entry.snapshots or ""),
        _text(entry.rows),
        _size(entry.size_bytes),
        _text(entry.files),
        _text(entry.table_version),
        _text(entry.columns),
        entry.last_reader.slice if entry.last_reader else "",
    ]


def _print_rows(headings: Sequence[str], rows: Sequence[Sequence[str]], *, markdown: bool) -> None:
    if not markdown:
        print_table(headings, rows)
        return
    for row in (headings, ["---"] * len(headings), *rows):
        click.echo("| " + " | ".join(_cell(cell) for cell in row) + " |")


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


def _columns(columns: dict[str, str]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns.items())


def _text(number: int | None) -> str:
    return "" if number is None else str(number)


def _size(number: int | None) -> str:
    """`1.5 MB`; empty if it is unknown."""
    if number is None:
        return ""
    size, unit = float(number), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 1_000 or unit == "TB":
            break
        size /= 1_000
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
