"""`tidemark baseline`: a table of promises, the key path as a gantt chart, one JSON object, exit codes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from tests.project import write_project
from tidemark.console.main import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from click.testing import Result


def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ready_by: datetime) -> None:
    root = write_project(
        tmp_path,
        {
            "external/ext.yaml": "kind: Virtual\nperiod: hour\n",
            "ads/ads_a.yaml": f'period: day\nready_by: "{ready_by:%H:%M}"\n'
            "owner: data@school.example\nown_asset: true\ndepends_on: [ext]\n",
        },
        "time_zone: UTC\n",
    )
    monkeypatch.setenv("TIDEMARK_ROOT", str(root))
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path / "data"))


def _run(*arguments: str, code: int) -> Result:
    result = CliRunner().invoke(main, ["baseline", *arguments])
    assert result.exit_code == code, result.output
    return result


def test_a_slice_that_was_never_computed_is_over_because_of_its_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _project(tmp_path, monkeypatch, datetime.now(UTC) - timedelta(hours=1))
    told: dict[str, Any] = json.loads(_run("--json", code=1).stdout)
    first = told["baselines"][0]
    assert (first["state"], first["owner"], first["priority"]) == ("over", "data@school.example", 5)
    assert first["margin_seconds"] < 0
    assert first["late"] == 1
    assert "has not arrived in its usual time" in first["why_late"][0]
    assert {step["history"] for step in first["key_path"]} == {"none"}


def test_one_entity_is_drawn_and_its_repair_estimated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _project(tmp_path, monkeypatch, datetime.now(UTC) - timedelta(hours=1))
    key = f"{datetime.now(UTC) - timedelta(days=2):%Y-%m-%d}"
    lines = _run("ads_a", "--repair", key, code=1).stdout.splitlines()
    assert lines[0].split("\t")[:3] == ["slice", "owner", "priority"]
    assert any(line.startswith("  ext@") and "has not arrived in its usual time (" in line for line in lines)
    drawn = [line for line in lines if line.startswith(("    predicted ", "    at latest "))]
    assert len(drawn) >= 4
    assert all("|" in line and ("#" in line or "-" in line[29:] or "at latest" in line) for line in drawn)
    assert any("promised" in line and "^" in line for line in lines)
    assert max(len(line) for line in drawn) <= 80
    assert any(line.startswith("computing ") and "again takes" in line for line in lines)


def test_a_project_without_promises_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path))
    assert "0 promised, 0 ready, 0 open" in _run(code=0).stdout


def test_a_repair_needs_an_entity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path))
    assert "needs the slice's entity" in _run("--repair", "2026-03-24", code=2).output
    assert _run("no_such_table", code=1).exit_code == 1
