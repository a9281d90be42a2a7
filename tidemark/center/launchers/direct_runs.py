"""Creates Dagster runs and gives them to the instance's run launcher, without queue and daemon.

The run id is the stored id of the launch: after a crash, or from another center, the run is found by it, and warm
workers accept an id once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.center.errors import LauncherError
from tidemark.center.launchers.job_subsets import JobSubsets
from tidemark.center.launchers.run_tags import LAUNCHED_BY_TAG, asset_keys, run_state, run_tags
from tidemark.dagster_internals.execution import (
    DagsterRunAlreadyExists,
    create_execution_plan,
    snapshot_from_execution_plan,
)
from tidemark.dagster_internals.long_lived_connections import keep_connections
from tidemark.dagster_internals.run_launcher import LaunchRunContext
from tidemark.warm_runs.launcher import NOT_BEGUN, WarmRunLauncher

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import dagster as dg

    from tidemark.center.code_location import CodeLocation
    from tidemark.center.dispatch import DagsterRunState
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice


class DirectRuns:
    """The launcher of the service. The instance's run launcher must be the warm one."""

    def __init__(self, graph: DependencyGraph, instance: dg.DagsterInstance, location: CodeLocation) -> None:
        if not isinstance(instance.run_launcher, WarmRunLauncher):
            raise LauncherError(
                "the center hands runs to warm workers",
                expected="the run launcher WarmRunLauncher",
                found=type(instance.run_launcher).__name__,
                where=f"dagster.yaml in {instance.root_directory}",
                hint="copy `run_launcher` from dagster_home/dagster.yaml of the repository",
            )
        keep_connections(instance)
        self._graph, self._instance, self._location = graph, instance, location
        self._launcher = instance.run_launcher
        self._jobs = JobSubsets(location.job)

    def launch(self, run_id: str, slices: Sequence[Slice], pool: str, backfill: int | None = None) -> None:
        """One run of slices of entities at the same times. Raises WorkersDownError; the caller asks again."""
        run = self._instance.get_run_by_id(run_id) or self._create(run_id, slices, pool, backfill)
        if run is not None and run.status in NOT_BEGUN:
            self._launcher.launch_run(LaunchRunContext(run, None))

    def state(self, run_id: str) -> DagsterRunState:
        """The state of a run; a run without a worker is still unknown."""
        return run_state(self._instance, run_id)

    def _create(self, run_id: str, slices: Sequence[Slice], pool: str, backfill: int | None) -> dg.DagsterRun | None:
        tags = {LAUNCHED_BY_TAG: "tidemark center", **run_tags(self._graph, run_id, slices, pool, backfill)}
        try:
            return self._create_run(run_id, asset_keys(slices), tags)
        except DagsterRunAlreadyExists:  # another center was faster
            return self._instance.get_run_by_id(run_id)

    def _create_run(self, run_id: str, keys: frozenset[dg.AssetKey], tags: Mapping[str, str]) -> dg.DagsterRun:
        job = self._jobs.of(keys)
        plan = create_execution_plan(job, tags=tags)
        return self._instance.create_run(
            job_name=job.name,
            run_id=run_id,
            run_config=None,
            status=None,
            tags=tags,
            root_run_id=None,
            parent_run_id=None,
            step_keys_to_execute=None,
            execution_plan_snapshot=snapshot_from_execution_plan(plan, job.get_job_snapshot_id()),
            job_snapshot=job.get_job_snapshot(),
            parent_job_snapshot=job.get_parent_job_snapshot(),
            asset_selection=keys,
            asset_check_selection=None,
            resolved_op_selection=None,
            op_selection=None,
            remote_job_origin=self._location.remote,
            job_code_origin=self._location.code,
            asset_graph=job.asset_layer.asset_graph,
        )
