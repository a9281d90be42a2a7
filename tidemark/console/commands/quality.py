"""`tidemark quality`: results of the quality rules, on the terminal and as a table of the lake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from tidemark.console.entity_argument import declared_names
from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line, print_table

if TYPE_CHECKING:
    from tidemark.state_store.rule_results import StoredRuleResult

_HEADINGS: Final = ("slice", "rule", "severity", "outcome", "found", "expected", "rows", "version", "judged at")
_STYLES: Final = {"broken": "red", "unknown": "yellow"}


@click.command()
@click.argument("entity", required=False, shell_complete=declared_names)
@click.argument("slice_key", metavar="SLICE", required=False)
@click.option("--broken", is_flag=True, help="Only rules that failed or crashed.")
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1, 1_000_000), help="The most results.")
@click.option(
    "--to-lake", is_flag=True, help="Write the results to the Delta table quality_results, replacing its contents."
)
@json_option
def quality(
    entity: str | None, slice_key: str | None, *, broken: bool, limit: int, to_lake: bool, as_json: bool
) -> None:
    """Show the results of quality rules, newest first: of all entities, of ENTITY, or of its SLICE.

    A slice that was checked several times has one line for each check. Results are stored as long as transitions, in
    the table
    quality_results of the state store, which any SQL client can read. --to-lake copies them to the Delta table of this
    name for Spark and DuckDB. In a notebook: `from tidemark.reader import quality_results`.

    \b
      tidemark quality ods_orders 2026-03-29
      tidemark quality --broken
      tidemark quality --to-lake --limit 1000000

    \b
    Exit codes: 0 shown; 1 unknown entity, or an entity has the table's name; 2 wrong usage;
                75 the state store does not answer.
    With --json: {"results": [{"entity", "slice", "part", "rule", "severity", "outcome": "passed" | "broken" |
                  "unknown", "expected", "reason", "measured": {..}, "rows", "version", "judged_at"}]}; rows is null
                  if they were not counted, version if it was never published; with --to-lake also "table".
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.compute.results_table import write_results_table  # noqa: PLC0415 - keeps --help fast
    from tidemark.errors import EntityError  # noqa: PLC0415
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.state_store.rule_results import RuleResults  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.reserved_names import RESULTS_TABLE  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    settings = Settings.load()
    warehouse = load_warehouse(settings)
    if entity is not None:
        warehouse.graph.entity(entity)
    if to_lake and RESULTS_TABLE in warehouse.entities:
        raise EntityError("an entity has the name of the table of results", found=RESULTS_TABLE)
    outcomes = ("broken", "unknown") if broken else ()
    results = RuleResults(Database.of(settings)).newest(entity, slice_key, outcomes, limit)
    told: dict[str, Any] = {"results": [_as_data(result) for result in results]}
    if to_lake:
        told["table"] = str(write_results_table(settings.warehouse, results))
    if as_json:
        print_json(told)
    else:
        print_table(_HEADINGS, [_row(result) for result in results], [_STYLES.get(r.outcome, "") for r in results])
        print_line(f"{len(results)} results are in {told['table']}" if to_lake else f"{len(results)} results")
    raise SystemExit(ExitCode.OK)


def _row(result: StoredRuleResult) -> list[str]:
    return [
        str(result.slice),
        result.rule,
        result.severity,
        result.outcome,
        result.reason,
        result.expected,
        "" if result.rows is None else f"{result.rows:,}",
        "not published" if result.version is None else str(result.version),
        f"{result.judged_at:%Y-%m-%d %H:%M:%S}",
    ]


def _as_data(result: StoredRuleResult) -> dict[str, Any]:
    return {
        "entity": result.slice.entity,
        "slice": result.slice.key,
        "part": dict(result.slice.sub),
        "rule": result.rule,
        "severity": result.severity,
        "outcome": result.outcome,
        "expected": result.expected,
        "reason": result.reason,
        "measured": dict(result.measured),
        "rows": result.rows,
        "version": result.version,
        "judged_at": result.judged_at.isoformat(),
    }
