"""`tidemark take-over` on the command line: usage, status and refusals."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tests.project import write_project
from tests.replication.two_centers import DECLARED, TwoCenters
from tidemark.console.main import main
from tidemark.system.project_root import ROOT_VARIABLE

if TYPE_CHECKING:
    from pathlib import Path


def run(root: Path, *arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["take-over", *arguments], env={ROOT_VARIABLE: str(root)})
    return done.exit_code, done.output


def test_the_status_names_the_holder_and_what_this_center_may_do(tmp_path: Path) -> None:
    world = TwoCenters(tmp_path)
    world.a.tick()
    world.a.replicate()
    world.b.take_over(is_lost=True)
    for center, permission in (("a", "fenced"), ("b", "holds")):
        code, output = run(tmp_path / f"center_{center}", "--status", "--json")
        (shown,) = json.loads(output)["flows"]
        assert (code, shown["holder"], shown["term"], shown["permission"]) == (0, "b", 2, permission)
        assert (shown["why"], shown["troubles"]) == ("power failure", [])
    code, output = run(tmp_path / "center_b", "a", "--json")
    assert (code, json.loads(output)["term"], json.loads(output)["taken_in"]) == (0, 2, [])


@pytest.mark.parametrize("arguments", [[], ["a", "--status"]])
def test_it_needs_a_center_or_shows_the_status(tmp_path: Path, arguments: list[str]) -> None:
    code, output = run(write_project(tmp_path, {}), *arguments)
    assert (code, "name a center, or ask for --status" in output) == (2, True)


def test_a_center_without_a_name_is_a_problem_of_the_project(tmp_path: Path) -> None:
    root = write_project(tmp_path, DECLARED, "replicas: {b: {lake: lake_b}}\n")
    checked = CliRunner().invoke(main, ["check"], env={ROOT_VARIABLE: str(root)})
    assert (checked.exit_code, "does not know the center 'a'" in checked.output) == (1, True)
