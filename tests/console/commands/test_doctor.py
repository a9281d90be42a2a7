"""`tidemark doctor` on sound and unsound machines."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from click.testing import CliRunner, Result

from tests.console.machines import without_java
from tidemark.console.exit_codes import ExitCode
from tidemark.console.main import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def _doctor(tmp_path: Path, *arguments: str, **env: str | None) -> Result:
    given = {"TIDEMARK_DATA": str(tmp_path / "data"), "DAGSTER_HOME": str(tmp_path / "home"), **env}
    return CliRunner().invoke(main, ["doctor", *arguments], env=given)


def test_this_machine_is_sound(tmp_path: Path) -> None:
    asked = _doctor(tmp_path, "--json")

    assert asked.exit_code == ExitCode.OK, asked.output
    answer = json.loads(asked.stdout)
    assert answer["healthy"] is True
    assert [finding["subject"] for finding in answer["findings"]] == [
        "Python", "Java", "Account", "Spark's jars", "Spark's classes",
        "Data", "Dagster's storage", "Dagster's runs", "Disk space", "Memory", "Port",
    ]  # fmt: skip


def test_for_people_each_finding_is_a_line(tmp_path: Path) -> None:
    asked = _doctor(tmp_path)

    assert f"ok\tData\t{tmp_path}/data is writable\n" in asked.stdout
    assert asked.stdout.endswith("Everything is fine. Next: tidemark demo\n")


def test_every_problem_is_found_at_once(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    (tmp_path / "home").write_text("")

    asked = _doctor(tmp_path, "--json", **without_java(tmp_path), JAVA_HOME=None)

    assert asked.exit_code == ExitCode.FAILED
    answer = json.loads(asked.stdout)
    assert answer["healthy"] is False
    problems = [finding for finding in answer["findings"] if finding["verdict"] == "problem"]
    assert [problem["subject"] for problem in problems] == ["Java", "Data", "Dagster's storage"]
    assert all(problem["to_do"] for problem in problems)


def test_a_used_port_is_only_a_warning_because_it_may_be_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        monkeypatch.setattr("tidemark.console.dagster_server.server.DEFAULT_PORT", server.getsockname()[1])
        asked = _doctor(tmp_path, "--json")

    port = json.loads(asked.stdout)["findings"][-1]
    assert (asked.exit_code, port["verdict"]) == (ExitCode.OK, "warning")
    assert f"(PID {os.getpid()})" in port["found"]


def test_a_setting_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    asked = _doctor(tmp_path, TIDEMARK_TIME_ZONE="Europe/Atlantis")

    assert asked.exit_code == ExitCode.FAILED
    assert "  where    TIDEMARK_TIME_ZONE\n" in asked.stderr
    assert "Traceback" not in asked.output


def test_outside_of_a_project_the_machine_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIDEMARK_ROOT", raising=False)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["doctor", "--json"])
    findings = {finding["subject"]: finding for finding in json.loads(result.stdout)["findings"]}
    assert findings["Project"]["verdict"] == "warning"
    assert "tidemark init" in findings["Project"]["to_do"]
    assert "Python" in findings
    assert "Data" not in findings
