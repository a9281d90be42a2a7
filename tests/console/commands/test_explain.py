"""`explain` on a warehouse where something has happened: how slices stand, and what is missing, as deep as it goes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tests.console.commands.slices_there import report
from tidemark.console.main import main
from tidemark.dependency_model.status import Event
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path))
    report(Settings.at(tmp_path))
    return tmp_path


def explain(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["explain", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.usefixtures("data")
def test_what_is_missing_is_followed_upwards() -> None:
    lines = [line.split("\t") for line in explain("ads_gmv_course", "2026-03-29").splitlines()]
    assert lines[0] == ["ads_gmv_course 2026-03-29 [day] is waiting for 1 of 2"]
    upstream = lines[lines.index(["upstream"]) + 1 : lines.index(["downstream"])]
    assert upstream == [
        ["", "entity", "offset", "slices"],
        ["  waiting", "dws_course_orders_1d", "Set -1,0", "2026-03-28, 2026-03-29", "missing 2026-03-28"],
        ["    waiting", "dwd_orders", "Set 0", "2026-03-28"],
        ["      ok", "ods_orders", "Set 0", "2026-03-28"],
        ["      waiting", "ods_courses", "Set 0", "2026-03-28"],
        ["  ok", "ods_orders", "Set 0", "2026-03-29"],
    ]
    assert ["  ", "olap_ads_gmv_course", "2026-03-29"] in lines


@pytest.mark.usefixtures("data")
def test_programs_are_told_the_same() -> None:
    waiting = json.loads(explain("ads_gmv_course", "2026-03-29", "--json"))
    assert (waiting["status"]["run_state"], waiting["waits_for"]) == ("waiting", ["dws_course_orders_1d@2026-03-28"])
    assert [(upstream["entity"], upstream["met"]) for upstream in waiting["upstream"]] == [
        ("dws_course_orders_1d", False),
        ("ods_orders", True),
    ]
    there = json.loads(explain("ods_orders", "2026-03-28", "--json"))
    assert (there["status"]["run_state"], there["status"]["valid"], there["waits_for"]) == ("completed", True, [])
    assert explain("ods_orders", "2026-03-28").startswith("ods_orders 2026-03-28 [day] is completed\n")


def test_what_nobody_checked_is_not_taken(data: Path) -> None:
    report(Settings.at(data), ["ods_courses@2026-03-28"], [Event.COMPLETED])
    assert explain("ods_courses", "2026-03-28").startswith("ods_courses 2026-03-28 [day] is completed, not checked yet")
