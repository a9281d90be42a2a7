"""`probe`, `counts` and `completeness` as a person calls them, on a project of its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from tests.project import write_project
from tidemark.console.main import main

if TYPE_CHECKING:
    from pathlib import Path

HOURS = "kind: Virtual\nperiod: hour\nstart: 2026-03-01\ntime_zone: UTC\n"
COUNTS = """\
{"of": "clicks", "at": "2026-03-29T15:01:00Z", "side": "source", "part": "topic-0", "records": 40000}
{"of": "clicks", "at": "2026-03-29T15:02:00Z", "side": "lake", "part": "commit-17", "records": 39990}
{"of": "clicks", "final_until": "2026-03-29T16:00:00Z"}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = f"{HOURS}quality: [{{row_count: {{min: 1}}}}]\nprobe: {{files: {{path: '{tmp_path}/in/{{key}}'}}}}\n"
    declarations = {
        "external/clicks.yaml": f"{HOURS}probe: {{counts: {{of: clicks}}}}\n",
        "external/files.yaml": files,
        "external/told.yaml": HOURS,
        "external/down.yaml": f"{HOURS}probe: {{sql: {{url: '${{DOWN}}', table: t, time_column: at}}}}\n",
    }
    root = write_project(tmp_path / "project", declarations)
    monkeypatch.setenv("TIDEMARK_ROOT", str(root))
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "dagster_home"))
    monkeypatch.setenv("DOWN", "postgresql://me:canary@127.0.0.1:1/x")
    return tmp_path


def call(*arguments: str, code: int, text: str | None = None) -> Result:
    result = CliRunner().invoke(main, arguments, input=text)
    assert result.exit_code == code, f"{result.output}\n{result.exception!r}"
    return result


def data(*arguments: str, code: int) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(call(*arguments, "--json", code=code).stdout)
    return told


def test_without_a_center_a_request_to_look_says_so(project: Path) -> None:
    told = data("probe", "--now", "files", code=1)
    assert told["without_center"].startswith("no center runs")
    assert told["slice"].startswith("files@20"), "the newest slice"
    assert "no center runs" in call("probe", "files", "2026-03-29T15", "--now", code=1).output
    assert "has not ended yet" in call("probe", "--now", "files", "2199-03-29T15", code=1).output


def test_a_slice_is_looked_at_once(project: Path) -> None:
    assert "files@2026-03-29T15 is not there: 0 files" in call("probe", "files", "2026-03-29T15", code=1).output
    (project / "in" / "2026-03-29T15").mkdir(parents=True)
    (project / "in" / "2026-03-29T15" / "a.csv").touch()
    told = data("probe", "files", "2026-03-29T15", code=1)
    assert (told["is_there"], told["rules"][0]["passed"]) == (True, False)
    assert "did not count the rows" in call("probe", "files", "2026-03-29T15", code=1).output
    assert data("probe", "files", "2026-03-29T16", code=1)["is_there"] is False


def test_an_entity_without_a_probe_is_an_error() -> None:
    assert "told has neither" in call("probe", "told", "2026-03-29T15", code=1).output
    assert "files is not counted" in call("completeness", "files", "2026-03-29T15", code=1).output


def test_a_source_that_is_down_may_be_tried_again_and_keeps_its_secret() -> None:
    result = CliRunner().invoke(main, ["probe", "down", "2026-03-29T15"])
    assert result.exit_code != 0
    assert "canary" not in f"{result.output} {result.exception}"


def test_counts_show_missing_records(project: Path) -> None:
    assert call("completeness", "clicks", "2026-03-29T15", code=1).output.startswith(
        "clicks@2026-03-29T15: 0 of 0 records"
    )
    assert "3 counts" not in call("counts", "-", code=0, text=COUNTS).output
    told = data("completeness", "clicks", "2026-03-29T15", code=1)
    missing = {"start": "2026-03-29T15:00Z", "end": "2026-03-29T15:05Z", "source": 40000, "lake": 39990, "missing": 10}
    assert told["open_slots"] == [missing]
    assert told["complete_windows"] == {"5min": 11, "10min": 5}
    assert told["parts"][0] == {"side": "source", "part": "topic-0", "records": 40000}
    text = call("completeness", "clicks", "2026-03-29T15", code=1).output
    assert "39990 of 40000 records, 99.9750%: not complete" in text
    (project / "more").write_text(COUNTS.replace("39990", "40001"))
    call("counts", str(project / "more"), code=0)
    told = data("completeness", "clicks", "2026-03-29T15", code=0)
    assert (told["is_complete"], told["lake"], told["complete_windows"]["hour"]) == (True, 40001, 1)
    assert data("probe", "clicks", "2026-03-29T15", code=0)["rows"] == 40001


def test_an_invalid_line_is_refused_and_nothing_is_stored() -> None:
    result = CliRunner().invoke(main, ["counts", "-"], input=COUNTS + "no count\n")
    assert result.exit_code == 1
    assert "line 4" in f"{result.output} {result.exception}"
    assert data("completeness", "clicks", "2026-03-29T15", code=1)["source"] == 0


def test_a_bad_probe_is_refused_by_check_with_file_and_line(project: Path) -> None:
    bad = project / "project" / "warehouse_assets" / "external" / "bad.yaml"
    bad.write_text(f"{HOURS}probe:\n  files: {{path: '/in/every_hour'}}\n")
    told = call("check", code=1).output
    assert "external/bad.yaml:5" in told
    assert "the same data for every slice" in told.replace("\n", " ")
