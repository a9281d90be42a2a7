"""A real server's settings and rights, each wrong once and put back."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tidemark.capture.heartbeat.source_databases import HeartbeatDatabase
from tidemark.capture.operations.preflight.database import database
from tidemark.console.servers.mariadb import USER
from tidemark.system.free_port import LOOPBACK, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.console.servers.mariadb import MariaDb
    from tidemark.system.check_finding import Finding

pytestmark = pytest.mark.components

SUBJECTS = ["database a", "database a: binlog", "database a: grants"]


@pytest.fixture
def sound(mariadb_server: MariaDb) -> HeartbeatDatabase:
    execute(mariadb_server, "DROP DATABASE IF EXISTS asked; CREATE DATABASE asked")
    return HeartbeatDatabase("a", LOOPBACK, mariadb_server.port, "asked", USER, mariadb_server.password)


@pytest.fixture
def limited(mariadb_server: MariaDb, sound: HeartbeatDatabase) -> Iterator[HeartbeatDatabase]:
    """An account that may look and no more."""
    account = f"'limited'@'{LOOPBACK}'"
    execute(mariadb_server, f"CREATE USER {account} IDENTIFIED BY 'hidden'; GRANT SELECT ON asked.* TO {account}")
    yield replace(sound, user="limited", password="hidden")
    execute(mariadb_server, f"DROP USER {account}")


def execute(server: MariaDb, statements: str) -> None:
    with server.connect() as session, session.cursor() as cursor:
        cursor.execute(statements)
        while cursor.nextset():
            pass


@contextmanager
def set_globally(server: MariaDb, name: str, value: str) -> Iterator[None]:
    with server.connect() as session, session.cursor() as cursor:
        cursor.execute(f"SELECT @@GLOBAL.{name}")
        (before,) = cursor.fetchone() or ("",)
        cursor.execute(f"SET GLOBAL {name} = %s", (value,))
        try:
            yield
        finally:
            cursor.execute(f"SET GLOBAL {name} = %s", (before,))


def in_the_way(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(entry.subject, entry.verdict) for entry in findings if entry.is_in_the_way]


def test_a_correct_server_has_no_findings_and_nothing_is_written(
    mariadb_server: MariaDb, sound: HeartbeatDatabase
) -> None:
    sizes = [path.stat().st_size for path in mariadb_server.binlogs()]
    findings = database(sound)
    assert [(entry.subject, entry.verdict) for entry in findings] == [(subject, "ok") for subject in SUBJECTS]
    assert [path.stat().st_size for path in mariadb_server.binlogs()] == sizes


@pytest.mark.parametrize(
    ("name", "value"), [("binlog_format", "STATEMENT"), ("binlog_format", "MIXED"), ("binlog_row_image", "MINIMAL")]
)
def test_a_binlog_without_whole_rows(mariadb_server: MariaDb, sound: HeartbeatDatabase, name: str, value: str) -> None:
    with set_globally(mariadb_server, name, value):
        findings = database(sound)
    assert in_the_way(findings) == [(f"database a: {name}", "problem")]
    assert f"SET GLOBAL {name}" in findings[1].to_do
    assert in_the_way(database(sound)) == []


def test_a_binlog_that_is_removed_within_a_day_is_a_warning(mariadb_server: MariaDb, sound: HeartbeatDatabase) -> None:
    with mariadb_server.connect() as session, session.cursor() as cursor:
        cursor.execute("SET GLOBAL binlog_expire_logs_seconds = 86400")
        try:
            findings = database(sound)
        finally:
            cursor.execute("SET GLOBAL binlog_expire_logs_seconds = 0")
    assert in_the_way(findings) == []
    assert (findings[1].verdict, "1 day" in findings[1].found) == ("warning", True)


def test_a_wrong_password_is_refused_and_not_shown(sound: HeartbeatDatabase) -> None:
    (findings,) = database(replace(sound, password="hidden"))
    assert (findings.subject, findings.verdict) == ("database a", "problem")
    assert findings.to_do == "correct user and password in TIDEMARK_DATABASES"
    assert "Access denied" in findings.found
    assert "hidden" not in str(findings)


def test_a_database_that_is_not_there(sound: HeartbeatDatabase) -> None:
    (findings,) = database(replace(sound, name="nowhere"))
    assert (findings.verdict, "Unknown database" in findings.found) == ("problem", True)


def test_a_server_that_does_not_answer(sound: HeartbeatDatabase) -> None:
    (findings,) = database(replace(sound, port=free_port()))
    assert findings.verdict == "unreachable"
    assert findings.to_do.startswith("start the server, or correct its address")


@pytest.mark.parametrize("granted", ["", "INSERT", "INSERT, UPDATE", "CREATE"])
def test_a_right_that_is_missing(mariadb_server: MariaDb, limited: HeartbeatDatabase, granted: str) -> None:
    if granted:
        execute(mariadb_server, f"GRANT {granted} ON asked.* TO 'limited'@'{LOOPBACK}'")
    findings = database(limited)
    assert in_the_way(findings) == [("database a: grants", "problem")]
    assert "denied" in findings[-1].found
    assert findings[-1].to_do.startswith("GRANT INSERT, UPDATE, CREATE ON `asked`.* TO the user limited")


def test_rights_by_a_role_count_and_creating_is_not_needed_where_the_table_is(
    mariadb_server: MariaDb, limited: HeartbeatDatabase
) -> None:
    execute(
        mariadb_server,
        "CREATE TABLE asked.heartbeat (id INT PRIMARY KEY, beat_at TIMESTAMP(3)); CREATE ROLE beating;"
        f"GRANT INSERT, UPDATE ON asked.heartbeat TO beating; GRANT beating TO 'limited'@'{LOOPBACK}';"
        f"SET DEFAULT ROLE beating FOR 'limited'@'{LOOPBACK}'",
    )
    try:
        findings = database(limited)
        assert in_the_way(findings) == []
        (lacking,) = [finding for finding in findings if "known_decimal" in finding.found]
        assert lacking.verdict == "warning"
        assert lacking.to_do.startswith("ALTER TABLE `asked`.heartbeat ADD COLUMN always_null INT DEFAULT 1, ADD")
        execute(mariadb_server, lacking.to_do)
        assert not [finding for finding in database(limited) if "known_decimal" in finding.found]
    finally:
        execute(mariadb_server, "DROP ROLE beating")
