"""`capture check`, and those who ask the same before they begin: refused, before anything is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tidemark.console.main import main
from tidemark.console.servers.process import LOOPBACK, free_port

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


def run(tmp_path: Path, *arguments: str, **env: str) -> Result:
    given = {"TIDEMARK_DATA": str(tmp_path / "data"), "DAGSTER_HOME": str(tmp_path / "home"), **env}
    return CliRunner().invoke(main, list(arguments), env=given)


def addresses(password: str) -> str:
    return ",".join(f"{name}=mysql://tide:{password}@{LOOPBACK}:{free_port()}/school" for name in ("a", "b"))


def test_files_need_nothing(tmp_path: Path) -> None:
    found = run(tmp_path, "capture", "check")
    assert found.exit_code == 0
    assert found.stdout.endswith("Nothing is in the way.\n")
    assert "ok\tcaptured tables\t5, on the instances a, b\n" in found.stdout


def test_databases_that_do_not_answer_are_said_all_at_once(tmp_path: Path) -> None:
    found = run(tmp_path, "capture", "check", "--json", TIDEMARK_DATABASES=addresses("hidden"))
    assert found.exit_code == 1
    answer = json.loads(found.stdout)
    down = [one["subject"] for one in answer["findings"] if one["verdict"] == "unreachable"]
    assert (answer["sound"], down) == (False, ["database a", "database b"])
    assert "hidden" not in found.output


@pytest.mark.parametrize("command", [["up", "--port", "0"], ["center", "--port", "0"], ["capture", "run", "--once"]])
def test_nothing_is_begun_or_written_with_settings_that_cannot_work(tmp_path: Path, command: list[str]) -> None:
    refused = run(tmp_path, *command, TIDEMARK_DATABASES="a=mysql://tide:hidden@db/school,b=mysql://tide:hidden@db/")
    assert refused.exit_code == 1
    assert "TIDEMARK_DATABASES" in refused.output
    assert "hidden" not in refused.output
    assert not (tmp_path / "data" / "warehouse").exists()
    assert not list(tmp_path.glob("home/*"))


def test_the_doctor_asks_the_same(tmp_path: Path) -> None:
    found = run(tmp_path, "doctor", "--json", TIDEMARK_DATABASES=addresses("hidden"))
    assert found.exit_code == 1
    subjects = {one["subject"]: one["verdict"] for one in json.loads(found.stdout)["findings"]}
    assert (subjects["database a"], subjects["captured tables"]) == ("unreachable", "ok")
