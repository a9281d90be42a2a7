"""Executes runs in this process, one after the other, for the demo.

They use the same job, event log and pages as other runs, without starting a process. Their results are read from
Dagster's event log, like those of all runs.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, Protocol

import dagster as dg

from tidemark.center.launchers.job_subsets import JobSubsets
from tidemark.center.launchers.run_tags import LAUNCHED_BY_TAG, asset_keys, run_state, run_tags
from tidemark.dagster_internals.execution import (
    DagsterExecutionInterruptedError,
    InMemoryJob,
    execute_run_iterator,
)
from tidemark.warm_runs.launcher import NOT_BEGUN
from tidemark.warm_runs.run_identity import OutsideEnd, mark_ended, own_tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.center.dispatch import DagsterRunState
    from tidemark.dagster_internals.code_locations import RemoteJobOrigin
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice

HOST_TAG: Final = "tidemark/host"
_UNFINISHED: Final = (*NOT_BEGUN, dg.DagsterRunStatus.STARTED)
# The event log has all events; here they would hide the demo's own output.
_QUIET: Final = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


class StepProgress(Enum):
    """Progress of a run's steps."""

    STARTED = "started"
    COMPLETED = "completed"
    FAILED = "failed"


class RunWatcher(Protocol):
    """Receives progress; the console shows it."""

    def run_started(self, slices: Sequence[Slice]) -> None: ...
    def step(self, progress: StepProgress, slices: Sequence[Slice]) -> None: ...


class InProcessRuns:
    """The launcher of one process; one process for each `host` at a time.

    A run is over when `launch` returns. A failed step ends only its own branch.
    """

    def __init__(
        self,
        graph: DependencyGraph,
        job: dg.JobDefinition,
        instance: dg.DagsterInstance,
        host: str,
        watcher: RunWatcher,
        on_pages: RemoteJobOrigin | None = None,
    ) -> None:
        self._graph, self._instance, self._host, self._watcher = graph, instance, host, watcher
        self._jobs, self._on_pages = JobSubsets(job), on_pages

    def launch(self, run_id: str, slices: Sequence[Slice], pool: str, backfill: int | None = None) -> None:
        """Execute one run of slices of entities at the same times."""
        keys = asset_keys(slices)
        job, run = self._jobs.of(keys), self._instance.get_run_by_id(run_id)
        if run is None:
            own = {HOST_TAG: self._host, LAUNCHED_BY_TAG: f"tidemark {self._host}"}
            run = self._instance.create_run_for_job(
                job,
                run_id=run_id,
                run_config=_QUIET,
                tags={**own, **run_tags(self._graph, run_id, slices, pool, backfill)},
                asset_selection=keys,
                remote_job_origin=self._on_pages,
            )
        self._watcher.run_started(slices)
        for event in execute_run_iterator(InMemoryJob(job), run, self._instance):
            self._tell(event, slices)

    def state(self, run_id: str) -> DagsterRunState:
        """The state of a run."""
        return run_state(self._instance, run_id)

    def _tell(self, event: dg.DagsterEvent, slices: Sequence[Slice]) -> None:
        """Report a step to the watcher. Raises KeyboardInterrupt, because Dagster reports signals as failed steps."""
        if _is_interrupt(event):
            raise KeyboardInterrupt
        progress = _progress(event)
        if progress is not None and event.step_key is not None:
            own = [slice_ for slice_ in slices if slice_.entity == event.step_key]
            if own:  # the step of a separate check has no slice
                self._watcher.step(progress, own)


def close_interrupted(instance: dg.DagsterInstance, host: str) -> int:
    """Mark runs of a killed process of this host as failed; returns their number."""
    tagged = instance.get_runs(dg.RunsFilter(tags={HOST_TAG: host}, statuses=list(_UNFINISHED)))
    runs = [run for run in tagged if own_tag(run, HOST_TAG)]
    for run in runs:
        mark_ended(instance, run.run_id, OutsideEnd.INTERRUPTED)
        instance.report_run_failed(run, "The process that ran this ended before the run did; its slices run again.")
    return len(runs)


def _is_interrupt(event: dg.DagsterEvent) -> bool:
    error = event.step_failure_data.error if event.is_step_failure else None
    return error is not None and error.cls_name == DagsterExecutionInterruptedError.__name__


def _progress(event: dg.DagsterEvent) -> StepProgress | None:
    if event.is_step_start:
        return StepProgress.STARTED
    if event.is_step_success:
        return StepProgress.COMPLETED
    return StepProgress.FAILED if event.is_step_failure else None
