"""Whether a run may still publish what it computed: not where its host was given up, and its slices launched again.

It is asked after a table's transaction has begun and before it commits. Runs that take over begin later, so that what
one of them commits is a conflict for this transaction; and that is asked again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tidemark.state_store.database import Database
from tidemark.state_store.worker_runs import WorkerRuns

if TYPE_CHECKING:
    from tidemark.system.settings import Settings

RunFence = Callable[[], None]
"""Raises where a run may not publish."""


def pass_always() -> None:
    """The fence of what no other host could take over."""


class RunFences:
    """Those of one process. Where the store is a file of this machine there are no other hosts: none asks anything."""

    def __init__(self, settings: Settings) -> None:
        self._runs: Final = WorkerRuns(Database.of(settings)) if settings.state else None

    def of(self, run_id: str) -> RunFence:
        """What raises RunLostError once the run is given up, and StateStoreDownError."""
        runs = self._runs
        return pass_always if runs is None else lambda: runs.require_kept(run_id)
