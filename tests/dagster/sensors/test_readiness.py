"""The readiness sensor on a small warehouse and a real Dagster instance: the right runs, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest

from tests.compute.small_warehouse import DECLARED, small_warehouse
from tidemark.center.launchers.run_tags import PARTITION, RANGE_END, RANGE_START
from tidemark.center.sensor_host import SensorHost
from tidemark.dagster.partitions import partitions_definition
from tidemark.dagster.sensors.readiness import readiness_sensor
from tidemark.dependency_model.entity.quality_rules import check_names
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.warm_runs.run_identity import RUN_TAG

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tidemark.warehouse.warehouse import Warehouse

ARRIVES = {"sales": ("period: day\nkind: Virtual\n", DECLARED["sales"][1])}


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as opened:
        yield opened


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return small_warehouse(tmp_path, ARRIVES)


def tick(warehouse: Warehouse, instance: dg.DagsterInstance) -> list[dg.RunRequest]:
    """One evaluation in a process of its own: nothing is remembered but what is stored."""
    result = readiness_sensor(warehouse)(dg.build_sensor_context(instance=instance))
    return list(result.run_requests or ()) if isinstance(result, dg.SensorResult) else []


def runs_of(requests: list[dg.RunRequest]) -> list[tuple[str, str]]:
    return [
        (key.to_user_string(), request.tags.get(PARTITION) or f"{request.tags[RANGE_START]}..{request.tags[RANGE_END]}")
        for request in requests
        for key in request.asset_selection or ()
    ]


def arrive(instance: dg.DagsterInstance, day: str) -> None:
    instance.report_runless_asset_event(dg.AssetMaterialization("sales", partition=day))


def run(
    warehouse: Warehouse,
    instance: dg.DagsterInstance,
    name: str,
    day: str,
    tags: Mapping[str, str] | None = None,
    *,
    fails: bool = False,
) -> None:
    """A run as the UI or the daemon starts it: it evaluates its checks, then materializes."""
    entity = warehouse.entities[name]
    checks = check_names(entity.quality)

    @dg.asset(
        name=name,
        partitions_def=partitions_definition(entity, warehouse.graph),
        check_specs=[dg.AssetCheckSpec(check, asset=name) for check in checks],
    )
    def computed() -> Any:
        if fails:
            raise RuntimeError("the cluster is on fire")
        for check in checks:
            yield dg.AssetCheckResult(passed=True, check_name=check)
        yield dg.MaterializeResult()

    dg.materialize([computed], instance=instance, partition_key=day, tags=dict(tags or {}), raise_on_error=False)


def follow(warehouse: Warehouse, instance: dg.DagsterInstance, request: dg.RunRequest) -> None:
    (key,) = request.asset_selection or ()
    run(warehouse, instance, key.to_user_string(), request.tags[PARTITION], request.tags)


@pytest.mark.slow
def test_each_slice_is_asked_for_when_its_last_input_is_there(
    warehouse: Warehouse, instance: dg.DagsterInstance
) -> None:
    assert tick(warehouse, instance) == []
    arrive(instance, "2026-03-23")
    (totals,) = tick(warehouse, instance)
    assert runs_of([totals]) == [("totals", "2026-03-23")]
    assert totals.run_key == totals.tags[RUN_TAG]
    follow(warehouse, instance, totals)
    followers = tick(warehouse, instance)
    assert sorted(runs_of(followers)) == [("olap_totals", "2026-03-23"), ("running", "2026-03-23")]
    for request in followers:
        follow(warehouse, instance, request)
    assert tick(warehouse, instance) == []
    assert SensorHost(warehouse).store.read.last() > 0


def test_waiting_slices_are_listed_and_observed_once_for_each_reason(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    (tmp_path / "ended").mkdir()
    sales = ("period: day\nkind: Virtual\nend: 2026-03-25\n", DECLARED["sales"][1])
    totals = (DECLARED["totals"][0] + "end: 2026-03-25\n", DECLARED["totals"][1])
    running = (DECLARED["running"][0] + "end: 2026-03-24\n", DECLARED["running"][1])
    warehouse = small_warehouse(tmp_path / "ended", {"sales": sales, "totals": totals, "running": running})
    told = evaluate(warehouse, instance, None)
    assert told.skip_reason is not None
    assert "5 waiting: " in (told.skip_reason.skip_message or "")
    assert waits(told) == {
        ("totals", "2026-03-23", "sales@2026-03-23"),
        ("totals", "2026-03-24", "sales@2026-03-24"),
        ("olap_totals", "2026-03-23", "totals@2026-03-23"),
        ("olap_totals", "2026-03-24", "totals@2026-03-24"),
        ("running", "2026-03-23", "totals@2026-03-23, sales@2026-03-23"),
    }
    assert waits(evaluate(warehouse, instance, told.cursor)) == set()
    arrive(instance, "2026-03-23")
    assert waits(evaluate(warehouse, instance, told.cursor)) == {("running", "2026-03-23", "totals@2026-03-23")}


def evaluate(warehouse: Warehouse, instance: dg.DagsterInstance, cursor: str | None) -> dg.SensorResult:
    result = readiness_sensor(warehouse)(dg.build_sensor_context(instance=instance, cursor=cursor))
    assert isinstance(result, dg.SensorResult)
    return result


def waits(result: dg.SensorResult) -> set[tuple[str, str, str]]:
    return {
        (event.asset_key.to_user_string(), str(event.partition), str(event.metadata["waits_for"].value))
        for event in result.asset_events
        if isinstance(event, dg.AssetObservation) and "waits_for" in event.metadata
    }


@pytest.mark.slow
def test_a_promise_that_was_not_kept_is_observed_once(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    (tmp_path / "promised").mkdir()
    yaml = DECLARED["totals"][0] + 'end: 2026-03-25\nready_by: "00:30"\n'
    warehouse = small_warehouse(tmp_path / "promised", {**ARRIVES, "totals": (yaml, DECLARED["totals"][1])})
    first = evaluate(warehouse, instance, None)
    assert promises(first) == [(2, "late: 2026-03-23, 2026-03-24")]
    assert promises(evaluate(warehouse, instance, first.cursor)) == []
    for day in ("2026-03-23", "2026-03-24"):
        run(warehouse, instance, "totals", day)
    kept = evaluate(warehouse, instance, first.cursor)
    assert promises(kept) == [(0, "no slice is late")]


def promises(result: dg.SensorResult) -> list[tuple[object, str | None]]:
    return [
        (event.metadata["late_slices"].value, event.description)
        for event in result.asset_events
        if isinstance(event, dg.AssetObservation) and "late_slices" in event.metadata
    ]


@pytest.mark.slow
def test_a_request_that_the_daemon_lost_is_made_again_under_the_same_key(
    warehouse: Warehouse, instance: dg.DagsterInstance
) -> None:
    arrive(instance, "2026-03-23")
    first, second = tick(warehouse, instance), tick(warehouse, instance)
    assert [request.run_key for request in first] == [request.run_key for request in second]
    follow(warehouse, instance, first[0])
    assert first[0].run_key not in [request.run_key for request in tick(warehouse, instance)]


@pytest.mark.slow
def test_a_materialization_from_the_ui_counts_like_any_other(
    warehouse: Warehouse, instance: dg.DagsterInstance
) -> None:
    run(warehouse, instance, "totals", "2026-03-23")
    assert runs_of(tick(warehouse, instance)) == [("olap_totals", "2026-03-23")]
    arrive(instance, "2026-03-23")
    assert runs_of(tick(warehouse, instance))[0] == (
        "olap_totals",
        "2026-03-23",
    )  # not launched yet: asked for again


@pytest.mark.slow
def test_a_materialization_without_a_run_releases_nothing_that_asks_for_quality(
    warehouse: Warehouse, instance: dg.DagsterInstance
) -> None:
    instance.report_runless_asset_event(dg.AssetMaterialization("totals", partition="2026-03-23"))
    assert tick(warehouse, instance) == []
    run(warehouse, instance, "totals", "2026-03-23")
    assert runs_of(tick(warehouse, instance)) == [("olap_totals", "2026-03-23")]


@pytest.mark.slow
def test_a_backfill_from_the_ui_reaches_the_readers_of_the_slice(
    warehouse: Warehouse, instance: dg.DagsterInstance
) -> None:
    arrive(instance, "2026-03-23")
    for _ in range(2):
        for request in tick(warehouse, instance):
            follow(warehouse, instance, request)
    assert tick(warehouse, instance) == []
    run(warehouse, instance, "totals", "2026-03-23")
    assert sorted(runs_of(tick(warehouse, instance))) == [("olap_totals", "2026-03-23"), ("running", "2026-03-23")]


@pytest.mark.slow
def test_a_failed_run_holds_downstream_slices_and_is_retried(
    warehouse: Warehouse, instance: dg.DagsterInstance
) -> None:
    arrive(instance, "2026-03-23")
    (totals,) = tick(warehouse, instance)
    run(warehouse, instance, "totals", "2026-03-23", totals.tags, fails=True)
    assert tick(warehouse, instance) == []
    assert SensorHost(warehouse).center.status(Slice("totals", "2026-03-23")).run_state is RunState.FAILED


@pytest.mark.slow
def test_a_wiped_slice_is_absent_and_holds_its_readers(warehouse: Warehouse, instance: dg.DagsterInstance) -> None:
    arrive(instance, "2026-03-23")
    (totals,) = tick(warehouse, instance)
    instance.wipe_assets([dg.AssetKey(["sales"])])
    tick(warehouse, instance)
    assert SensorHost(warehouse).center.status(Slice("sales", "2026-03-23")).run_state is RunState.ABSENT
    follow(warehouse, instance, totals)
    assert sorted(runs_of(tick(warehouse, instance))) == [("olap_totals", "2026-03-23")]  # running also needs the sales
