"""`status` on a warehouse where something has happened: what is missing, and what everything waits for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from tests.console.commands.slices_there import report
from tidemark.console.main import main
from tidemark.dependency_model.status import Event
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path))
    return Settings.at(tmp_path)


def status(*arguments: str, exit_code: int = 1) -> str:
    result = CliRunner().invoke(main, ["status", *arguments])
    assert result.exit_code == exit_code, result.output
    return result.stdout


def entries(*arguments: str) -> dict[str, dict[str, Any]]:
    return {entry["entity"]: entry for entry in json.loads(status("--json", *arguments))["entities"]}


def test_before_anything_happened_everything_waits_for_the_captured_tables(settings: Settings) -> None:
    told = entries()
    assert told["ods_orders"]["waits_for"]["slice"] == "ods_orders@2026-03-23"
    assert told["ads_gmv_course"]["waits_for"]["slice"] == "ods_orders@2026-03-23"
    assert told["ads_gmv_course"]["waits_for"]["because"] == [
        f"instance {name}: nothing of it is read; unknown: no heartbeat of {name} has arrived yet" for name in "ab"
    ]
    assert not settings.state_db.exists()


def test_what_is_there_is_counted_and_what_is_promised_is_late(settings: Settings) -> None:
    report(settings)
    told = entries()
    assert (told["ods_orders"]["completed"], told["ods_orders"]["newest"]) == (2, "2026-03-29")
    assert told["dws_course_orders_1d"]["completed"] == 1
    assert len(told["ods_orders"]["late"]) == 7
    assert told["dws_user_activity_7d"]["late"] == []


def test_a_failed_slice_is_where_the_waiting_begins(settings: Settings) -> None:
    days = [f"2026-03-{day}" for day in range(23, 32)]
    upstream = ("ods_orders", "ods_courses")
    report(settings, [f"{name}@{day}" for name in upstream for day in days])
    report(settings, ["dwd_orders@2026-03-23"], [Event.STARTED, Event.FAILED])
    told = entries("--layer", "dwd")["dwd_orders"]
    assert (told["failed"], told["waiting"]) == (["2026-03-23"], ["2026-03-30", "2026-03-31"])
    assert told["under_way"] == [f"2026-03-{day}" for day in range(24, 30)]
    lines = status().splitlines()
    assert lines[0].startswith("layer\tentity\towner")
    (at,) = (at for at, line in enumerate(lines) if line.startswith("dwd_orders@2026-03-23 is not there: "))
    assert "ads_gmv_course" in lines[at]
    assert lines[at + 1] == "  it failed, and is not tried again by itself"


def test_an_owner_whose_slices_are_all_there_has_no_trouble(settings: Settings) -> None:
    report(settings)
    assert status("--owner", "nobody@school.example", exit_code=0) == "0 entities, 0 slices completed\n"
