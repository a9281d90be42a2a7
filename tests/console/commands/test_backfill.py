"""`backfill` and `backfills`: the plan, its number, its phases, and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from tests.console.commands.slices_there import report
from tidemark.console.main import main
from tidemark.dependency_model.backfill import SliceProgress
from tidemark.state_store.backfills import Backfills
from tidemark.state_store.store import StateStore
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

ASKED = ("backfill", "ods_orders", "2026-03-29", "--author", "ann", "--reason", "the feed repeated itself")
MEMBERS = ["ods_orders@2026-03-29", "dwd_orders@2026-03-29", "dws_course_orders_1d@2026-03-29"]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path))
    made = Settings.at(tmp_path)
    report(made)
    report(made, ["dwd_orders@2026-03-29"])
    return made


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def told(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.stdout))


def test_a_dry_run_says_the_waves_and_keeps_nothing(settings: Settings) -> None:
    assert settings.state_db.exists()
    plan = told(*ASKED, "--dry-run")
    assert ([slice_["slice"] for slice_ in plan["slices"]], plan["number"]) == (MEMBERS, None)
    assert (plan["waves"], plan["slices"][0]["given"], plan["estimate"]["slices"]) == (3, True, 2)
    text = run(*ASKED, "--dry-run").stdout
    assert "2 slices in 3 waves, about 2 runs" in text
    assert text.endswith("this was a dry run\n")
    assert told("backfills", "list") == {"backfills": []}


def test_a_plan_is_approved_paused_resumed_and_cancelled_by_its_number(settings: Settings) -> None:
    assert settings.state_db.exists()
    assert (told(*ASKED)["number"], told(*ASKED, "--approve")["number"]) == (1, 2)
    for command, phase in (
        ("approve", "running"),
        ("pause", "paused"),
        ("resume", "running"),
        ("cancel", "cancelling"),
    ):
        assert told("backfills", command, "1") == {"number": 1, "phase": phase}
    shown = told("backfills", "show", "1")
    assert (shown["who"], shown["asked"], shown["phase"]) == ("ann", "ods_orders 2026-03-29", "cancelling")
    assert {far["slice"]: far["progress"] for far in shown["progress"]} == dict.fromkeys(MEMBERS, "pending")
    assert [listed["number"] for listed in told("backfills", "list")["backfills"]] == [2, 1]
    assert told("backfills", "decide", "2", "--keep")["decided"] == 0
    assert told("backfills", "show", "2")["progress"][1]["after"] == 1
    assert "3 of them are also in backfill 1, which goes first" in run(*ASKED, "--dry-run").stdout
    assert "backfill 2 is running: ods_orders 2026-03-29, by ann" in run("backfills", "show", "2").stdout


def test_status_shows_active_backfills_and_decisions_to_make(settings: Settings) -> None:
    told(*ASKED, "--approve")
    store = StateStore.of(settings)
    Backfills(store.database).note(1, [(1, SliceProgress.ASKING, "its policy is to ask a person")])
    store.close()
    expected = {"number": 1, "phase": "running", "asked": "ods_orders 2026-03-29", "open": 3, "asking": 1}
    assert json.loads(run("status", "--json").stdout)["backfills"] == [expected]
    text = run("status").stdout
    assert "backfill 1 is running: ods_orders 2026-03-29, 3 slices to go" in text
    assert "1 of them wait for a person: tidemark backfills decide 1 --rebuild|--keep" in text
    assert told("backfills", "decide", "1", "--rebuild")["decided"] == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("backfill", "ods_oders", "2026-03-29"), 1, "unknown entity"),
        (("backfill", "ods_orders", "banana"), 1, "banana"),
        (("backfill", "ods_orders", "1999-03-29"), 1, "ods_orders has no slice at this time"),
        (("backfill", "ods_orders", "2026-03-29", "--dry-run", "--approve"), 2, "leave out --approve"),
        (("backfills", "approve", "7"), 1, "the backfill does not exist"),
        (("backfills", "approve", "seven"), 2, "not a valid integer"),
        (("backfills", "decide", "1"), 2, "give --rebuild or --keep"),
    ],
)
def test_unknown_slices_and_backfills_are_refused(
    settings: Settings, arguments: tuple[str, ...], code: int, says: str
) -> None:
    assert settings.state_db.exists()
    result = run(*arguments)
    assert (result.exit_code, says in result.output) == (code, True), result.output


def test_more_than_a_person_may_mean_is_asked_about_first(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings.state_db.exists()
    monkeypatch.setattr("tidemark.console.asked_slices.MAX_SLICES", 3)
    ten_years = ("backfill", "ods_orders", "2026-03-22..2036-03-22")
    result = run(*ten_years)
    assert (result.exit_code, "add --yes to confirm" in result.output) == (1, True)
    assert told(*ten_years, "--yes")["number"] == 1


def test_a_phase_that_cannot_follow_is_refused(settings: Settings) -> None:
    assert settings.state_db.exists()
    told(*ASKED)
    result = run("backfills", "pause", "1")
    assert (result.exit_code, "backfill 1 cannot be paused" in result.output) == (1, True)
    assert told("backfills", "cancel", "1") == {"number": 1, "phase": "cancelled"}


def test_without_computed_slices_there_is_nothing_to_rebuild(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path / "empty"))
    for arguments in (ASKED, ("backfills", "list")):
        result = run(*arguments)
        assert (result.exit_code, "nothing is computed yet" in result.output) == (1, True)
