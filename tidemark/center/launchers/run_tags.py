"""Tags and states of runs, common to all launchers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.center.dispatch import DagsterRunState
from tidemark.warehouse.dagster_partition_keys import (
    TIME_DIMENSION,
    dagster_key,
    part_dimension,
    part_key,
    partition_of,
)
from tidemark.warm_runs.launcher import NOT_BEGUN, WarmRunLauncher
from tidemark.warm_runs.run_identity import POOL_TAG, RUN_TAG, run_of_launch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice

BACKFILL_TAG: Final = "tidemark/backfill"
"""The number of the run's backfill; Dagster's page of runs can filter by it."""
LAUNCHED_BY_TAG: Final = "user"
"""Shown on Dagster's pages as the launcher; without it they show "Manually launched"."""
PARTITION: Final = "dagster/partition"
RANGE_START: Final = "dagster/asset_partition_range_start"
RANGE_END: Final = "dagster/asset_partition_range_end"


def run_tags(
    graph: DependencyGraph, run_id: str, slices: Sequence[Slice], pool: str, backfill: int | None = None
) -> dict[str, str]:
    """All tags of a run of the center."""
    of_backfill = {} if backfill is None else {BACKFILL_TAG: str(backfill)}
    return {RUN_TAG: run_id, POOL_TAG: pool, **of_backfill, **_partition_tags(graph, slices)}


def asset_keys(slices: Sequence[Slice]) -> frozenset[dg.AssetKey]:
    """The assets of a run of these slices."""
    return frozenset(dg.AssetKey([slice_.entity]) for slice_ in slices)


def run_state(instance: dg.DagsterInstance, run_id: str) -> DagsterRunState:
    """The state of the run with this id, launched by a service or by the sensor.

    A run that a service has created, without a worker, is still unknown. Runs of the sensor have their own ids in
    Dagster.
    """
    run, launcher = run_of_launch(instance, run_id), instance.run_launcher
    if run is None:
        return DagsterRunState.UNKNOWN
    if run.is_finished:
        return DagsterRunState.ENDED
    is_created = run.run_id == run_id and run.status in NOT_BEGUN
    if is_created and isinstance(launcher, WarmRunLauncher) and not launcher.has_taken(run_id):
        return DagsterRunState.UNKNOWN
    return DagsterRunState.UNDER_WAY


def _partition_tags(graph: DependencyGraph, slices: Sequence[Slice]) -> dict[str, str]:
    """Dagster's partition tags: one partition, or a range; none for a static slice."""
    first, entity = slices[0], graph.entity(slices[0].entity)
    if entity.period is None:
        return {}
    period = str(entity.period)
    if first.sub:
        dimensions = {TIME_DIMENSION: dagster_key(period, first.key), part_dimension(entity): part_key(first.sub)}
        keys_of_dimensions = {f"{PARTITION}/{name}": key for name, key in dimensions.items()}
        return {PARTITION: partition_of(entity, first) or "", **keys_of_dimensions}
    keys = [dagster_key(period, key) for key in dict.fromkeys(slice_.key for slice_ in slices)]
    return {PARTITION: keys[0]} if len(keys) == 1 else {RANGE_START: keys[0], RANGE_END: keys[-1]}
