"""The accounts of a database that is started here, and their rights on its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pymysql
import pytest
from pymysql.constants import ER

from tests.components.availability import MARIADB, require
from tidemark.console.servers.mariadb import USER, mariadb
from tidemark.system.free_port import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pymysql.cursors import Cursor

    from tidemark.console.servers.mariadb import MariaDb

pytestmark = pytest.mark.components


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDb]:
    require(MARIADB)
    with mariadb("guarded", 21, tmp_path_factory.mktemp("guarded")) as running:
        yield running


def _root(server: MariaDb) -> pymysql.Connection[Cursor]:
    password = (server.directory / "root.password").read_text()
    return pymysql.connect(unix_socket=str(server.directory / "server.sock"), user="root", password=password)


@pytest.mark.parametrize("user", ["root", USER, "", "mariadb.sys"])
@pytest.mark.parametrize("password", ["", "tidemark", "root"])
def test_every_login_needs_the_password(server: MariaDb, user: str, password: str) -> None:
    for address in ({"host": LOOPBACK, "port": server.port}, {"unix_socket": str(server.directory / "server.sock")}):
        with pytest.raises(pymysql.err.OperationalError) as refused:
            pymysql.connect(user=user, password=password, **address)
        assert refused.value.args[0] in (ER.ACCESS_DENIED_ERROR, ER.HOST_NOT_PRIVILEGED, 4151)


def test_the_captured_account_reads_and_writes_no_files(server: MariaDb) -> None:
    target = server.directory / "stolen"
    with server.connect() as session, session.cursor() as cursor:
        for statement in (f"SELECT 1 INTO OUTFILE '{target}'", "GRANT FILE ON *.* TO CURRENT_USER"):
            with pytest.raises(pymysql.err.OperationalError) as refused:
                cursor.execute(statement)
            assert refused.value.args[0] in (ER.ACCESS_DENIED_ERROR, ER.SPECIFIC_ACCESS_DENIED_ERROR)
    assert not target.exists()


def test_root_writes_into_the_empty_folder_only(server: MariaDb) -> None:
    target = server.directory / "data" / "written"
    with _root(server) as session, session.cursor() as cursor:
        with pytest.raises(pymysql.err.OperationalError) as refused:
            cursor.execute(f"SELECT 1 INTO OUTFILE '{target}'")
        assert refused.value.args[0] == ER.OPTION_PREVENTS_STATEMENT
        cursor.execute("SELECT @@secure_file_priv, @@local_infile")
        assert cursor.fetchall() == ((f"{server.directory / 'files'}/", 0),)
    assert not target.exists()
    assert list((server.directory / "files").iterdir()) == []


def test_secrets_are_for_their_owner(server: MariaDb) -> None:
    files = [server.directory / name for name in ("root.password", "password", "init.sql", "client.cnf")]
    assert [oct(file.stat().st_mode & 0o777) for file in files] == ["0o600"] * 4
    assert oct(server.directory.stat().st_mode & 0o777) == "0o700"
    passwords = {file.read_text() for file in files[:2]}
    assert len(passwords) == 2
    assert all(len(password) == 48 for password in passwords)


def test_a_second_start_has_the_same_passwords(tmp_path: Path) -> None:
    require(MARIADB)
    with mariadb("again", 22, tmp_path) as first:
        password = first.password
    with mariadb("again", 22, tmp_path) as second, second.connect() as session, session.cursor() as cursor:
        cursor.execute("SELECT CURRENT_USER()")
        assert cursor.fetchone() == (f"{USER}@{LOOPBACK}",)
        assert second.password == password
        assert password not in repr(second)
