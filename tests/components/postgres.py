"""A real PostgreSQL server in a directory of its own, on loopback, with password authentication.

PostgreSQL refuses to run as root: there it runs as the package's own account, in a directory that this account owns.
"""

from __future__ import annotations

import os
import pwd
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg2

from tests.components.availability import POSTGRESQL, find_program
from tests.components.errors import ComponentMissingError
from tests.components.process import LOOPBACK, ServerProcess, free_port, run, start

if TYPE_CHECKING:
    from collections.abc import Iterator

USER = "tidemark"
PASSWORD = "s3cret-tide"
DATABASE = "postgres"
_START_TIMEOUT_SECONDS = 60.0
_ACCOUNTS = ("postgres", "nobody")


@dataclass(frozen=True)
class Postgres:
    """A running server with one superuser, USER."""

    port: int
    server: ServerProcess

    @property
    def url(self) -> str:
        """The server's database as a SQLAlchemy URL."""
        return f"postgresql+psycopg2://{USER}:{PASSWORD}@{LOOPBACK}:{self.port}/{DATABASE}"

    def connect(self) -> psycopg2.extensions.connection:
        return psycopg2.connect(host=LOOPBACK, port=self.port, user=USER, password=PASSWORD, dbname=DATABASE)

    def healthy(self) -> bool:
        try:
            self.connect().close()
        except psycopg2.OperationalError:
            return False
        return True


@contextmanager
def postgresql() -> Iterator[Postgres]:
    """Start a server with an empty database, and stop it and remove its directory in the end."""
    # Not pytest's tmp_path: its parents are closed to the account that the server runs as.
    directory = Path(tempfile.mkdtemp(prefix="tidemark-pg-"))
    account = _account()
    try:
        _create_data_directory(directory, account)
        port = free_port()
        server = start("PostgreSQL", [*_as(account), *_server_command(directory, port)], directory)
        try:
            database = Postgres(port, server)
            server.wait_until(database.healthy, _START_TIMEOUT_SECONDS)
            yield database
        finally:
            server.stop()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _program(name: str) -> str:
    found = find_program(name)
    if found is None:
        raise ComponentMissingError(POSTGRESQL.component, f"the program '{name}'", POSTGRESQL.install)
    return found


def _account() -> str | None:
    """The account to run the server as; None: the one that we run as."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in _ACCOUNTS if name in known)


def _as(account: str | None) -> list[str]:
    if account is None:
        return []
    entry = pwd.getpwnam(account)
    return ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups", "--"]


def _create_data_directory(directory: Path, account: str | None) -> None:
    password_file = directory / "password"
    password_file.write_text(PASSWORD)
    if account is not None:
        entry = pwd.getpwnam(account)
        for path in (directory, password_file):
            os.chown(path, entry.pw_uid, entry.pw_gid)
    command = [
        _program("initdb"),
        f"--pgdata={directory / 'data'}",
        f"--username={USER}",
        f"--pwfile={password_file}",
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--no-locale",
        "--no-sync",
    ]
    run("PostgreSQL", [*_as(account), *command], directory)


def _server_command(directory: Path, port: int) -> list[str]:
    settings = {
        "listen_addresses": LOOPBACK,
        "port": str(port),
        "unix_socket_directories": str(directory),
        "fsync": "off",
        "max_connections": "40",
        "shared_buffers": "32MB",
    }
    options = [f"-c{name}={value}" for name, value in settings.items()]
    return [_program("postgres"), "-D", str(directory / "data"), *options]
