"""A real PostgreSQL server with its own data directory.

PostgreSQL refuses to run as root; there the server runs as the first of a few unprivileged users that the machine has.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg2

from tidemark.console.servers.errors import ComponentFailedError, ComponentMissingError
from tidemark.console.servers.server_process import ServerProcess, run, start
from tidemark.system.free_port import LOOPBACK, free_port
from tidemark.system.installed_programs import find_program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.components.certificates import Authority

_USER = "tidemark"
_UNPRIVILEGED = ("postgres", "nobody")
_START_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class Postgres:
    """A running server."""

    port: int
    server: ServerProcess
    command: tuple[str, ...] = ()

    @property
    def dsn(self) -> str:
        """A URL as psycopg2 takes it."""
        return f"postgresql://{_USER}@{LOOPBACK}:{self.port}/postgres"

    @property
    def url(self) -> str:
        """A URL as SQLAlchemy takes it."""
        return self.dsn.replace("postgresql://", "postgresql+psycopg2://")

    def killed_and_started_again(self) -> Postgres:
        """The server dies as by `kill -9`, and comes back on its data; returns the new one.

        Its children let go of the shared memory a moment after it: the start is repeated until they have.
        """
        os.kill(self.server.pid, signal.SIGKILL)
        self.server.process.wait()
        deadline = time.monotonic() + _START_TIMEOUT_SECONDS
        while True:
            server = start("PostgreSQL", self.command, self.server.log.parent)
            again = Postgres(self.port, server, self.command)
            try:
                server.wait_until(again.is_ready, _START_TIMEOUT_SECONDS)
            except ComponentFailedError:
                if time.monotonic() > deadline:
                    raise
                continue
            return again

    def is_ready(self) -> bool:
        try:
            psycopg2.connect(self.dsn, connect_timeout=1).close()
        except psycopg2.OperationalError:
            return False
        return True


@contextmanager
def postgres(*, fsync: bool = False, authority: Authority | None = None) -> Iterator[Postgres]:
    """Start a server with an empty data directory, stop it and remove the directory in the end.

    With `fsync` a commit waits for the disk, as in production. With an `authority`, which signs its certificate,
    nobody gets in without TLS.
    The directory is in the system's temporary one, as the unprivileged user cannot enter pytest's.
    """
    directory = Path(tempfile.mkdtemp(prefix="tidemark-postgres-"))
    prefix = _as_unprivileged(directory)
    data, port = directory / "data", free_port()
    try:
        create = [
            _program("initdb"),
            "--auth=trust",
            f"--username={_USER}",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        ]
        run("PostgreSQL", [*prefix, *create, f"--pgdata={data}"], directory)
        settings = [f"-c{setting}" for setting in _settings(directory, port, fsync=fsync)]
        if authority is not None:
            settings += [f"-c{setting}" for setting in _with_tls(directory, authority)]
        command = (*prefix, _program("postgres"), "-D", str(data), *settings)
        server = start("PostgreSQL", command, directory)
        running = Postgres(port, server, command)
        try:
            server.wait_until(running.is_ready, _START_TIMEOUT_SECONDS)
            yield running
        finally:
            server.stop()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _settings(directory: Path, port: int, *, fsync: bool) -> list[str]:
    return [
        f"port={port}",
        f"listen_addresses={LOOPBACK}",
        f"unix_socket_directories={directory}",
        f"fsync={'on' if fsync else 'off'}",
        "timezone=UTC",
    ]


def _with_tls(directory: Path, authority: Authority) -> list[str]:
    """Settings with which only connections over TLS are let in."""
    certificate = authority.sign("server", directory / "tls")
    access = directory / "hostssl.conf"
    access.write_text("hostssl all all 127.0.0.1/32 trust\n")
    for file in (access, certificate.file):
        file.chmod(0o644)
    # PostgreSQL takes a key of root's from which only root's group reads, or one of its own user.
    certificate.key.chmod(0o640 if os.geteuid() == 0 else 0o600)
    certificate.key.parent.chmod(0o755)
    return ["ssl=on", f"ssl_cert_file={certificate.file}", f"ssl_key_file={certificate.key}", f"hba_file={access}"]


def _program(name: str) -> str:
    path = find_program(name)
    if path is None:
        raise ComponentMissingError("PostgreSQL", name, "install the package postgresql")
    return path


def _as_unprivileged(directory: Path) -> list[str]:
    """The words that start a command as another user, who then owns the directory; none when we are not root."""
    if os.geteuid() != 0:
        return []
    known = {user.pw_name for user in pwd.getpwall()}
    user = next((name for name in _UNPRIVILEGED if name in known), None)
    if user is None:
        raise ComponentMissingError("PostgreSQL", "a user other than root", f"create one of {', '.join(_UNPRIVILEGED)}")
    os.chown(directory, pwd.getpwnam(user).pw_uid, -1)
    return [_program("setpriv"), f"--reuid={user}", "--clear-groups", "--"]
