"""The engine on a small warehouse: real Dagster runs, real Spark, everything once and in order."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import dagster as dg
import pytest

from tests.compute.small_warehouse import small_warehouse
from tests.compute.test_compute import SALES, fill, report
from tests.dagster.sensors.test_readiness import ARRIVES
from tidemark.center.dispatcher import HOST_TAG, Dispatcher, Progress
from tidemark.center.engine import Engine
from tidemark.dagster.definitions import build_definitions
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Life
from tidemark.state_store.snapshot_registry import SnapshotRegistry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.center.grouping import RunGroup
    from tidemark.warehouse.warehouse import Warehouse

pytestmark = pytest.mark.spark


class Recorder:
    """Remembers what an engine tells."""

    def __init__(self) -> None:
        self.runs: list[RunGroup] = []
        self.steps: list[tuple[Progress, str]] = []

    def run_started(self, group: RunGroup) -> None:
        self.runs.append(group)

    def step(self, progress: Progress, entity: str, slices: tuple[Slice, ...]) -> None:  # noqa: ARG002 - the protocol
        self.steps += [(progress, str(slice_)) for slice_ in slices]


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as opened:
        yield opened


def engine_of(warehouse: Warehouse, instance: dg.DagsterInstance) -> Engine:
    dispatcher = Dispatcher(warehouse, build_definitions(warehouse), instance, "test")
    return Engine(warehouse, SnapshotRegistry.at(warehouse.settings.state_db), dispatcher)


def test_what_is_ready_runs_once_and_a_second_engine_finds_nothing_to_do(
    tmp_path: Path, spark: SparkSession, instance: dg.DagsterInstance
) -> None:
    warehouse = small_warehouse(tmp_path, ARRIVES)
    fill(spark, warehouse, SALES)
    for day in ("2026-03-23", "2026-03-24"):
        report(instance, "sales", day)
    watcher = Recorder()
    assert engine_of(warehouse, instance).run_ready(watcher) == 6
    completed = [text for progress, text in watcher.steps if progress is Progress.COMPLETED]
    assert sorted(completed) == sorted(
        f"{name}@2026-03-{day}" for name in ("totals", "olap_totals", "running") for day in (23, 24)
    )
    assert completed.index("totals@2026-03-23") < completed.index("olap_totals@2026-03-23")
    assert [group.keys for group in watcher.runs] == [("2026-03-23", "2026-03-24")]
    assert engine_of(warehouse, instance).run_ready(Recorder()) == 0


def test_a_failed_check_holds_what_is_below_it(
    tmp_path: Path, spark: SparkSession, instance: dg.DagsterInstance
) -> None:
    warehouse = small_warehouse(tmp_path, ARRIVES)
    fill(spark, warehouse, {date(2026, 3, 23): [(1, 10, "us")]})
    report(instance, "sales", "2026-03-23")
    engine, watcher = engine_of(warehouse, instance), Recorder()
    assert engine.run_ready(watcher) == 0
    assert (Progress.FAILED, "totals@2026-03-23") in watcher.steps
    assert engine.tracker.failed == {Slice("totals", "2026-03-23")}
    below = [Slice(name, "2026-03-23") for name in ("running", "olap_totals")]
    assert [engine.center.status(one).life for one in below] == [Life.WAITING] * 2


def test_runs_that_a_killed_process_left_are_closed_and_no_others(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    warehouse = small_warehouse(tmp_path, ARRIVES)
    job = build_definitions(warehouse).resolve_implicit_global_asset_job_def()
    left = instance.create_run_for_job(job, tags={HOST_TAG: "test"}, status=dg.DagsterRunStatus.STARTED)
    other = instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED)
    engine_of(warehouse, instance)
    statuses = {run.run_id: run.status for run in instance.get_runs()}
    assert statuses == {left.run_id: dg.DagsterRunStatus.FAILURE, other.run_id: dg.DagsterRunStatus.STARTED}
