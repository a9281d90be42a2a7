"""Dagster as the launcher of a sensor: runs are asked for, and the daemon starts them.

A request carries the center's run id as its key and as a tag: Dagster starts a key once, and what it knows of a run is
found by the tag.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import dagster as dg
from dagster._core.launcher.base import LaunchRunContext

from tidemark.center.dispatch import RunState
from tidemark.warehouse.partition_keys import dagster_key
from tidemark.warm_runs.errors import PoolDownError
from tidemark.warm_runs.launcher import NOT_BEGUN, RUN_TAG, WarmRunLauncher

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice

POOL_TAG: Final = "tidemark/pool"
PARTITION: Final = "dagster/partition"
RANGE_START: Final = "dagster/asset_partition_range_start"
RANGE_END: Final = "dagster/asset_partition_range_end"


class DagsterRequests:
    """Collects the runs of one tick; `take` hands them to Dagster. `instance` is that of the tick."""

    def __init__(self, graph: DependencyGraph, instance: dg.DagsterInstance | None = None) -> None:
        self._graph, self.instance = graph, instance
        self._requests: dict[str, dg.RunRequest] = {}

    def launch(self, run_id: str, pieces: Sequence[Slice], pool: str) -> None:
        """Ask for one run of slices that follow each other, of one entity or of several at the same times.

        One that a service had created before it died is handed on as it is.
        """
        created = self.instance.get_run_by_id(run_id) if self.instance else None
        if self.instance and created:
            with suppress(PoolDownError):  # asked again at the next tick
                self.instance.run_launcher.launch_run(LaunchRunContext(created, None))
            return
        tags = {RUN_TAG: run_id, POOL_TAG: pool, **partition_tags(self._graph, pieces)}
        assets = [dg.AssetKey([name]) for name in dict.fromkeys(piece.entity for piece in pieces)]
        self._requests[run_id] = dg.RunRequest(run_key=run_id, asset_selection=assets, tags=tags)

    def state(self, run_id: str) -> RunState:
        """What Dagster knows of the run; what was asked for in this tick is under way."""
        if run_id in self._requests:
            return RunState.UNDER_WAY
        if self.instance is None:
            return RunState.UNKNOWN
        return run_state(self.instance, run_id)

    def take(self) -> list[dg.RunRequest]:
        """The requests so far; forgotten here."""
        found, self._requests = list(self._requests.values()), {}
        return found


def run_state(instance: dg.DagsterInstance, run_id: str) -> RunState:
    """What became of a run that was asked for under this id, by a service or by the sensor.

    One that a service has created and that no worker has taken is unknown still. A run that the sensor asked for has an
    id of Dagster's own.
    """
    run, launcher = instance.get_run_by_id(run_id), instance.run_launcher
    if run is None:
        found = instance.get_runs(dg.RunsFilter(tags={RUN_TAG: run_id}), limit=1)
        return RunState.UNKNOWN if not found else RunState.ENDED if found[0].is_finished else RunState.UNDER_WAY
    if run.is_finished:
        return RunState.ENDED
    if isinstance(launcher, WarmRunLauncher) and run.status in NOT_BEGUN and not launcher.has_taken(run_id):
        return RunState.UNKNOWN
    return RunState.UNDER_WAY


def partition_tags(graph: DependencyGraph, pieces: Sequence[Slice]) -> dict[str, str]:
    """The tags by which Dagster knows the partitions of a run: one, or a range of them."""
    period = str(graph.entity(pieces[0].entity).period)
    keys = [dagster_key(period, key) for key in dict.fromkeys(piece.key for piece in pieces)]
    return {PARTITION: keys[0]} if len(keys) == 1 else {RANGE_START: keys[0], RANGE_END: keys[-1]}
