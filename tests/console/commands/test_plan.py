"""`tidemark plan`: for people, for programs, and for a pipeline by its exit code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tests.catalog.changed_project import DAYS, NOW, compute, declare, rewrite, warehouse_at
from tidemark.center.center import DependencyCenter
from tidemark.console.exit_codes import ExitCode
from tidemark.console.main import main
from tidemark.state_store.store import StateStore

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return declare(tmp_path)


def plan(root: Path, *arguments: str) -> Result:
    env = {"TIDEMARK_ROOT": str(root), "TIDEMARK_DATA": str(root / "data")}
    return CliRunner().invoke(main, ["plan", *arguments], env=env)


def test_nothing_is_outdated_where_nothing_was_computed_or_nothing_has_changed(root: Path) -> None:
    told = plan(root)
    assert (told.exit_code, told.output) == (ExitCode.OK, "no slice is outdated\n")
    compute(root)
    assert plan(root).exit_code == ExitCode.OK
    rewrite(root, "SELECT", "-- as it is\nselect")
    assert json.loads(plan(root, "--json").output) == {
        "entities": [],
        "unknown": {},
        "broken": {},
        "widened": [],
        "slices": 0,
        "cost": None,
    }


def test_a_change_is_told_with_what_it_touches_and_costs(root: Path) -> None:
    compute(root)
    rewrite(root, "amount * 2", "amount * 3")
    told = plan(root)
    assert told.exit_code == ExitCode.OUTDATED
    assert told.output.splitlines()[:2] == ["sales: changed", "  twice has another expression"]
    for line in (
        "  downstream\ttwices\t2: 2026-03-23 .. 2026-03-24",
        "2 slices are outdated, 2 more are downstream",
    ):
        assert line in told.output.splitlines()
    data = json.loads(plan(root, "--json").output)
    assert data["slices"] == 2 * len(DAYS)
    assert data["cost"]["work_seconds"] > 0
    (entity,) = data["entities"]
    assert (entity["columns"], entity["outdated"], entity["untouched"]) == (["twice"], [*DAYS], ["amounts"])


def test_a_new_column_is_null_in_the_slices_that_are_there(root: Path) -> None:
    compute(root)
    rewrite(root, "AS twice", "AS twice, id + 1 AS following")
    assert "  NULL until the slices are computed again: following" in plan(root).output
    assert json.loads(plan(root, "--json").output)["entities"][0]["null_until_computed"] == ["following"]


def test_a_reader_of_a_column_that_is_gone_is_named(root: Path) -> None:
    compute(root)
    rewrite(root, ", amount * 2 AS twice", "")
    told = plan(root)
    assert told.exit_code == ExitCode.OUTDATED
    assert "sales: breaking" in told.output
    assert "twice is gone, and is read" in told.output
    assert "twices is broken: " in told.output


def test_slices_that_need_more_as_declared_now_are_listed_before_the_center_starts(root: Path) -> None:
    compute(root)
    warehouse = warehouse_at(root)
    store = StateStore.of(warehouse.settings)
    DependencyCenter(warehouse.graph, store, since=NOW, clock=lambda: NOW).tick()
    store.close()
    assert plan(root).output == "no slice is outdated\n"
    rewrite(
        root, "WHERE dt = :biz_date", "WHERE dt >= :biz_date - INTERVAL 1 DAY AND dt <= :biz_date", "ads/report.sql"
    )
    told = plan(root, "report")
    assert told.exit_code == ExitCode.OUTDATED
    lines = told.output.splitlines()
    assert "report: needs more" in lines
    assert "  2026-03-24 has not read amounts@2026-03-23" in lines
    assert "  needs more\treport\t1: 2026-03-24" in lines
    (entity,) = json.loads(plan(root, "--json").output)["widened"]
    assert entity == {"entity": "report", "reprocess": "always", "lacks": {"2026-03-24": ["amounts@2026-03-23"]}}
    assert json.loads(plan(root, "amounts", "--json").output)["widened"] == []


def test_slices_of_unknown_code_are_said(root: Path) -> None:
    compute(root, told=False)
    told = plan(root)
    assert told.exit_code == ExitCode.OK
    assert "8 slices have no recorded code" in told.output


def test_an_unknown_entity_is_a_clear_answer(root: Path) -> None:
    told = plan(root, "sale")
    assert told.exit_code == ExitCode.FAILED
    assert "sale" in told.output
