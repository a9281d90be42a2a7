"""The in-process host on a small warehouse: real Dagster runs, real Spark, everything once and in order."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import dagster as dg
import pytest

from tests.compute.small_warehouse import small_warehouse
from tests.compute.test_slice_computer import SALES, fill, report
from tests.dagster.sensors.test_readiness import ARRIVES
from tidemark.center.in_process_host import InProcessHost
from tidemark.center.launchers.in_process_runs import HOST_TAG, StepProgress
from tidemark.center.launchers.run_tags import LAUNCHED_BY_TAG
from tidemark.dagster.definitions import build_definitions
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.warehouse.warehouse import Warehouse

pytestmark = pytest.mark.spark
NAMES = ("totals", "olap_totals", "running")


class Recorder:
    """Remembers what a launcher tells."""

    def __init__(self) -> None:
        self.runs: list[list[str]] = []
        self.steps: list[tuple[StepProgress, str]] = []

    def run_started(self, slices: Sequence[Slice]) -> None:
        self.runs.append([str(slice_) for slice_ in slices])

    def step(self, progress: StepProgress, slices: Sequence[Slice]) -> None:
        self.steps += [(progress, str(slice_)) for slice_ in slices]

    def of(self, wanted: StepProgress) -> list[str]:
        return [text for progress, text in self.steps if progress is wanted]


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as opened:
        yield opened


def host_of(warehouse: Warehouse, instance: dg.DagsterInstance) -> InProcessHost:
    job = build_definitions(warehouse).resolve_implicit_global_asset_job_def()
    return InProcessHost(warehouse, job, instance, "test")


def run_ready(host: InProcessHost) -> Recorder:
    watcher = Recorder()
    host.run_ready(host.dispatch(watcher))
    return watcher


def test_what_is_ready_runs_once_and_a_second_host_has_nothing_to_do(
    tmp_path: Path, spark: SparkSession, instance: dg.DagsterInstance
) -> None:
    warehouse = small_warehouse(tmp_path, ARRIVES)
    fill(spark, warehouse, SALES)
    for day in ("2026-03-23", "2026-03-24"):
        report(instance, "sales", day)
    watcher = run_ready(host_of(warehouse, instance))
    completed = watcher.of(StepProgress.COMPLETED)
    assert sorted(completed) == sorted(f"{name}@2026-03-{day}" for name in NAMES for day in (23, 24))
    assert completed.index("totals@2026-03-23") < completed.index("olap_totals@2026-03-23")
    assert watcher.runs[0] == ["totals@2026-03-23", "totals@2026-03-24"]
    assert run_ready(host_of(warehouse, instance)).runs == []


@pytest.mark.long
def test_a_failed_check_holds_what_is_below_it_until_the_next_start_at_the_earliest(
    tmp_path: Path, spark: SparkSession, instance: dg.DagsterInstance
) -> None:
    warehouse, totals = small_warehouse(tmp_path, ARRIVES), Slice("totals", "2026-03-23")
    fill(spark, warehouse, {date(2026, 3, 23): [(1, 10, "us")]})
    report(instance, "sales", "2026-03-23")
    host = host_of(warehouse, instance)
    watcher = run_ready(host)
    assert watcher.of(StepProgress.FAILED) == [str(totals)] * 2
    assert host.center.failed_slices() == [totals]
    below = [Slice(name, "2026-03-23") for name in ("running", "olap_totals")]
    assert [host.center.status(slice_).run_state for slice_ in below] == [RunState.WAITING] * 2
    assert run_ready(host).runs == []
    assert host_of(warehouse, instance).center.ready() == [totals]


@pytest.mark.long
def test_a_launch_that_was_noted_by_a_process_that_is_gone_is_run(
    tmp_path: Path, spark: SparkSession, instance: dg.DagsterInstance
) -> None:
    warehouse, totals = small_warehouse(tmp_path, ARRIVES), Slice("totals", "2026-03-23")
    fill(spark, warehouse, SALES)
    report(instance, "sales", "2026-03-23")
    run_id = "00000000-0000-4000-8000-000000000001"
    assert host_of(warehouse, instance).center.launch([totals], run_id, "default") == [totals]
    watcher = run_ready(host_of(warehouse, instance))
    assert watcher.runs[0] == [str(totals)]
    run = instance.get_run_by_id(run_id)
    assert run is not None
    assert run.tags[LAUNCHED_BY_TAG] == "tidemark test"
    assert run.remote_job_origin is not None, "the overview shows runs by their code location"
    assert run.remote_job_origin.repository_origin.code_location_origin.location_name == "tidemark"
    assert sorted(watcher.of(StepProgress.COMPLETED)) == sorted(f"{name}@2026-03-23" for name in NAMES)


def test_runs_that_a_killed_process_left_are_closed_and_no_others(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    warehouse = small_warehouse(tmp_path, ARRIVES)
    job = build_definitions(warehouse).resolve_implicit_global_asset_job_def()
    left = instance.create_run_for_job(job, tags={HOST_TAG: "test"}, status=dg.DagsterRunStatus.STARTED)
    other = instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED)
    host_of(warehouse, instance)
    statuses = {run.run_id: run.status for run in instance.get_runs()}
    assert statuses == {left.run_id: dg.DagsterRunStatus.FAILURE, other.run_id: dg.DagsterRunStatus.STARTED}
