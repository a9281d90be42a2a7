"""`quality`: what the rules said, for people and programs, and as a table that DuckDB reads."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from deltalake import DeltaTable

from tests.project import write_project
from tests.state_store.test_rule_results import BROKEN, HELD
from tidemark.console.main import main
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.database import Database
from tidemark.state_store.rule_results import RuleResults
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

DECLARED = {"ads/totals.yaml": "period: day\nstart: 2026-01-01\n", "ads/totals.sql": "SELECT 1 AS n\n"}
DAY = Slice("totals", "2026-03-23")


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    root = write_project(tmp_path / "project", DECLARED, "time_zone: UTC\n")
    monkeypatch.setenv("TIDEMARK_ROOT", str(root))
    settings = Settings.load()
    RuleResults(Database.of(settings)).put([replace(result, slice=DAY) for result in (HELD, BROKEN)])
    return settings


def call(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(main, ["quality", *arguments])
    assert done.exit_code == code, done.output
    return done.output


def results(*arguments: str) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = json.loads(call(*arguments, "--json"))["results"]
    return told


@pytest.mark.usefixtures("settings")
def test_results_of_all_entities_of_one_entity_and_of_one_slice() -> None:
    assert [result["rule"] for result in results()] == ["not_null", "range"]
    (broken,) = results("totals", "2026-03-23", "--broken")
    assert (broken["outcome"], broken["measured"], broken["version"]) == ("broken", {"range": 3}, None)
    assert results("totals", "2026-03-24") == []
    assert "totals@2026-03-23\trange\tblock\tbroken" in call("totals")
    assert "not published" in call("totals")


@pytest.mark.usefixtures("settings")
def test_an_entity_that_is_not_there_is_named() -> None:
    call("totols", code=1)


def test_the_lake_gets_them_once_however_often_it_is_asked(settings: Settings) -> None:
    for _ in range(2):
        call("--to-lake")
    rows = DeltaTable(str(settings.warehouse / "quality_results")).to_pyarrow_table().to_pylist()
    assert [(row["entity"], row["slice"], row["rule"], row["outcome"], row["version"]) for row in rows] == [
        ("totals", "2026-03-23", "not_null", "passed", 4),
        ("totals", "2026-03-23", "range", "broken", None),
    ]
