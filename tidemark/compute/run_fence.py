"""Whether a run may still publish: not if its host was given up and its slices were launched again.

Nor if another center has taken over the flows of its table (`center_fence.py`).

The fence is checked after a table's transaction has begun and before it commits. A run that takes over begins later, so
its commit conflicts with this transaction, which then checks the fence again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tidemark.state_store.database import Database
from tidemark.state_store.worker_runs import WorkerRuns
from tidemark.warehouse.center_fence import CenterFence

if TYPE_CHECKING:
    from tidemark.system.settings import Settings

RunFence = Callable[[], None]
"""Raises an error if a run may not publish."""


def pass_always() -> None:
    """The fence of a run that no other host can take over."""


class RunFences:
    """The fences of one process. With a store in a local file there are no other hosts, so no run is given up."""

    def __init__(self, settings: Settings) -> None:
        database = Database.of(settings) if settings.state or settings.center else None
        self._runs: Final = WorkerRuns(database) if database and settings.state else None
        self._center: Final = CenterFence(settings, database) if database and settings.center else None

    def of(self, run_id: str, flows: str | None = None) -> RunFence:
        """A function that raises RunLostError once the run is given up, and StateStoreDownError.

        It also raises CenterFencedError and FenceUnseenError for flows that another center may compute.
        """
        runs, center = self._runs, self._center
        if runs is None and (center is None or flows is None):
            return pass_always

        def fence() -> None:
            if runs is not None:
                runs.require_kept(run_id)
            if center is not None:
                center.require_may_finish(flows)

        return fence
