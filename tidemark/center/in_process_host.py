"""The center of the demo's process, which runs ready slices itself, one run after the other."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from tidemark.center.center_tick import CenterTick
from tidemark.center.code_location import job_on_pages
from tidemark.center.dispatch import Dispatch
from tidemark.center.fact import Fact
from tidemark.center.launch_policy import LaunchPolicy
from tidemark.center.launchers.in_process_runs import InProcessRuns, close_interrupted
from tidemark.center.pools import Pools
from tidemark.dagster_internals.long_lived_connections import keep_connections
from tidemark.dependency_model.status import Event, RunState
from tidemark.system.utc_clock import utc_now

if TYPE_CHECKING:
    import dagster as dg

    from tidemark.center.launchers.in_process_runs import RunWatcher
    from tidemark.dependency_model.slice import Slice
    from tidemark.warehouse.warehouse import Warehouse

# All ready slices share a run: a second run would not be faster.
_POLICY: Final = LaunchPolicy(attempts=2, wait=timedelta(0), together=100, across=100)


class InProcessHost:
    """One live process for each `name`. Earlier failures are retried at each start.

    Runs of other processes (the UI, a killed process) are read from Dagster's event log first.
    """

    def __init__(self, warehouse: Warehouse, job: dg.JobDefinition, instance: dg.DagsterInstance, name: str) -> None:
        self._warehouse, self._job, self._instance, self._name = warehouse, job, instance, name
        self._intake = CenterTick(warehouse, name)
        self.center = self._intake.center
        keep_connections(instance)
        close_interrupted(instance, name)
        self._intake.tick(instance)
        self._retry_failed()

    def dispatch(self, watcher: RunWatcher) -> Dispatch:
        """The dispatch whose runs the watcher sees."""
        on_pages = job_on_pages(self._warehouse.settings.root / "workspace.yaml", self._job.name)
        return Dispatch(
            self.center,
            InProcessRuns(self._warehouse.graph, self._job, self._instance, self._name, watcher, on_pages),
            Pools.parse(self._warehouse.settings.pools).one_run_each(),
            policy=_POLICY,
            clock=utc_now,
            backfills=self._intake.backfills,
        )

    def take_in(self) -> None:
        """Read new events and apply the clock."""
        self._intake.tick(self._instance)

    def is_complete(self, slice_: Slice) -> bool:
        """Whether a slice is complete and readable."""
        status = self.center.status(slice_)
        return status.run_state is RunState.COMPLETED and status.valid

    def count_records(self) -> None:
        """Count the records of all counted tables now."""
        self._intake.outside.counting.count_all()

    def run_ready(self, dispatch: Dispatch) -> None:
        """Read new events and run until nothing is ready, beginning with the stored launches of an ended process."""
        dispatch.recover()
        self.take_in()
        while dispatch.step():
            self._intake.tick(self._instance)

    def _retry_failed(self) -> None:
        now = utc_now()
        self.center.report(
            [
                Fact(f"start:{now.isoformat()}:{slice_}", slice_, Event.RETRIED, now, self._name, "a new start")
                for slice_ in self.center.failed_slices()
            ]
        )
