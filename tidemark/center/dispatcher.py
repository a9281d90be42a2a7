"""Run groups as Dagster runs in this process: the job, event log and pages of a UI run, without its start-up."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Final

import dagster as dg
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.errors import DagsterExecutionInterruptedError
from dagster._core.execution.api import execute_run_iterator

from tidemark.dependency_model.slice import Slice
from tidemark.warehouse.partition_keys import dagster_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dagster import DagsterEvent

    from tidemark.center.grouping import RunGroup
    from tidemark.warehouse.warehouse import Warehouse

HOST_TAG: Final = "tidemark/host"
_PARTITION: Final = "dagster/partition"
_RANGE_START: Final = "dagster/asset_partition_range_start"
_RANGE_END: Final = "dagster/asset_partition_range_end"
# All events are in the event log; on this process's own terminal they would bury what it says itself.
_QUIET: Final = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


class Progress(enum.Enum):
    """What a run tells while it goes on."""

    STARTED = "started"
    COMPLETED = "completed"
    FAILED = "failed"


class Dispatcher:
    """Executes run groups one after another. One live dispatcher of a host name at a time."""

    def __init__(
        self, warehouse: Warehouse, definitions: dg.Definitions, instance: dg.DagsterInstance, host: str
    ) -> None:
        self._warehouse = warehouse
        self._instance = instance
        self._host = host
        self._job = definitions.resolve_implicit_global_asset_job_def()

    def close_interrupted(self) -> int:
        """Mark runs of this host that a killed process left behind as failed; returns how many."""
        unfinished = dg.RunsFilter(
            tags={HOST_TAG: self._host},
            statuses=[dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED],
        )
        runs = self._instance.get_runs(unfinished)
        for run in runs:
            self._instance.report_run_failed(
                run, "The process that ran this ended before the run did; its slices run again."
            )
        return len(runs)

    @property
    def instance(self) -> dg.DagsterInstance:
        """Where runs are recorded."""
        return self._instance

    @property
    def host(self) -> str:
        """Whose runs these are."""
        return self._host

    def execute(self, group: RunGroup) -> Iterator[tuple[Progress, str, tuple[Slice, ...], str]]:
        """Run the group; yields (what, entity, its slices, run id) as it happens.

        A failed step ends its own branch only.
        """
        keys = {dg.AssetKey([name]) for name in group.entities}
        job = self._job.get_subset(asset_selection=keys)
        tags = {HOST_TAG: self._host, **_partition_tags(group)}
        run = self._instance.create_run_for_job(job, run_config=_QUIET, tags=tags, asset_selection=frozenset(keys))
        for event in execute_run_iterator(InMemoryJob(job), run, self._instance):
            if _is_interrupt(event):
                raise KeyboardInterrupt
            progress = _progress(event)
            if progress is not None and event.step_key is not None:
                slices = tuple(Slice(event.step_key, key) for key in group.keys)
                yield progress, event.step_key, slices, run.run_id


def _partition_tags(group: RunGroup) -> dict[str, str]:
    keys = [dagster_key(group.period, key) for key in group.keys]
    return {_PARTITION: keys[0]} if len(keys) == 1 else {_RANGE_START: keys[0], _RANGE_END: keys[-1]}


def _is_interrupt(event: DagsterEvent) -> bool:
    """Dagster catches signals while it runs and reports them as a failed step."""
    error = event.step_failure_data.error if event.is_step_failure else None
    return error is not None and error.cls_name == DagsterExecutionInterruptedError.__name__


def _progress(event: DagsterEvent) -> Progress | None:
    if event.is_step_start:
        return Progress.STARTED
    if event.is_step_success:
        return Progress.COMPLETED
    return Progress.FAILED if event.is_step_failure else None
