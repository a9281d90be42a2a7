"""`impact` over the main job and over a project of hours: downstream, by column, backwards, and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from tests.console.commands.slices_there import DONE, RUN, report
from tests.project import write_project
from tidemark.console.main import main
from tidemark.dependency_model.status import Event
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

UNTIL = ("--until", "2026-04-01")


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path))
    return Settings.at(tmp_path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["impact", *arguments])


def answer(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    told: dict[str, Any] = json.loads(result.stdout)
    return told


def test_each_downstream_slice_has_its_need(settings: Settings) -> None:
    report(settings)
    report(settings, ["dwd_orders@2026-03-29"], [Event.STARTED, Event.FAILED])
    told = answer("ods_orders", "2026-03-29", *UNTIL)
    needs = {impacted["slice"]: impacted["need"] for impacted in told["downstream"]}
    assert told["causes"] == ["ods_orders@2026-03-29"]
    assert needs["dws_course_orders_1d@2026-03-29"] == "clear"
    assert needs["dwd_orders@2026-03-29"] == "start"
    assert needs["dws_user_activity_1w@2026-03-23"] == needs["dws_course_orders_mtd@2026-03-31"] == "nothing"
    text = run("ods_orders", "2026-03-29", *UNTIL).stdout
    assert "1 to clear and compute again, 1 to start, " in text


def test_a_column_affects_only_its_readers(settings: Settings) -> None:
    whole = {impacted["slice"] for impacted in answer("ods_orders", "2026-03-29", *UNTIL)["downstream"]}
    amount = {
        impacted["slice"] for impacted in answer("ods_orders", "2026-03-29", "--column", "amount", *UNTIL)["downstream"]
    }
    assert amount < whole
    assert "ads_gmv_course@2026-03-29" in amount
    assert "dws_user_activity_1d@2026-03-29" not in amount


def test_a_run_stands_for_its_slices(settings: Settings) -> None:
    report(settings)
    assert answer("--run", RUN, *UNTIL)["causes"] == sorted(
        ["dws_course_orders_1d@2026-03-29", "ods_courses@2026-03-29", "ods_orders@2026-03-28", "ods_orders@2026-03-29"]
    )
    assert run("--run", "nix").exit_code == 1
    assert run("--run", RUN, "ods_orders").exit_code == 2


@pytest.mark.slow
def test_a_wrong_slice_names_the_input_that_failed_its_rules(settings: Settings) -> None:
    report(settings, events=(*DONE, Event.QUALITY_FAILED)[:1])
    report(settings, ["ods_courses@2026-03-29"], [Event.QUALITY_FAILED])
    (suspect,) = answer("dws_course_orders_1d", "2026-03-29", "--suspects")["suspects"]
    assert (suspect["slice"], suspect["reasons"]) == ("ods_courses@2026-03-29", ["invalid"])
    assert "ods_courses@2026-03-29" in run("dws_course_orders_1d", "2026-03-29", "--suspects").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ods_ordrs", "2026-03-29"), "did you mean 'ods_orders'?"),
        (("ods_orders", "2016-03-29"), "has no slice at this time"),
        (("ods_orders", "banana"), "this is not a date"),
        (("ods_orders", "2026-03-29", "--column", "amnt"), "did you mean 'amount'?"),
    ],
)
def test_unknown_names_are_clear_errors(settings: Settings, arguments: tuple[str, str], words: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 1
    assert words in result.output


@pytest.mark.slow
def test_ten_years_of_hours_by_mistake_are_asked_about_first(tmp_path: Path) -> None:
    root = write_project(tmp_path, {"clicks.yaml": "{period: hour, start: 2016-01-01, kind: Virtual}\n"})
    asked = ("--root", str(root), "clicks", "2016-01-01..2025-12-31")
    refused = run(*asked)
    assert refused.exit_code == 1
    assert "clicks 2016-01-01..2025-12-31 means 87,672 slices" in refused.output
    assert "--yes" in refused.output
    assert run(*asked, "--yes").exit_code == 0
