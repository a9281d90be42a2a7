"""Dagster's queue of runs, as long as TIDEMARK_POOLS has slots: dagster.yaml names it as the run coordinator."""

from __future__ import annotations

import os
from typing import Any

from dagster import DagsterInstance, QueuedRunCoordinator

from tidemark.system.settings import Settings


class PooledRunQueue(QueuedRunCoordinator[DagsterInstance]):
    """So many runs of the daemon's are under way at a time; `max_concurrent_runs` in its configuration overrides it."""

    def __init__(self, max_concurrent_runs: int | None = None, **others: Any) -> None:
        limit = Settings.load(os.environ).slots if max_concurrent_runs is None else max_concurrent_runs
        super().__init__(max_concurrent_runs=limit, **others)
