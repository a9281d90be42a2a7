"""Every asset of the main job can be launched by partition: its own, what is read for them, and one run for all."""

from __future__ import annotations

import dagster as dg
import pytest

from tidemark.dagster.definitions import build_definitions
from tidemark.system.settings import Settings
from tidemark.warehouse.dagster_partition_keys import TIME_DIMENSION
from tidemark.warehouse.warehouse import load_warehouse

ASSETS = 38


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> dg.JobDefinition:
    warehouse = load_warehouse(Settings.at(tmp_path_factory.mktemp("launch") / "data"))
    return build_definitions(warehouse).resolve_implicit_global_asset_job_def()


def test_every_asset_is_in_the_job(job: dg.JobDefinition) -> None:
    assert len(job.asset_layer.asset_graph.materializable_asset_keys) == ASSETS


@pytest.mark.parametrize("count", [1, 3])
def test_every_asset_resolves_for_a_selection_of_partitions(job: dg.JobDefinition, count: int) -> None:
    graph = job.asset_layer.asset_graph
    for key in graph.materializable_asset_keys:
        node = graph.get(key)
        definition, keys = _select(job, key, count)
        assert node.backfill_policy == dg.BackfillPolicy.single_run(), key
        subset = definition.subset_with_partition_keys(keys)
        for parent in node.parent_keys:
            upstream = graph.get(parent).partitions_def
            assert upstream is not None, parent
            mapped = graph.get_partition_mapping(key, parent).get_upstream_mapped_partitions_result_for_partitions(
                subset, definition, upstream
            )
            assert set(mapped.partitions_subset.get_partition_keys()), (key, parent)
            missing = mapped.required_but_nonexistent_subset.get_partition_keys()
            start = _times(upstream).start.isoformat()
            assert all(partition < start for partition in missing), (key, parent)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3])
def test_a_run_is_planned_for_every_asset(job: dg.JobDefinition, count: int) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        for key in job.asset_layer.asset_graph.materializable_asset_keys:
            _, keys = _select(job, key, count)
            single = {"dagster/partition": keys[0], **_dimensions(keys[0])}
            several = {"dagster/asset_partition_range_start": keys[0], "dagster/asset_partition_range_end": keys[-1]}
            chosen = job.get_subset(asset_selection={key})
            run = instance.create_run_for_job(chosen, tags=single if len(keys) == 1 else several)
            plan = instance.get_execution_plan_snapshot(str(run.execution_plan_snapshot_id))
            assert plan.step_keys_to_execute == [key.to_user_string()]


def test_each_region_of_a_day_is_a_separate_partition(job: dg.JobDefinition) -> None:
    definition = job.asset_layer.asset_graph.get(dg.AssetKey(["dws_ad_spend_1d"])).partitions_def
    assert isinstance(definition, dg.MultiPartitionsDefinition)
    of_a_day = [key for key in definition.get_partition_keys() if key.startswith("2026-03-29")]
    assert sorted(of_a_day) == ["2026-03-29|antilles", "2026-03-29|metropole", "2026-03-29|reunion"]


def _select(job: dg.JobDefinition, key: dg.AssetKey, count: int) -> tuple[dg.PartitionsDefinition, list[str]]:
    """An asset's last partitions, as many as there are of those asked for; of parts those of the last times."""
    definition = job.asset_layer.asset_graph.get(key).partitions_def
    assert definition is not None, key
    assert _times(definition).get_partition_keys(), key
    return definition, list(definition.get_partition_keys()[-count:])


def _times(definition: dg.PartitionsDefinition) -> dg.TimeWindowPartitionsDefinition:
    """The dimension of time."""
    if isinstance(definition, dg.MultiPartitionsDefinition):
        definition = definition.get_partitions_def_for_dimension(TIME_DIMENSION)
    assert isinstance(definition, dg.TimeWindowPartitionsDefinition), definition
    return definition


def _dimensions(key: str) -> dict[str, str]:
    """The tags by which Dagster knows a partition of two dimensions."""
    if not isinstance(key, dg.MultiPartitionKey):
        return {}
    return {f"dagster/partition/{name}": part for name, part in key.keys_by_dimension.items()}
