"""What a launcher asks of other hosts, by the state store: nobody listens on the network.

Only where the store is a server can there be others; where it is a file, `of` gives nothing, and nobody is asked.
"""

from __future__ import annotations

import os
import uuid
from functools import cached_property
from typing import TYPE_CHECKING, Final, Self

from tidemark.dagster_internals.long_lived_connections import has_server
from tidemark.state_store.database import Database
from tidemark.state_store.worker_hosts import WorkerHosts
from tidemark.state_store.worker_runs import Stop, WorkerRuns
from tidemark.system.files import private_directory, replace_text
from tidemark.system.settings import Settings
from tidemark.warm_runs.code_identity import CodeIdentity
from tidemark.warm_runs.errors import NotSharedError
from tidemark.warm_runs.worker_options import host_folder

if TYPE_CHECKING:
    from pathlib import Path

    from dagster import DagsterInstance

    from tidemark.warm_runs.worker_options import WarmWorkerOptions

_IDENTITY: Final = "identity"


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


def require_shared(settings: Settings, instance: DagsterInstance) -> None:
    """Raise NotSharedError where a store is this machine's alone, HostNameTakenError where the host's name is taken."""
    if not settings.state:
        hint = "set it to postgresql+psycopg2://user:password@host/database, on every host"
        raise NotSharedError.of("the state store", f"the file {settings.state_db}", "TIDEMARK_STATE", hint)
    if not has_server(instance):
        where, hint = f"dagster.yaml in {instance.root_directory}", "name the server in `storage: postgres:`"
        raise NotSharedError.of("Dagster's own storage", "files of this machine", where, hint)
    database = Database.of(settings)
    try:
        WorkerHosts(database).require_free(settings.host, identity_in(host_folder(instance)))
    finally:
        database.close()


def identity_in(folder: Path) -> str:
    """What tells a DAGSTER_HOME's host from another one of the same name; kept, so that it takes its own place."""
    file = folder / _IDENTITY
    if not file.exists():
        private_directory(folder)
        replace_text(file, uuid.uuid4().hex)
    return file.read_text()
