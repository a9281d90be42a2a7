"""Rules of external assets in Dagster: check specs with partitions, results of exactly one partition, and freshness."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.project import write_project
from tidemark.center.detectors.observed_in_dagster import show_observation
from tidemark.center.detectors.slice_rules import judge
from tidemark.dagster.definitions import build_definitions
from tidemark.dependency_model.arrival.sighting import Sight
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, Quality, RunState, SliceStatus
from tidemark.dependency_model.status.flaws import VALID, VALIDITY_CHECK, flaws
from tidemark.state_store.database import Database
from tidemark.state_store.transition import Transition
from tidemark.state_store.writer import SqlStateWriter
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import Warehouse, load_warehouse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CLICKS = dg.AssetKey(["clicks"])
ROWS, IDS, VALIDITY = (dg.AssetCheckKey(CLICKS, name) for name in ("row_count", "not_null", VALIDITY_CHECK))
DAYS = ("2024-06-01", "2024-06-02", "2024-06-03")


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    probe = f"probe: {{files: {{path: '{tmp_path}/drop/{{key}}'}}}}\n"
    rules = "quality: [{row_count: {min: 2}}, {not_null: {columns: [id], severity: warn}}]\n"
    declared = (
        f'kind: Virtual\nperiod: day\nstart: {DAYS[0]}\ntime_zone: Europe/Paris\nready_by: "06:30"\n{probe}{rules}'
    )
    files = {
        "external/clicks.yaml": declared,
        "external/reported.yaml": "kind: Virtual\nperiod: day\nstart: 2024-06-01\n",
    }
    return load_warehouse(Settings.load({"TIDEMARK_ROOT": str(write_project(tmp_path / "project", files))}))


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as opened:
        yield opened


def statuses(instance: dg.DagsterInstance, check: dg.AssetCheckKey) -> dict[str | None, str]:
    told = instance.event_log_storage.get_asset_check_partition_info([check])
    return {info.partition_key: info.latest_execution_status.value for info in told if info.latest_execution_status}


def test_each_rule_is_a_check_with_the_assets_partitions(warehouse: Warehouse) -> None:
    graph = build_definitions(warehouse).get_repository_def().asset_graph
    assert set(graph.asset_check_keys) == {ROWS, IDS, VALIDITY}
    specs = {key: graph.get_check_spec(key) for key in (ROWS, IDS, VALIDITY)}
    assert [specs[key].blocking for key in specs] == [True, False, False]
    assert all(spec.partitions_def == graph.get(CLICKS).partitions_def for spec in specs.values())
    assert not graph.get(CLICKS).is_executable


def test_a_promise_of_each_day_is_a_freshness_policy(warehouse: Warehouse) -> None:
    graph = build_definitions(warehouse).get_repository_def().asset_graph
    policy = dg.FreshnessPolicy.cron("30 6 * * *", timedelta(hours=6, minutes=30), "Europe/Paris")
    assert graph.get(CLICKS).freshness_policy == policy
    assert graph.get(dg.AssetKey(["reported"])).freshness_policy is None


def test_results_of_probes_are_reported_with_their_partition_and_again_after_changes(
    warehouse: Warehouse, instance: dg.DagsterInstance
) -> None:
    """Without partitions the newest day's result would stand for all; without the id no second one is taken."""
    entity = warehouse.entities["clicks"]
    for day, rows in ((DAYS[0], 5), (DAYS[1], 1), (DAYS[1], 1)):
        sight = Sight(is_there=True, why=f"{rows} rows", rows=rows, measured=(("not_null", 0),))
        show_observation(instance, entity, Slice("clicks", day), sight, judge(entity, sight), is_new=True)
    assert statuses(instance, ROWS) == {DAYS[0]: "SUCCEEDED", DAYS[1]: "FAILED"}
    corrected = Sight(is_there=True, why="9 rows", rows=9, measured=(("not_null", 0),))
    show_observation(instance, entity, Slice("clicks", DAYS[1]), corrected, judge(entity, corrected), is_new=False)
    assert statuses(instance, ROWS) == {DAYS[0]: "SUCCEEDED", DAYS[1]: "SUCCEEDED"}


def test_a_run_of_the_checks_looks_at_the_newest_slice_there_and_then(
    warehouse: Warehouse, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    job = dg.define_asset_job("look", dg.AssetSelection.checks(ROWS, IDS))
    definitions = dg.Definitions.merge(build_definitions(warehouse), dg.Definitions(jobs=[job]))

    def run() -> list[bool]:
        done = definitions.resolve_job_def("look").execute_in_process(instance=instance, raise_on_error=False)
        told = {evaluation.check_name: evaluation.passed for evaluation in done.get_asset_check_evaluations()}
        return [told["row_count"], told["not_null"]]

    assert run() == [False, False], "it is not there"
    newest = [slice_.key for slice_ in warehouse.graph.slices("clicks", datetime.now(UTC))][-1]
    for key in (newest, DAYS[0]):
        (tmp_path / "drop" / key).mkdir(parents=True)
        ids = [1, 2, 3] if key != newest else [1, None]
        pq.write_table(pa.table({"id": ids}), tmp_path / "drop" / key / "part.parquet")
    assert run() == [True, False], "of the newest slice, and of no other"


def test_a_run_of_the_check_valid_reports_the_stored_state_of_the_newest_slice(
    warehouse: Warehouse, instance: dg.DagsterInstance
) -> None:
    job = dg.define_asset_job("tell", dg.AssetSelection.checks(VALIDITY))
    definitions = dg.Definitions.merge(build_definitions(warehouse), dg.Definitions(jobs=[job]))

    def run() -> tuple[bool, str | None]:
        done = definitions.resolve_job_def("tell").execute_in_process(instance=instance)
        (told,) = done.get_asset_check_evaluations()
        return told.passed, told.description

    assert run() == (True, VALID)
    newest = Slice("clicks", [slice_.key for slice_ in warehouse.graph.slices("clicks", datetime.now(UTC))][-1])
    failed = SliceStatus(RunState.COMPLETED, quality=Quality.FAILED, issues=frozenset({newest}))
    now = datetime.now(UTC)
    writer = SqlStateWriter(Database.of(warehouse.settings))
    writer.append([Transition(1, "1", newest, Event.QUALITY_FAILED, failed, "test", "", now, now)], after=0)
    passed, why = run()
    assert not passed
    assert why == "; ".join(flaws(newest, failed)) != ""
