"""`tidemark apply`: the backfill of what `plan` names, and of nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from tests.catalog.changed_project import DAYS, compute, declare, rewrite
from tidemark.console.exit_codes import ExitCode
from tidemark.console.main import main

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


@pytest.fixture
def root(tmp_path: Path) -> Path:
    declare(tmp_path)
    compute(tmp_path)
    rewrite(tmp_path, "amount * 2", "amount * 3")
    return tmp_path


def run(root: Path, *arguments: str) -> Result:
    env = {"TIDEMARK_ROOT": str(root), "TIDEMARK_DATA": str(root / "data")}
    return CliRunner().invoke(main, arguments, env=env)


def told(root: Path, *arguments: str) -> dict[str, Any]:
    result = run(root, *arguments, "--json")
    assert result.exit_code == ExitCode.OK, result.output
    return dict(json.loads(result.output))


def test_one_backfill_has_the_outdated_slices_and_readers_of_the_changed_column(root: Path) -> None:
    made = told(root, "apply", "--author", "ann")
    members = [(slice_["slice"], slice_["wave"], slice_["root"]) for slice_ in made["slices"]]
    outdated = [(f"sales@{day}", 0, True) for day in DAYS]
    assert sorted(members) == sorted([*outdated, *((f"twices@{day}", 1, False) for day in DAYS)])
    assert (made["number"], made["phase"]) == (1, "planned")
    shown = told(root, "backfills", "show", "1")
    assert (shown["who"], shown["asked"], shown["why"]) == ("ann", "apply", "its code changed")


def test_chosen_slices_alone(root: Path) -> None:
    made = told(root, "apply", "sales", "--slices", DAYS[0], "--approve")
    assert [slice_["slice"] for slice_ in made["slices"]] == [f"sales@{DAYS[0]}", f"twices@{DAYS[0]}"]
    assert made["phase"] == "running"
    assert told(root, "apply", "amounts") == {"number": None, "slices": []}


def test_a_dry_run_keeps_nothing(root: Path) -> None:
    assert run(root, "apply", "--dry-run").output.endswith("this was a dry run\n")
    assert told(root, "backfills", "list") == {"backfills": []}


def test_current_slices_are_not_rebuilt(root: Path) -> None:
    rewrite(root, "amount * 3", "amount * 2")
    assert run(root, "apply").output == "no slice is outdated\n"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--slices", "2026-03-23"), ExitCode.USAGE, "needs an ENTITY"),
        (("--dry-run", "--approve"), ExitCode.USAGE, "leave out --approve"),
        (("sale",), ExitCode.FAILED, "sale"),
        (("sales", "--slices", "1999-01-01"), ExitCode.FAILED, "sales has no slice at this time"),
    ],
)
def test_bad_input_is_a_clear_answer(root: Path, arguments: tuple[str, ...], code: int, says: str) -> None:
    result = run(root, "apply", *arguments)
    assert (result.exit_code, says in result.output) == (code, True)
