"""What a launcher asks of other hosts, by the state store: nobody listens on the network.

Only where the store is a server can there be others; where it is a file, `of` gives nothing, and nobody is asked.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Self

from tidemark.state_store.database import Database
from tidemark.state_store.worker_runs import Stop, WorkerRuns
from tidemark.system.settings import Settings
from tidemark.warm_runs.code_identity import CodeIdentity

if TYPE_CHECKING:
    from tidemark.warm_runs.worker_options import WarmWorkerOptions


class SharedRuns:
    """The runs that hosts take from the store, as who launches them sees them. Opened when it is first asked."""

    def __init__(self, settings: Settings, options: WarmWorkerOptions) -> None:
        self._settings, self._options = settings, options

    @classmethod
    def of(cls, options: WarmWorkerOptions) -> Self | None:
        """None where there is this machine alone."""
        settings = Settings.load(os.environ)
        return cls(settings, options) if settings.state else None

    def offer(self, run_id: str) -> bool:
        """Let another host take the run; False where none with this code is there. Raises StateStoreDownError."""
        return self._runs.offer(run_id, self._code(), self._settings.host)

    def stop(self, run_id: str) -> Stop:
        """Have the run stopped, wherever it is. Raises StateStoreDownError."""
        return self._runs.stop(run_id)

    def is_open(self, run_id: str) -> bool:
        """Whether it waits for a host, or one has it. Raises StateStoreDownError."""
        return self._runs.is_open(run_id)

    @cached_property
    def _runs(self) -> WorkerRuns:
        return WorkerRuns(Database.of(self._settings))

    @cached_property
    def _code(self) -> CodeIdentity:
        return code_identity_of(self._options)


def code_identity_of(options: WarmWorkerOptions) -> CodeIdentity:
    """That of the packages whose changes make workers load again."""
    return CodeIdentity([*options.watch, *options.modules])
