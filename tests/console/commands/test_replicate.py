"""`tidemark replicate`: a pass, what it says of each slice, and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from click.testing import CliRunner, Result

from tests.replication.lakes import TwoLakes
from tidemark.console.main import main

if TYPE_CHECKING:
    from pathlib import Path

DAY = "2026-03-28"


def run(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--root", str(root)])


def test_a_pass_and_its_report(tmp_path: Path) -> None:
    lakes = TwoLakes.at(tmp_path)
    lakes.complete(DAY, lakes.write(DAY, {"id": [1, 2]}))
    told = json.loads(run(lakes.root, "replicate", "--json").stdout)
    (place,) = told["replicas"]
    assert (place["replica"], place["published"], place["troubles"]) == ("b", 1, [])
    (copy,) = json.loads(run(lakes.root, "replicate", "b", "--status", "--json").stdout)["copies"]
    assert (copy["slice"], copy["state"], copy["published"]["generation"]) == (f"sales@{DAY}", "published", 1)
    assert copy["sent_bytes"] == place["sent_bytes"]
    assert "1 published, 0 open" in run(lakes.root, "replicate", "--status").stdout
    words = run(lakes.root, "explain", "sales", DAY).stdout
    assert "replicated   to b at " in words
    assert ", verified, generation 1" in words
    assert json.loads(run(lakes.root, "explain", "sales", DAY, "--json").stdout)["replicas"] == [copy]


def test_findings_of_the_mender_are_reported(tmp_path: Path) -> None:
    lakes = TwoLakes.at(tmp_path)
    lakes.complete(DAY, lakes.write(DAY, {"id": [1, 2]}))
    run(lakes.root, "replicate")
    file = next((lakes.replica / f"dt={DAY}").glob("*.parquet"))
    file.write_bytes(b"x")
    result = run(lakes.root, "replicate", "--repair")
    assert f"{file.relative_to(lakes.replica)} of sales: other size, sent again" in result.stdout
    assert "1 files checked, 1 damages found" in run(lakes.root, "replicate", "--status").stdout
    repaired = json.loads(run(lakes.root, "replicate", "--repair", "--json").stdout)["replicas"][0]["repaired"]
    assert (repaired["files"], repaired["findings"]) == (1, [])
    assert run(lakes.root, "replicate", "--repair", "--status").exit_code == 2


def test_unknown_replicas_are_errors_with_a_hint(tmp_path: Path) -> None:
    lakes = TwoLakes.at(tmp_path)
    lakes.complete(DAY, lakes.write(DAY, {"id": [1, 2]}))
    next((lakes.source / f"dt={DAY}").glob("*.parquet")).unlink()
    result = run(lakes.root, "replicate")
    assert result.exit_code == 1
    assert f"sales@{DAY} is not copied" in result.stdout
    assert "not yet to b: generation 1 is failed" in run(lakes.root, "explain", "sales", DAY).stdout


def test_names_that_the_project_does_not_have(tmp_path: Path) -> None:
    lakes = TwoLakes.at(tmp_path)
    result = run(lakes.root, "replicate", "c")
    assert "this project has no replica with the name 'c'" in result.stderr
    (lakes.root / "tidemark.yaml").write_text("time_zone: Europe/Paris\n")
    assert "this project has no replicas" in run(lakes.root, "replicate").stderr
    checked = run(lakes.root, "check")
    assert "this project has no replica with the name 'b'" in checked.output
    (lakes.root / "tidemark.yaml").write_text("replicas: {b: {folder: x}}\n")
    assert "b needs a lake" in run(lakes.root, "replicate").stderr
