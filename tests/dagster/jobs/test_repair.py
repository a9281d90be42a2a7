"""A repair from the launchpad: the slice is repaired, checked and reported, and downstream slices are requested."""

from __future__ import annotations

import shutil
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest

from tests.compute.small_warehouse import small_warehouse
from tests.lake_folder import lake_folder
from tidemark.center.detectors.told_event import VERSION_KEY
from tidemark.center.sensor_host import SensorHost
from tidemark.compute.errors import QualityError, RepairSourceError
from tidemark.compute.repair import RepairRequest, carry_out, downstream_slices, plan
from tidemark.compute.runtime import Runtime
from tidemark.compute.table_version_tags import claims_of_tags, tag_version
from tidemark.dagster.jobs.repair import repair_job, tell_repair
from tidemark.dagster.resources import engine_resources
from tidemark.delta.delta_rs_table import current_version, read_partition
from tidemark.delta.errors import VersionGoneError
from tidemark.delta.replace_partition import replace_partition, replace_partitions
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.errors import UnknownEntityError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("repair job")]

MONDAY, TUESDAY = date(2026, 3, 23), date(2026, 3, 24)
NOW = datetime(2026, 3, 26, tzinfo=UTC)
RIGHT, WRONG = [("cn", 11), ("eu", 5)], [("cn", 17)]


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as opened:
        yield opened


@pytest.fixture(scope="module")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Totals of Monday and Tuesday, right in version 0; Monday's are wrong since version 1."""
    warehouse = small_warehouse(tmp_path_factory.mktemp("made"))
    sales = {MONDAY: [(1, 10, "cn"), (2, 5, "eu"), (3, 1, "cn")], TUESDAY: [(4, 7, "eu")]}
    parts = [
        ({"dt": day}, spark.createDataFrame(rows, "id INT, amount INT, region STRING")) for day, rows in sales.items()
    ]
    replace_partitions(parts, warehouse.table_path("sales"))
    runtime = Runtime(warehouse)
    runtime.computer().compute([Slice("totals", "2026-03-23"), Slice("totals", "2026-03-24")])
    wrong = spark.createDataFrame(WRONG, "region STRING, amount BIGINT").coalesce(1)
    replace_partition(wrong, warehouse.table_path("totals"), {"dt": MONDAY})
    return lake_folder(warehouse.settings.warehouse)


@pytest.fixture
def runtime(made: Path, tmp_path: Path) -> Runtime:
    """A copy of the tables, as making them takes longer than repairing one."""
    warehouse = small_warehouse(tmp_path)
    shutil.copytree(made, lake_folder(warehouse.settings.warehouse))
    return Runtime(warehouse)


def totals(runtime: Runtime, day: date = MONDAY) -> list[tuple[Any, ...]]:
    rows = read_partition(runtime.warehouse.table_path("totals"), {"dt": day}).to_pylist()
    return sorted((row["region"], row["amount"]) for row in rows)


def launch(runtime: Runtime, instance: dg.DagsterInstance, **config: object) -> dg.ExecuteInProcessResult:
    given = {"entity": "totals", "partition": "2026-03-23", **config}
    return repair_job(runtime.warehouse).execute_in_process(
        run_config={"ops": {"repair_partition": {"config": given}}},
        instance=instance,
        resources=engine_resources(runtime.warehouse.settings),
    )


def test_a_dry_run_tells_and_changes_nothing(runtime: Runtime, instance: dg.DagsterInstance) -> None:
    result = launch(runtime, instance, from_version=0)
    assert result.success
    assert totals(runtime) == WRONG
    assert not instance.get_materialized_partitions(dg.AssetKey("totals"))
    planned = plan(runtime, RepairRequest("totals", "2026-03-23", from_version=0), NOW)
    assert (planned.plan.way, planned.plan.rows_now, planned.plan.rows_then) == ("metadata", 1, 2)
    near = [Slice("olap_totals", "2026-03-23"), Slice("running", "2026-03-23")]
    assert list(planned.downstream) == near


@pytest.mark.parametrize("source", [{"recompute": True}, pytest.param({"from_tag": "before"}, marks=pytest.mark.long)])
def test_a_repair_requests_the_downstream_slices(
    runtime: Runtime, instance: dg.DagsterInstance, source: dict[str, object]
) -> None:
    tag_version(runtime.warehouse, runtime.registry, "totals", "before", NOW, version=0)
    for name in ("sales", "totals", "running", "olap_totals"):
        instance.report_runless_asset_event(dg.AssetMaterialization(name, partition="2026-03-23"))
    host = SensorHost(runtime.warehouse)
    host.tick(instance)
    downstream = Slice("olap_totals", "2026-03-23")
    assert host.center.status(downstream).generation == 1
    assert launch(runtime, instance, dry_run=False, **source).success
    assert (totals(runtime), totals(runtime, TUESDAY)) == (RIGHT, [("eu", 7)])
    host.tick(instance)
    assert host.center.status(Slice("totals", "2026-03-23")).generation == 2
    assert host.center.status(downstream).generation == 2
    host.store.close()


@pytest.mark.long
def test_a_partition_repaired_by_a_command_has_passed_its_rules(runtime: Runtime, instance: dg.DagsterInstance) -> None:
    """Else its slice would be unchecked, and what is made of it would wait for ever."""
    repaired, request = Slice("totals", "2026-03-23"), RepairRequest("totals", "2026-03-23", from_version=0)
    instance.report_runless_asset_event(
        dg.AssetMaterialization("totals", partition=repaired.key, metadata={VERSION_KEY: 1})
    )
    host = SensorHost(runtime.warehouse)
    host.tick(instance)
    carry_out(runtime, plan(runtime, request, NOW))  # who did that died before telling
    for generation in (2, 2):
        planned = plan(runtime, request, NOW)
        assert planned.plan.way == "nothing"
        _, written = carry_out(runtime, planned)
        tell_repair(instance, runtime, planned, written)
        host.tick(instance)
        status = host.center.status(repaired)
        assert (status.run_state, status.valid, status.generation) == (RunState.COMPLETED, True, generation)
    host.store.close()


def test_a_partition_that_would_still_be_wrong_is_not_repaired(
    runtime: Runtime, instance: dg.DagsterInstance, spark: SparkSession
) -> None:
    path = runtime.warehouse.table_path("totals")
    replace_partition(spark.createDataFrame(RIGHT, "region STRING, amount BIGINT").coalesce(1), path, {"dt": MONDAY})
    version = current_version(path)
    with pytest.raises(QualityError, match="reconcile"):
        launch(runtime, instance, from_version=1, dry_run=False)
    sales = spark.createDataFrame([(1, 10, "us")], "id INT, amount INT, region STRING")
    replace_partition(sales, runtime.warehouse.table_path("sales"), {"dt": MONDAY})
    with pytest.raises(QualityError, match="accepted_values"):
        launch(runtime, instance, recompute=True, dry_run=False)
    assert (totals(runtime), current_version(path)) == (RIGHT, version)
    assert not instance.get_materialized_partitions(dg.AssetKey("totals"))


def test_names_keep_their_versions_and_slices_have_downstream_up_to_today(runtime: Runtime) -> None:
    tag_version(runtime.warehouse, runtime.registry, "totals", "before", NOW, version=0)
    claims = claims_of_tags(runtime.warehouse, runtime.registry, "totals")
    assert [(claim.version, claim.reason) for claim in claims] == [(0, "totals before [name]")]
    runtime.registry.drop("totals", "name", "before")
    assert claims_of_tags(runtime.warehouse, runtime.registry, "totals") == []
    downstream = downstream_slices(runtime.warehouse.graph, Slice("sales", "2026-03-23"), NOW)
    assert Slice("totals", "2026-03-23") in downstream
    assert Slice("running", "2026-03-24") in downstream
    assert all(slice_.key <= "2026-03-25" for slice_ in downstream)


def test_an_unclear_request_is_refused(runtime: Runtime) -> None:
    before = current_version(runtime.warehouse.table_path("totals"))
    wrong = [
        (RepairRequest("totals", "2026-03-23"), RepairSourceError),
        (RepairRequest("totals", "2026-03-23", from_version=0, recompute=True), RepairSourceError),
        (RepairRequest("totals", "2026-03-23", from_tag="nobody knows"), RepairSourceError),
        (RepairRequest("totals", "2026-03-23", from_version=17), VersionGoneError),
        (RepairRequest("totals", "2025-03-23", from_version=0), RepairSourceError),
        (RepairRequest("nothing", "2026-03-23", from_version=0), UnknownEntityError),
    ]
    for request, error in wrong:
        with pytest.raises(error):
            plan(runtime, request, NOW)
    assert current_version(runtime.warehouse.table_path("totals")) == before
