"""`explain` on a warehouse where something has happened: how slices stand, and what is missing, as deep as it goes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from tests.console.commands.slices_there import DONE, RUN, THEN, report
from tidemark.console.main import main
from tidemark.dependency_model.profile.figures import figures_of
from tidemark.dependency_model.profile.prediction import History
from tidemark.dependency_model.profile.slice_profile import ColumnKind, ColumnProfile, SliceProfile
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event
from tidemark.state_store.probe_errors import probe_errors
from tidemark.state_store.probe_looks import ProbeLook, probe_looks
from tidemark.state_store.slice_profiles import SliceProfiles, StoredProfile
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot
from tidemark.state_store.store import StateStore
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


NOT_READ = "instance a: nothing is read yet; unknown: no heartbeat has arrived from a yet"


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
def test_missing_inputs_are_followed_upstream() -> None:
    lines = [line.split("\t") for line in explain("ads_gmv_course", "2026-03-29").splitlines()]
    assert lines[0] == ["ads_gmv_course 2026-03-29 [day] is waiting for 1 of 2"]
    upstream = lines[lines.index(["upstream"]) + 1 : lines.index(["downstream"])]
    assert upstream == [
        ["", "entity", "offset", "slices"],
        ["  waiting", "dws_course_orders_1d", "Set -1,0", "2026-03-28, 2026-03-29", "missing 2026-03-28"],
        ["    waiting", "dwd_orders", "Set 0", "2026-03-28"],
        ["      ok", "ods_orders", "Set 0", "2026-03-28"],
        ["      waiting", "ods_courses", "Set 0", "2026-03-28"],
        ["        held back", "ods_courses", "", "2026-03-28", NOT_READ],
        ["  ok", "ods_orders", "Set 0", "2026-03-29"],
    ]
    assert ["  ", "olap_ads_gmv_course", "2026-03-29"] in lines


@pytest.mark.usefixtures("data")
def test_json_has_the_same_answer() -> None:
    waiting = json.loads(explain("ads_gmv_course", "2026-03-29", "--json"))
    assert (waiting["status"]["run_state"], waiting["waits_for"]) == ("waiting", ["dws_course_orders_1d@2026-03-28"])
    assert [(upstream["entity"], upstream["met"]) for upstream in waiting["upstream"]] == [
        ("dws_course_orders_1d", False),
        ("ods_orders", True),
    ]
    assert waiting["held_back"] == {"ods_courses@2026-03-28": [NOT_READ]}
    assert [(link["slice"].partition("@")[0], link["missing"], link["inputs"]) for link in waiting["chain"]] == [
        ("ads_gmv_course", 1, 3),
        ("dws_course_orders_1d", 1, 1),
        ("dwd_orders", 1, 2),
        ("ods_courses", 0, 0),
    ]
    assert waiting["because"] == [NOT_READ]
    there = json.loads(explain("ods_orders", "2026-03-28", "--json"))
    assert (there["record"]["run_id"], datetime.fromisoformat(there["record"]["completed_at"])) == (RUN, THEN)
    assert (there["status"]["run_state"], there["status"]["valid"], there["waits_for"]) == ("completed", True, [])
    assert [(event["event"], event["who"], event["run_id"]) for event in there["life"][-2:]] == [
        ("completed", "test", RUN),
        ("quality_passed", "test", None),
    ]
    assert explain("ods_orders", "2026-03-28").startswith("ods_orders 2026-03-28 [day] is completed\n")


@pytest.mark.slow
def test_the_rule_that_a_flag_comes_from_is_named(data: Path) -> None:
    """Of the slice that broke it, and of the day around it."""
    hour, broken = "orders_complete_1h@2026-03-30T10", "row_count: 2 rows, expected 20"
    report(Settings.at(data), [hour], [*DONE, Event.QUALITY_FAILED], broken)
    report(Settings.at(data), ["orders_complete_1d@2026-03-30"])
    held = [line.strip() for line in explain("orders_complete_1h", "2026-03-30T10").splitlines() if "held back" in line]
    assert held == ["held back by its rules are broken", f"held back by {hour}: {broken}"]
    day = json.loads(explain("orders_complete_1d", "2026-03-30", "--json"))
    assert day["held_back"] == {
        "orders_complete_1d@2026-03-30": [f"the rules of {hour} are broken", f"{hour}: {broken}"]
    }


def test_an_unchecked_input_is_not_accepted(data: Path) -> None:
    report(Settings.at(data), ["ods_courses@2026-03-28"], [Event.COMPLETED])
    assert explain("ods_courses", "2026-03-28").startswith("ods_courses 2026-03-28 [day] is completed, not checked yet")


def test_a_completed_slice_says_how_it_came_to_be(data: Path) -> None:
    assert f"  completed    2026-03-30 03:00+02:00 by run {RUN}" in explain("dws_course_orders_1d", "2026-03-29")
    tagged = TaggedSnapshot("ods_orders", "day", "2026-03-28", 3, 41, THEN)
    SnapshotRegistry.at(Settings.at(data).state_db).tag([tagged])
    assert "  wrote        41 rows, table version 3" in explain("ods_orders", "2026-03-28").splitlines()


def test_json_has_all_reported_and_measured_figures(data: Path) -> None:
    settings = Settings.at(data)
    reported: dict[str, Any] = {
        "batch_id": "b7",
        "minimum": "1",
        "maximum": "9",
        "watermarks": {"id": 9},
        "parameters": {"full": True},
    }
    report(settings, ["ods_courses@2026-03-28"], cluster="etl", snapshot_id="4", **reported)
    store, slice_ = StateStore.of(settings), Slice("ods_courses", "2026-03-28")
    measured = SliceProfile(2, (ColumnProfile("id", ColumnKind.NUMBER, 2, minimum="1", maximum="9"),))
    profile = StoredProfile(slice_, THEN, 4, figures_of(measured), History.NONE)
    SliceProfiles(store.database).put([(profile, measured)])
    store.close()
    record = json.loads(explain("ods_courses", "2026-03-28", "--json"))["record"]
    assert {name: record[name] for name in reported} == reported
    assert (record["cluster"], record["columns"]) == ("etl", {"id": {"minimum": "1", "maximum": "9"}})


def test_the_last_look_of_a_probe_and_its_next_one(data: Path) -> None:
    store = StateStore.of(Settings.at(data))
    look = ProbeLook(datetime(2026, 3, 30, 1, 0, tzinfo=UTC), datetime(2026, 3, 30, 1, 10, tzinfo=UTC), "0 files")
    probe_looks(store.database).put({"partner_ads@2026-03-29/region=reunion": look.to_json()})
    store.close()
    told = explain("partner_ads", "2026-03-29", "--part", "region=reunion")
    assert "its probe looked at 2026-03-30 03:00+02:00: 0 files; no center looks now" in told, told


def test_a_probe_that_fails_says_its_last_error(data: Path) -> None:
    store = StateStore.of(Settings.at(data))
    probe_errors(store.database).put({"partner_ads@2026-03-29/region=reunion": "the partner's disk is full"})
    store.close()
    assert "its probe fails: the partner's disk is full" in explain(
        "partner_ads", "2026-03-29", "--part", "region=reunion"
    )


def test_inputs_that_were_computed_again_since_are_told(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "ods_orders@2026-03-29 has generation 2 now"
    report(Settings.at(data), ["ods_courses@2026-03-28"])
    monkeypatch.setattr("tidemark.api.slice_background.later_inputs", lambda *_: [words])
    assert f"  outdated     {words}" in explain("ods_courses", "2026-03-28").splitlines()
    assert json.loads(explain("ods_courses", "2026-03-28", "--json"))["outdated"] == [words]
