"""Runs of others stay theirs: a reported run id never makes a center ask for a run, whoever starts again."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import dagster as dg
import pytest

from tests.center.launchers import MemoryLauncher
from tests.center.test_center import CenterWorld
from tests.center.test_dispatch import dispatch_of
from tests.compute.small_warehouse import small_warehouse
from tests.dagster.sensors.test_readiness import ARRIVES
from tidemark.center.detectors.external_report import facts_of
from tidemark.center.sensor_host import SensorHost
from tidemark.center.service import Service
from tidemark.dagster.definitions import build_definitions
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.warm_runs.launcher import WarmRunLauncher

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tidemark.center.center import DependencyCenter
    from tidemark.center.code_location import CodeLocation
    from tidemark.warehouse.warehouse import Warehouse

FOREIGN = ["airflow-4711", "6f1d7f3e-3c1c-4f4e-9d0c-2b8f6a0c1d11", "'; --"]
DAY = Slice("days", "2024-06-01")
OTHER_DAY = "days@2024-06-02"


@pytest.mark.parametrize("run", FOREIGN)
def test_a_foreign_run_is_not_asked_for_after_a_restart(tmp_path: Path, run: str) -> None:
    world, launcher = CenterWorld(tmp_path, days="period: day"), MemoryLauncher()
    world.center.tick()
    world.tell(str(DAY), "started", run=run)
    for _ in range(2):
        world.center = world.open_center()
        dispatch_of(world, launcher).step()
        assert launcher.groups == [[OTHER_DAY]]
    assert world.center.status(DAY).run_state is RunState.RUNNING
    world.tell(str(DAY), "completed", run=run)
    assert world.center.status(DAY).run_state is RunState.COMPLETED


def test_a_foreign_run_that_takes_over_a_launched_slice_makes_it_foreign(tmp_path: Path) -> None:
    world, launcher = CenterWorld(tmp_path, days="period: day"), MemoryLauncher()
    world.center.tick()
    world.center.launch([DAY], "own", "default")
    world.tell(str(DAY), "started", run="airflow-4711")
    assert world.center.launched_slices() == {}
    world.center = world.open_center()
    dispatch_of(world, launcher).step()
    assert launcher.groups == [[OTHER_DAY]]


def test_foreign_runs_take_no_slot_of_a_pool(tmp_path: Path) -> None:
    world, launcher = CenterWorld(tmp_path, days="period: day"), MemoryLauncher()
    world.center.tick()
    world.tell(str(DAY), "started", run="airflow-4711")
    assert dispatch_of(world, launcher, "default=1").step() == 1


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    launcher = {"module": "tidemark.warm_runs.launcher", "class": WarmRunLauncher.__name__}
    with dg.instance_for_test(temp_dir=str(tmp_path), overrides={"run_launcher": launcher}) as opened:
        yield opened


def sensor_ticks(warehouse: Warehouse, instance: dg.DagsterInstance) -> DependencyCenter:
    """A sensor that starts, and ticks twice."""
    host = SensorHost(warehouse)
    assert [host.tick(instance), host.tick(instance)] == [[], []]
    return host.center


def service_ticks(warehouse: Warehouse, instance: dg.DagsterInstance) -> DependencyCenter:
    """A service that starts, and ticks twice."""
    told: list[tuple[str, dict[str, Any]]] = []
    job = build_definitions(warehouse).resolve_implicit_global_asset_job_def()
    location = cast("CodeLocation", SimpleNamespace(job=job))
    service = Service(warehouse, instance, location, lambda event, **values: told.append((event, values)))
    service.serve(lambda: service.figures.ticks + service.figures.errors >= 2)
    assert [event for event, _ in told] == ["active", "stopped"]
    return service.center


@pytest.mark.slow
@pytest.mark.parametrize("run", FOREIGN)
def test_both_hosts_start_with_a_foreign_run_and_create_none(
    tmp_path: Path, instance: dg.DagsterInstance, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidemark.center.sensor_host._LEASE_SECONDS", 0.5)  # the service waits for its end
    warehouse, totals = small_warehouse(tmp_path, ARRIVES), Slice("totals", "2026-03-23")
    reporter = SensorHost(warehouse)
    report = {"subject": str(totals), "event": "started", "event_id": "1", "run_id": run}
    body = json.dumps({**report, "event_time": "2026-03-24T00:10:00Z"})
    reporter.center.report(facts_of(body.encode(), warehouse.graph), strict=True)
    for ticks in (service_ticks, sensor_ticks, service_ticks):
        center = ticks(warehouse, instance)
        assert center.status(totals).run_state is RunState.RUNNING
        assert instance.get_runs() == []
