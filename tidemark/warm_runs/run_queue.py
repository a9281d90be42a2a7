"""Dagster's run queue with as many slots as TIDEMARK_POOLS: the run coordinator in dagster.yaml."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from dagster import DagsterInstance, QueuedRunCoordinator

from tidemark.system.run_config import check_run_config, check_run_tags
from tidemark.system.settings import Settings
from tidemark.warm_runs.host_slots import SharedCapacities

if TYPE_CHECKING:
    from dagster import DagsterRun

    from tidemark.dagster_internals.run_launcher import RunQueueConfig, SubmitRunContext


class PooledRunQueue(QueuedRunCoordinator[DagsterInstance]):
    """Limits active runs to the slots of the pools; `max_concurrent_runs` in its configuration overrides them.

    With several hosts of warm workers, the limit follows the slots of all live hosts.
    """

    def __init__(self, max_concurrent_runs: int | None = None, **others: Any) -> None:
        settings = Settings.load(os.environ)
        self._shared = SharedCapacities(settings) if max_concurrent_runs is None and settings.state else None
        limit = settings.slots if max_concurrent_runs is None else max_concurrent_runs
        super().__init__(max_concurrent_runs=limit, **others)

    def submit_run(self, context: SubmitRunContext) -> DagsterRun:
        """Submit a run to the queue.

        Raises RunConfigRefusedError here, because runs that become pods skip our launcher.
        """
        check_run_config(dict(context.dagster_run.run_config))
        check_run_tags(context.dagster_run.tags)
        return super().submit_run(context)

    def get_run_queue_config(self) -> RunQueueConfig:
        """The limit for the daemon, which reads it at each round."""
        config = super().get_run_queue_config()
        return config if self._shared is None else config._replace(max_concurrent_runs=sum(self._shared.values()))
