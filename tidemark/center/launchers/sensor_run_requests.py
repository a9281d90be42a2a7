"""Launches runs through a sensor: run requests for the daemon.

A request has the center's run id as key and tag: Dagster starts a key once, and the tag finds the run.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import dagster as dg

from tidemark.center.dispatch import DagsterRunState
from tidemark.center.launchers.run_tags import run_state, run_tags
from tidemark.dagster_internals.run_launcher import LaunchRunContext
from tidemark.warm_runs.errors import WorkersDownError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice


class DagsterRequests:
    """Collects the run requests of one tick; `take` returns them to Dagster. `instance` is that of the tick."""

    def __init__(self, graph: DependencyGraph, instance: dg.DagsterInstance | None = None) -> None:
        self._graph, self.instance = graph, instance
        self._requests: dict[str, dg.RunRequest] = {}

    def launch(self, run_id: str, slices: Sequence[Slice], pool: str, backfill: int | None = None) -> None:
        """Request one run of consecutive slices of one entity, or of several at the same times.

        A run that an ended service has created is submitted unchanged.
        """
        created = self.instance.get_run_by_id(run_id) if self.instance else None
        if self.instance and created:
            with suppress(WorkersDownError):  # requested again at the next tick
                self.instance.run_launcher.launch_run(LaunchRunContext(created, None))
            return
        tags = run_tags(self._graph, run_id, slices, pool, backfill)
        assets = [dg.AssetKey([name]) for name in dict.fromkeys(slice_.entity for slice_ in slices)]
        self._requests[run_id] = dg.RunRequest(run_key=run_id, asset_selection=assets, tags=tags)

    def state(self, run_id: str) -> DagsterRunState:
        """Dagster's state of the run; requests of this tick count as active."""
        if run_id in self._requests:
            return DagsterRunState.UNDER_WAY
        if self.instance is None:
            return DagsterRunState.UNKNOWN
        return run_state(self.instance, run_id)

    def take(self) -> list[dg.RunRequest]:
        """The collected requests, which are then cleared."""
        taken, self._requests = list(self._requests.values()), {}
        return taken
