"""A MariaDB server with its own data directory: row binlog with full row images, UTC, utf8mb4.

The server and its sessions use UTC: a TIMESTAMP then reads the same everywhere, and DATETIME and DATE have no zone.

Both accounts have random passwords from the first start: `root.password` and `password` in the server's folder, with
mode 0600. No login works without a password. Only root has FILE, and root may write only into an empty folder.
"""

from __future__ import annotations

import getpass
import os
import secrets
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pymysql
from pymysql.constants import CLIENT

from tidemark.console.servers.errors import ComponentMissingError
from tidemark.console.servers.server_process import ServerProcess, run, start_listening
from tidemark.system.files import private_directory
from tidemark.system.free_port import LOOPBACK, free_port
from tidemark.system.installed_programs import find_program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pymysql.cursors import Cursor

USER = "tidemark"
CAPTURED: Final = (
    "--default-time-zone=+00:00",
    "--character-set-server=utf8mb4",
    "--collation-server=utf8mb4_bin",
    "--binlog-format=ROW",
    "--binlog-row-image=FULL",
    "--skip-binlog-annotate-row-events",
)
"""Options of a captured server, in addition to --log-bin and its id."""
_START_TIMEOUT_SECONDS = 60.0


@dataclass
class MariaDb:
    """A running server; `server_id` is its replication id and its GTID domain.

    After a restart it has the same port and data, and a new binlog file.
    """

    name: str
    server_id: int
    port: int
    directory: Path
    command: list[str]
    server: ServerProcess
    password: str = field(repr=False)

    @property
    def client_options(self) -> Path:
        """The option file for MariaDB's own client: `mariadb --defaults-extra-file=...`."""
        return self.directory / "client.cnf"

    def connect(self, database: str | None = None) -> pymysql.Connection[Cursor]:
        """A session with autocommit that accepts several statements at a time."""
        return pymysql.connect(
            host=LOOPBACK,
            port=self.port,
            user=USER,
            password=self.password,
            database=database,
            charset="utf8mb4",
            autocommit=True,
            client_flag=CLIENT.MULTI_STATEMENTS,
            init_command="SET time_zone = '+00:00'",
        )

    def start_again(self) -> None:
        """Start again after `server` was stopped or killed."""
        self.server = start_listening(
            f"MariaDB {self.name}", self.command, self.directory, self.port, _START_TIMEOUT_SECONDS
        )

    def binlogs(self) -> list[Path]:
        """The binary log files in order."""
        return sorted(self.directory.joinpath("data").glob("binlog.[0-9]*"))


@contextmanager
def mariadb(name: str, server_id: int, directory: Path, *options: str, port: int = 0) -> Iterator[MariaDb]:
    """Start a server with its data in `directory`, and stop it at the end; port 0 takes a free one.

    Raises ComponentMissingError, ComponentFailedError.
    """
    if not directory.joinpath("data", "mysql").exists():
        _create_data_directory(name, directory)
    port = port or free_port()
    password = _prepare_accounts(directory, port)
    command = _server_command(directory, server_id, port, options)
    server = start_listening(f"MariaDB {name}", command, directory, port, _START_TIMEOUT_SECONDS)
    running = MariaDb(name, server_id, port, directory, command, server, password)
    try:
        yield running
    finally:
        running.server.stop()


def _program(name: str) -> str:
    path = find_program(name)
    if path is None:
        raise ComponentMissingError("MariaDB", name, "install the package mariadb-server")
    return path


def _create_data_directory(name: str, directory: Path) -> None:
    command = [
        _program("mariadb-install-db"),
        "--no-defaults",
        f"--datadir={directory / 'data'}",
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        f"--user={getpass.getuser()}",
    ]
    # A separate temporary directory: a starting server removes other servers' temporary tables from a shared one.
    private_directory(directory / "tmp")
    run(f"MariaDB {name}", command, directory, environment={"TMPDIR": str(directory / "tmp")})


def _prepare_accounts(directory: Path, port: int) -> str:
    """Write the statements that run at each start; returns the password of USER.

    They run before the binlog is open, so no recording contains the accounts. They remove root accounts without a
    password from a new data directory.
    """
    directory.chmod(0o700)
    private_directory(directory / "files")
    root, password = secret_of(directory / "root.password"), secret_of(directory / "password")
    account = f"'{USER}'@'{LOOPBACK}'"
    write_private(
        directory / "init.sql",
        "SET sql_log_bin = 0;\n"
        "DELETE FROM mysql.global_priv WHERE User IN ('', 'root') AND NOT (User = 'root' AND Host = 'localhost');\n"
        "FLUSH PRIVILEGES;\n"
        f"ALTER USER 'root'@'localhost' IDENTIFIED BY '{root}';\n"
        f"CREATE USER IF NOT EXISTS {account} IDENTIFIED BY '{password}';\n"
        f"ALTER USER {account} IDENTIFIED BY '{password}';\n"
        f"GRANT ALL PRIVILEGES ON *.* TO {account} WITH GRANT OPTION;\n"
        f"REVOKE FILE ON *.* FROM {account};\n",
    )
    options = f"[client]\nhost={LOOPBACK}\nport={port}\nuser={USER}\npassword={password}\n"
    write_private(directory / "client.cnf", options)
    return password


def _server_command(directory: Path, server_id: int, port: int, options: tuple[str, ...]) -> list[str]:
    return [
        _program("mariadbd"),
        "--no-defaults",
        f"--user={getpass.getuser()}",
        f"--datadir={directory / 'data'}",
        f"--tmpdir={directory / 'tmp'}",
        f"--socket={directory / 'server.sock'}",
        f"--pid-file={directory / 'server.pid'}",
        f"--init-file={directory / 'init.sql'}",
        f"--secure-file-priv={directory / 'files'}",
        "--local-infile=OFF",
        f"--bind-address={LOOPBACK}",
        f"--port={port}",
        "--skip-name-resolve",
        f"--server-id={server_id}",
        f"--gtid-domain-id={server_id}",
        f"--log-bin={directory / 'data' / 'binlog'}",
        *CAPTURED,
        "--max-binlog-size=1073741824",
        "--innodb-flush-log-at-trx-commit=0",
        "--innodb-buffer-pool-size=128M",
        "--performance-schema=OFF",
        *options,
    ]


_BYTES: Final = 24


def secret_of(file: Path) -> str:
    """The password in this file; if there is none, a new one without characters that need quoting."""
    if not file.exists():
        write_private(file, secrets.token_hex(_BYTES))
    return file.read_text(encoding="ascii")


def write_private(file: Path, text: str) -> None:
    """Write the whole file or none, with mode 0600 from its first byte on."""
    private_directory(file.parent)
    descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            out.write(text)
        os.replace(temporary, file)  # noqa: PTH105 - mkstemp gives a name
    except BaseException:
        os.unlink(temporary)  # noqa: PTH108 - as above
        raise
