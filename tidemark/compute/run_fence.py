"""Whether a run may still publish: not if its host was given up and its slices were launched again.

The fence is checked after a table's transaction has begun and before it commits. A run that takes over begins later, so
its commit conflicts with this transaction, which then checks the fence again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tidemark.state_store.database import Database
from tidemark.state_store.worker_runs import WorkerRuns

if TYPE_CHECKING:
    from tidemark.system.settings import Settings

RunFence = Callable[[], None]
"""Raises an error if a run may not publish."""


def pass_always() -> None:
    """The fence of a run that no other host can take over."""


class RunFences:
    """The fences of one process. With a store in a local file there are no other hosts, so nothing is checked."""

    def __init__(self, settings: Settings) -> None:
        self._runs: Final = WorkerRuns(Database.of(settings)) if settings.state else None

    def of(self, run_id: str) -> RunFence:
        """A function that raises RunLostError once the run is given up, and StateStoreDownError."""
        runs = self._runs
        return pass_always if runs is None else lambda: runs.require_kept(run_id)
