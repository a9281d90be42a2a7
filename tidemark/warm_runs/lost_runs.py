"""Reports runs without a live host to Dagster: as failed, or as still waiting.

Each host of warm workers checks, and so does the center, which may be on a machine without workers. The first process
reports a run; the others leave it alone for a while.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from tidemark.errors import TransientError
from tidemark.state_store.unattended_runs import UnattendedRuns
from tidemark.state_store.worker_hosts import HOST_SECONDS, WorkerHosts
from tidemark.warm_runs.close_runs import tell_end, tell_waiting
from tidemark.warm_runs.run_identity import OutsideEnd

if TYPE_CHECKING:
    from collections.abc import Callable

    from dagster import DagsterInstance

    from tidemark.state_store.database import Database

_EVERY_SECONDS: Final = 2.0
_TURN_SECONDS: Final = 10.0
_TOLD_AT_ONCE: Final = 20
_IN_VAIN_SECONDS: Final = 300.0
"""How long a run waits for a host with its code, if there is none."""
_UPKEEP_SECONDS: Final = 3_600.0
_KEPT_SECONDS: Final = 30 * 86_400.0


class LostRuns:
    """Checks for lost runs; `wait_told_seconds` is as in WarmWorkerOptions."""

    def __init__(
        self, database: Database, wait_told_seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._wait_told_seconds, self._clock = wait_told_seconds, clock
        self._hosts, self._unattended = WorkerHosts(database), UnattendedRuns(database)
        self._looked_at = self._kept_at = float("-inf")
        self._answered_since: float | None = None

    def poll(self, instance: DagsterInstance) -> None:
        """Check every few seconds. Call it often. If the store does not answer, it is tried again."""
        if self._clock() - self._looked_at < _EVERY_SECONDS:
            return
        self._looked_at = self._clock()
        try:
            self._look(instance)
        except TransientError:
            self._answered_since = None

    def _look(self, instance: DagsterInstance) -> None:
        if self._store_has_answered():
            self._hosts.give_up()
            self._unattended.lose_without_host(_IN_VAIN_SECONDS)
        for run in self._unattended.lost()[:_TOLD_AT_ONCE]:
            is_ours = self._unattended.turn(run.run_id, _TURN_SECONDS)
            if is_ours and tell_end(instance, run.run_id, _why(run.host), OutsideEnd.LOST):
                self._unattended.close(run.run_id)
        for before, run_id in enumerate(self._unattended.waiting(self._wait_told_seconds)[:_TOLD_AT_ONCE]):
            if self._unattended.turn(run_id, self._wait_told_seconds):
                tell_waiting(instance, run_id, f"The run waits for a host with room, with {before} before it.")
        if self._clock() - self._kept_at >= _UPKEEP_SECONDS:
            self._kept_at = self._clock()
            self._unattended.forget(_KEPT_SECONDS)

    def _store_has_answered(self) -> bool:
        """Whether the store has answered for as long as a host may be silent.

        While the store is down, no host can report that it is alive. None is given up before each had time to report.
        """
        if self._answered_since is None:
            self._hosts.all()
            self._answered_since = self._clock()
        return self._clock() - self._answered_since >= HOST_SECONDS


def _why(host: str) -> str:
    if not host:
        return "No host of warm workers has this run's code."
    return f"No heartbeat arrived from the host {host}, which ran this; its slices are launched again."
