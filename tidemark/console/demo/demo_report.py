"""The end of the demo: ADS tables beside the database's figures, counts, and next steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from tidemark.compute.business_time import partition_values
from tidemark.console.demo.source_database_answers import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import Console

    from tidemark.console.demo.pipeline_run import ReplayResult
    from tidemark.console.demo.source_database_answers import Comparison, OracleMetric
    from tidemark.olap.store import OlapStore
    from tidemark.warehouse.warehouse import Warehouse

ROWS_SHOWN = 4


def print_metrics(console: Console, metrics: tuple[OracleMetric, ...], warehouse: Warehouse, store: OlapStore) -> None:
    """The newest slice of each ADS table: our value, and the database's if it differs."""
    newest = {metric.entity: metric for metric in metrics}
    for name, metric in newest.items():
        partition = partition_values(str(warehouse.entities[name].period), metric.slice)
        ours = store.read(name, partition).to_pylist()
        console.print(_metric_table(name, metric, ours))


def _metric_table(name: str, metric: OracleMetric, ours: list[dict[str, object]]) -> Table:
    table = Table(title=f"{name}  {metric.slice}", title_justify="left", title_style="bold", expand=False)
    columns = list(metric.rows[0]) if metric.rows else []
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("the database says", justify="center", no_wrap=True)
    key = columns[0] if columns else ""
    row_of = {str(row.get(key)): row for row in ours}
    for expected in metric.rows[:ROWS_SHOWN]:
        row = row_of.get(str(expected[key]), {}) if len(metric.rows) > 1 else (ours[0] if ours else {})
        cells = [_cell(row.get(column), expected[column]) for column in columns]
        equal = all(cell.style != "red" for cell in cells)
        table.add_row(*cells, Text("equal", style="green") if equal else Text("differs", style="red"))
    if len(metric.rows) > ROWS_SHOWN:
        table.caption = f"{ROWS_SHOWN} of {len(metric.rows)} rows"
    return table


def _cell(ours: object, theirs: object) -> Text:
    if ours is None and theirs is None:
        return Text("-", style="dim")
    return Text(str(ours)) if plain(ours) == plain(theirs) else Text(f"{ours} (database: {theirs})", style="red")


def print_summary(
    console: Console, result: ReplayResult, comparisons: Mapping[str, Comparison], warehouse: Warehouse
) -> None:
    """Counts, times, differences, and next steps."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for label, value in _figures(result, comparisons):
        table.add_row(label, value)
    console.print()
    console.print(table)
    for comparison in comparisons.values():
        for difference in comparison.differences[:10]:
            console.print(f"differs: {difference}", style="red", markup=False, soft_wrap=True)
    for slice_ in result.failed[:10]:
        console.print(f"failed: {slice_} - see its run in the UI (tidemark up)", style="red", markup=False)
    console.print()
    console.print("Next:", style="bold")
    for command, what in _next_steps(warehouse):
        console.print(f"  {command:54} {what}", markup=False, highlight=False, soft_wrap=True)


def _next_steps(warehouse: Warehouse) -> Iterator[tuple[str, str]]:
    yield "tidemark up", "the same data in the Dagster UI, on http://127.0.0.1:3000"
    yield "tidemark explain ads_gmv_course 2026-03-31", "the inputs of that slice"
    yield "tidemark completeness orders_complete_1d 2026-03-23", "whether all orders of that day arrived"
    yield "tidemark explain ads_ad_cost 2026-03-23", "a day that waits for the midnights of three regions"
    if warehouse.settings.olap == "duckdb":
        yield f"{warehouse.settings.data.name}/olap.duckdb", "the ADS tables, for DuckDB and any BI tool"


def _figures(result: ReplayResult, comparisons: Mapping[str, Comparison]) -> Iterator[tuple[str, str]]:
    for name, comparison in comparisons.items():
        verdict = f"all equal to {comparison.against}" if comparison.checked == comparison.equal else "DIFFERENT"
        yield f"{name.replace('_', ' ')} compared", f"{comparison.equal} of {comparison.checked} {verdict}"
    yield "changes replayed", f"{result.changes:,}"
    yield "slices computed", f"{result.computed}" + ("" if result.computed else " (everything was complete before)")
    yield "time", f"{result.seconds:.0f} s"
    yield "memory", f"{result.peak_rss_mb:,.0f} MB at most, JVM included"
