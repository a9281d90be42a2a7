"""A launcher's access to other hosts through the state store, without network listeners.

Other hosts exist only if the store is a server. With a file, `of` returns None.
"""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, Self

from tidemark.dagster_internals.long_lived_connections import has_server
from tidemark.state_store.database import Database
from tidemark.state_store.worker_hosts import WorkerHosts
from tidemark.state_store.worker_runs import Stop, WorkerRuns
from tidemark.system.files import private_directory, replace_text
from tidemark.system.settings import Settings
from tidemark.warm_runs.errors import NotSharedError
from tidemark.warm_runs.source_version import source_folders, source_version
from tidemark.warm_runs.worker_options import host_folder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dagster import DagsterInstance

    from tidemark.warm_runs.worker_options import WarmWorkerOptions

_IDENTITY: Final = "identity"


class SharedRuns:
    """The runs that hosts take from the store, from the launcher's side. The store is opened at first use."""

    def __init__(self, settings: Settings, options: WarmWorkerOptions) -> None:
        self._settings, self._options = settings, options

    @classmethod
    def of(cls, options: WarmWorkerOptions) -> Self | None:
        """The shared runs; None if there is only this machine."""
        settings = Settings.load(os.environ)
        return cls(settings, options) if settings.state else None

    def offer(self, run_id: str) -> bool:
        """Offer the run to other hosts; False if none with this code is alive. Raises StateStoreDownError."""
        return self._runs.offer(run_id, self._code(), self._settings.host)

    def stop(self, run_id: str) -> Stop:
        """Stop the run, wherever it is. Raises StateStoreDownError."""
        return self._runs.stop(run_id)

    def is_open(self, run_id: str) -> bool:
        """Whether it waits for a host, or a host has it. Raises StateStoreDownError."""
        return self._runs.is_open(run_id)

    @cached_property
    def _runs(self) -> WorkerRuns:
        return WorkerRuns(Database.of(self._settings))

    @cached_property
    def _code(self) -> CodeIdentity:
        return code_identity_of(self._options)


def code_identity_of(options: WarmWorkerOptions) -> CodeIdentity:
    """The identity of the packages whose changes make workers load again."""
    return CodeIdentity([*options.watch, *options.modules])


def require_shared(settings: Settings, instance: DagsterInstance) -> None:
    """Raise NotSharedError if a store is only this machine's, HostNameTakenError if the host's name is in use."""
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
    """A stored text that distinguishes a DAGSTER_HOME's host from others with its name, so that it can rejoin."""
    file = folder / _IDENTITY
    if not file.exists():
        private_directory(folder)
        replace_text(file, uuid.uuid4().hex)
    return file.read_text()


_FRESH_SECONDS: Final = 1.0


class CodeIdentity:
    """A text that is the same on all hosts whose packages have the same files.

    Thread-safe; changed files are read again.
    """

    def __init__(self, packages: Iterable[str]) -> None:
        self._folders = source_folders(packages)
        self._version: object = None
        self._identity = ""
        self._looked_at = float("-inf")
        self._lock = Lock()

    def __call__(self) -> str:
        """The identity of the code on disk, at most a second old."""
        with self._lock:
            if time.monotonic() - self._looked_at < _FRESH_SECONDS:
                return self._identity
            self._looked_at = time.monotonic()
            version = source_version(self._folders)
            if version != self._version:
                self._identity, self._version = content_identity(self._folders), version
            return self._identity


def content_identity(folders: Iterable[Path]) -> str:
    """A hash of the sources below the folders, by names and content, wherever the folders are."""
    digest = hashlib.blake2b(digest_size=12)
    for folder in sorted(folders, key=lambda path: path.name):
        for path in sorted(Path(name) for name, _ in source_version([folder])):
            content = path.read_bytes()
            digest.update(f"{folder.name}/{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()
