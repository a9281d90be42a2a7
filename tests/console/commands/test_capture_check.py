"""`capture check`, and those who ask the same before they begin: refused, before anything is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tidemark.console.main import main
from tidemark.system.free_port import LOOPBACK, free_port

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


def run(tmp_path: Path, *arguments: str, **env: str) -> Result:
    given = {"TIDEMARK_DATA": str(tmp_path / "data"), "DAGSTER_HOME": str(tmp_path / "home"), **env}
    return CliRunner().invoke(main, list(arguments), env=given)


def addresses(password: str) -> str:
    return ",".join(f"{name}=mysql://tide:{password}@{LOOPBACK}:{free_port()}/school" for name in ("a", "b"))


def test_files_need_nothing(tmp_path: Path) -> None:
    result = run(tmp_path, "capture", "check")
    assert result.exit_code == 0
    assert result.stdout.endswith("Everything is fine.\n")
    assert "ok\tcaptured tables\t5, on the instances a, b\n" in result.stdout


def test_databases_that_do_not_answer_are_said_all_at_once(tmp_path: Path) -> None:
    result = run(tmp_path, "capture", "check", "--json", TIDEMARK_DATABASES=addresses("hidden"))
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    down = [finding["subject"] for finding in answer["findings"] if finding["verdict"] == "unreachable"]
    assert (answer["sound"], down) == (False, ["database a", "database b"])
    assert "hidden" not in result.output


@pytest.mark.parametrize("command", [["up", "--port", "0"], ["center", "--port", "0"], ["capture", "run", "--once"]])
def test_nothing_is_begun_or_written_with_settings_that_cannot_work(tmp_path: Path, command: list[str]) -> None:
    refused = run(tmp_path, *command, TIDEMARK_DATABASES="a=mysql://tide:hidden@db/school,b=mysql://tide:hidden@db/")
    assert refused.exit_code == 1
    assert "TIDEMARK_DATABASES" in refused.output
    assert "hidden" not in refused.output
    assert not (tmp_path / "data" / "warehouse").exists()
    assert not list(tmp_path.glob("home/*"))


def test_the_doctor_asks_the_same(tmp_path: Path) -> None:
    result = run(tmp_path, "doctor", "--json", TIDEMARK_DATABASES=addresses("hidden"))
    assert result.exit_code == 1
    subjects = {finding["subject"]: finding["verdict"] for finding in json.loads(result.stdout)["findings"]}
    assert (subjects["database a"], subjects["captured tables"]) == ("unreachable", "ok")
