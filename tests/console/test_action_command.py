"""Every command is one that looks or one that changes something; who runs the second kind is in the audit log."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING, Final

import pytest
from click.testing import CliRunner

from tests.console.test_no_password_shown import commands
from tests.project import write_project
from tidemark.console.action_command import ActionCommand
from tidemark.console.exit_codes import ExitCode
from tidemark.console.main import main
from tidemark.state_store.audit_log import AuditLog
from tidemark.state_store.database import Database
from tidemark.state_store.errors import StateStoreDownError
from tidemark.system.caller import this_account
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

LOOK: Final = {
    *(("check",), ("plan",), ("graph",), ("lineage",), ("status",), ("explain",), ("show",), ("engines",)),
    *(("catalog",), ("quality",), ("profile",), ("completeness",), ("baseline",), ("alerts",), ("probe",)),
    *(("impact",), ("backfills", "list"), ("backfills", "show"), ("dlq", "list"), ("health",), ("completion",)),
    *(("capture", "status"), ("capture", "check"), ("token", "list"), ("audit-log",)),
    *(("delta", "layout"), ("delta", "advise"), ("delta", "history"), ("delta", "snapshots")),
}
WRITE_SOURCES: Final = {("init",), ("new",)}
SERVE: Final = {
    *(("up",), ("up-kafka",), ("demo",), ("center",), ("workers",)),
    *(("capture", "run"), ("capture", "distribute"), ("capture", "audit")),
}
"""What a service does on its own is in the transitions."""


class Project:
    """A project of its own with a state store; commands run for it."""

    def __init__(self, folder: Path) -> None:
        self.env = {"TIDEMARK_ROOT": str(write_project(folder / "project", {}))}
        self.settings = Settings.load(self.env)

    def run(self, *words: str) -> Result:
        return CliRunner().invoke(main, list(words), env=self.env)

    def recorded(self) -> list[tuple[str, str, str, str]]:
        with closing(Database.of(self.settings)) as database:
            entries = [row.entry for row in reversed(AuditLog(database).rows())]
        assert {entry.source for entry in entries} <= {"command line"}
        return [(entry.who, entry.action, entry.subject, entry.why) for entry in entries]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    opened = Project(tmp_path)
    Database.of(opened.settings).close()
    return opened


def test_every_command_looks_or_serves_or_is_recorded() -> None:
    unrecorded = {path for path, command in commands(main) if not isinstance(command, ActionCommand)}
    assert unrecorded == LOOK | WRITE_SOURCES | SERVE


def test_a_command_is_recorded_with_the_account_and_not_with_a_variable(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "ceo")
    monkeypatch.setenv("USER", "ceo")
    assert project.run("token", "create", "airflow", "--scope", "report").exit_code == ExitCode.OK
    assert project.run("backfills", "approve", "7").exit_code == ExitCode.FAILED
    assert project.run("backfills", "decide", "7", "--keep", "--slice", "a@2026-01-01").exit_code == ExitCode.FAILED
    assert project.run("token", "revoke", "airflow").exit_code == ExitCode.OK
    me = this_account().who
    assert not me.startswith("account:ceo@")
    assert me.startswith("account:")
    assert project.recorded() == [
        (me, "tidemark token create", "airflow --scope=report", ""),
        (me, "tidemark backfills approve", "7", ""),
        (me, "tidemark backfills decide", "7 --slice=a@2026-01-01", ""),
        (me, "tidemark token revoke", "airflow", ""),
    ]


def test_a_dry_run_and_a_question_leave_no_entry(project: Project) -> None:
    project.run("taint", "a", "2026-01-01", "--reason", "wrong", "--dry-run")
    project.run("refresh", "--status")
    project.run("doctor", "--after-restore")
    project.run("audit-log")
    assert project.recorded() == []
    project.run("taint", "a", "2026-01-01", "--reason", "wrong", "--author", "ceo")
    assert [entry[1:] for entry in project.recorded()] == [("tidemark taint", "a 2026-01-01 --author=ceo", "wrong")]


def test_an_action_without_an_audit_entry_is_not_done(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(_log: object, _entry: object) -> None:
        raise StateStoreDownError("the state store's database does not answer")

    with monkeypatch.context() as patched:
        patched.setattr(AuditLog, "add", down)
        result = project.run("token", "create", "airflow", "--scope", "admin")
    assert (result.exit_code, "tm_" in result.output) == (ExitCode.TRY_AGAIN, False)
    assert '"tokens": []' in project.run("token", "list", "--json").output


def test_the_log_is_listed_in_pages_and_a_token_is_shown_once(project: Project) -> None:
    given = project.run("token", "create", "airflow", "--scope", "report").output.strip()
    assert given.startswith("tm_")
    for number in range(3):
        project.run("backfills", "approve", str(number + 1))
    page = project.run("audit-log", "--limit", "2", "--json").output
    assert ('"number": 4' in page, '"number": 3' in page, '"number": 2' in page) == (True, True, False)
    assert '"number": 2' in project.run("audit-log", "--before", "3", "--json").output
    for words in (["audit-log"], ["audit-log", "--json"], ["token", "list"], ["token", "list", "--json"]):
        assert given[20:] not in project.run(*words).output


def test_a_token_that_would_never_be_in_force_is_refused(project: Project) -> None:
    result = project.run("token", "create", "airflow", "--scope", "read", "--expires", "2020-01-01")
    assert (result.exit_code, "in the past" in result.output) == (ExitCode.USAGE, True)


def test_an_account_without_a_name_is_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_000)
    assert this_account().who.startswith("account:4000000000@")
