"""One call of `tidemark demo`: settings, checks, replay, comparison, report."""

from __future__ import annotations

import fcntl
import logging
import os
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.console.dagster_server.dagster_home import dagster_home, prepare_home
from tidemark.console.dagster_server.dagster_warnings import hide_notices
from tidemark.console.demo.ad_partner_process import TABLE
from tidemark.console.demo.demo_report import print_metrics, print_summary
from tidemark.console.demo.errors import DemoRunningError, SampleError
from tidemark.console.demo.outside_answers import AD_COST, PARTNER, compare_windows, expected_ad_costs, recorded_rows
from tidemark.console.demo.pipeline_run import DemoReplay
from tidemark.console.demo.progress_display import LiveDisplay, PlainDisplay
from tidemark.console.demo.source_database_answers import OracleAnswers, compare_metrics, compare_snapshots, load_oracle
from tidemark.console.project_files import SAMPLE
from tidemark.dependency_model.time.zone import zone_info
from tidemark.state_store.database import Database
from tidemark.strict_json import json_text
from tidemark.system.files import writable_directory
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from rich.console import Console

    from tidemark.console.demo.pipeline_run import ReplayResult
    from tidemark.console.demo.progress_display import Display
    from tidemark.console.demo.source_database_answers import Comparison
    from tidemark.warehouse.warehouse import Warehouse


RECORDED: Final = "ods_orders"
"""A table of the recording."""


def run_demo(last: date, console: Console, *, as_json: bool) -> int:
    """Replay up to the end of `last`; returns the exit code. Raises TidemarkError if it cannot start."""
    settings = Settings.load()
    oracle = _until(load_oracle(SAMPLE), last)
    writable_directory(settings.data)
    with _only_one(settings.data), _instance(settings) as instance:
        end = datetime.combine(last + timedelta(days=1), time(), zone_info(settings.time_zone))
        replay = DemoReplay(_with_sample(settings), SAMPLE, instance, end)
        result = replay.run(
            lambda total: _display(console, total, as_json=as_json),
            lambda: None if as_json else _first_look(console, oracle, replay),
        )
        comparisons = {
            "snapshots": compare_snapshots(oracle.snapshots, replay.warehouse, replay.runtime.registry),
            "metrics": compare_metrics(oracle.metrics, replay.warehouse, replay.runtime.olap),
            **_of_outside(replay, last),
        }
    if as_json:
        console.file.write(json_text(_figures(result, comparisons)) + "\n")
    else:
        print_metrics(console, oracle.metrics, replay.warehouse, replay.runtime.olap)
        print_summary(console, result, comparisons, replay.warehouse)
    equal = all(comparison.checked == comparison.equal for comparison in comparisons.values())
    return 0 if equal and not result.failed else 1


def _of_outside(replay: DemoReplay, last: date) -> dict[str, Comparison]:
    """External tables and counts, if the project declares them."""
    warehouse, runtime = replay.warehouse, replay.runtime
    if AD_COST not in warehouse.entities:
        return {}
    start = date.fromisoformat((warehouse.entities[TABLE].start or "")[:10])
    days = [start + timedelta(days=number) for number in range((last - start).days + 1)]
    recorded = recorded_rows(SAMPLE, days, zone_info(warehouse.settings.time_zone))
    costs = expected_ad_costs(warehouse.table_path(TABLE), recorded)
    return {
        "partner_figures": compare_metrics(costs, warehouse, runtime.olap, PARTNER),
        "windows": compare_windows(recorded, warehouse, Database.of(warehouse.settings), replay.probed_slices()),
    }


def _first_look(console: Console, oracle: OracleAnswers, replay: DemoReplay) -> None:
    """Print the figures of the first day as soon as they are computed."""
    entities = replay.warehouse.entities
    daily = [metric for metric in oracle.metrics if str(entities[metric.entity].period) == "day"]
    first = min((metric.slice for metric in daily), default="")
    console.print(
        f"\nThe first day, {first}, compared with the database's answers; the other days follow:", style="bold"
    )
    print_metrics(
        console,
        tuple(metric for metric in daily if metric.slice == first),
        replay.warehouse,
        replay.runtime.olap,
    )


def _with_sample(settings: Settings) -> Warehouse:
    """The project's warehouse. Raises SampleError if it does not declare the recorded tables."""
    warehouse = load_warehouse(settings)
    if RECORDED not in warehouse.entities:
        raise SampleError(
            "this project does not declare the tables of the recording",
            expected=f"{RECORDED} and the others of the sample",
            where=str(settings.root),
            hint="create such a project: tidemark init my_school --sample school",
        )
    return warehouse


def _until(oracle: OracleAnswers, last: date) -> OracleAnswers:
    """The answers about slices that end by the end of `last`."""
    limit = last.isoformat()
    week = (last - timedelta(days=6)).isoformat()

    def over(entity: str, key: str) -> bool:
        if entity.endswith("_1w"):
            return key <= week
        if entity.endswith("_1m"):
            return (last + timedelta(days=1)).day == 1 and key <= limit
        return key[:10] <= limit

    return OracleAnswers(
        tuple(snapshot for snapshot in oracle.snapshots if over(snapshot.table, snapshot.slice)),
        tuple(metric for metric in oracle.metrics if over(metric.entity, metric.slice)),
    )


def _display(console: Console, total: int, *, as_json: bool) -> Display:
    if console.is_terminal and not as_json:
        return LiveDisplay(console, total)
    return PlainDisplay(console, total, quiet=as_json)


def _figures(result: ReplayResult, comparisons: Mapping[str, Comparison]) -> dict[str, object]:
    counts = {
        f"{name}_{what}": getattr(comparison, what)
        for name, comparison in comparisons.items()
        for what in ("checked", "equal")
    }
    return {
        **counts,
        "differences": [text for comparison in comparisons.values() for text in comparison.differences][:20],
        "changes": result.changes,
        "slices_computed": result.computed,
        "slices_failed": [str(slice_) for slice_ in result.failed],
        "job_seconds": round(result.seconds, 1),
        "cpu_seconds": round(result.cpu_seconds, 1),
        "peak_rss_mb": round(result.peak_rss_mb),
    }


@contextmanager
def _only_one(data: Path) -> Iterator[None]:
    """Hold the demo's lock, which the operating system frees at the end of the process. Raises DemoRunningError."""
    with (data / "demo.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise DemoRunningError.of(data) from error
        yield


@contextmanager
def _instance(settings: Settings) -> Iterator[dg.DagsterInstance]:
    home = dagster_home(settings, os.environ)
    prepare_home(settings, home)
    logging.getLogger("dagster").setLevel(logging.CRITICAL)
    hide_notices()
    with dg.DagsterInstance.from_config(str(home)) as instance:
        yield instance
