"""Heartbeats over TLS: the server proves itself by the authority that its address names, or nothing is written."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.components.availability import MARIADB, require
from tests.components.certificates import Authority
from tidemark.capture.heartbeat.errors import DatabaseDownError, HeartbeatRefusedError
from tidemark.capture.heartbeat.source_databases import HeartbeatDatabase, databases
from tidemark.capture.heartbeat.writer import session, write_heartbeat
from tidemark.console.servers.mariadb import USER, mariadb
from tidemark.system.free_port import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tidemark.console.servers.mariadb import MariaDb

pytestmark = pytest.mark.components

NOW = datetime(2026, 3, 23, 10, tzinfo=UTC)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tls")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[MariaDb]:
    """One that lets nobody in without TLS; its address proves itself by `ours.pem`."""
    require(MARIADB)
    Authority.create("other", folder)
    certificate = Authority.create("ours", folder).sign("server", folder)
    options = [f"--ssl-cert={certificate.file}", f"--ssl-key={certificate.key}", "--require-secure-transport=ON"]
    with mariadb("secure", 31, folder / "data", *options) as running:
        with running.connect() as opened, opened.cursor() as cursor:
            cursor.execute("CREATE DATABASE beats")
        yield running


def address(server: MariaDb, authority: Path, host: str = LOOPBACK) -> HeartbeatDatabase:
    url = f"a=mysql://{USER}:{server.password}@{host}:{server.port}/beats?ssl_ca={authority}"
    (database,) = databases(url)
    return database


def test_a_server_that_proves_itself_gets_heartbeats(server: MariaDb, folder: Path) -> None:
    database = address(server, folder / "ours.pem")
    write_heartbeat(database, NOW)
    with session(database) as opened, opened.cursor() as cursor:
        cursor.execute("SHOW STATUS LIKE 'Ssl_cipher'")
        ((_, cipher),) = cursor.fetchall()
    assert cipher


def test_another_authority_and_another_name_are_refused(server: MariaDb, folder: Path) -> None:
    for database in (address(server, folder / "other.pem"), address(server, folder / "ours.pem", "localhost")):
        with pytest.raises((DatabaseDownError, HeartbeatRefusedError), match="certificate verify failed"):
            write_heartbeat(database, NOW)
