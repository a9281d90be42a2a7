"""`status` on a warehouse where something has happened: what is missing, and what everything waits for."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from tests.console.commands.slices_there import DONE, RUN, THEN, report
from tidemark.catalog.notes import iceberg_troubles, unreadable_tables
from tidemark.center.health import StoredHealth
from tidemark.console.commands.status import StatusLook, watched
from tidemark.console.exit_codes import ExitCode
from tidemark.console.main import main
from tidemark.dependency_model.status import Event
from tidemark.state_store.database import Database
from tidemark.state_store.lease import CENTER, Lease
from tidemark.state_store.place_waits import place_waits
from tidemark.system.served_project import serve_alone
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
        f"instance {name}: nothing is read yet; unknown: no heartbeat has arrived from {name} yet" for name in "ab"
    ]
    assert not settings.state_db.exists()


def test_completed_slices_are_counted_and_missed_promises_are_late(settings: Settings) -> None:
    report(settings)
    told = entries()
    assert (told["ods_orders"]["completed"], told["ods_orders"]["newest"]) == (2, "2026-03-29")
    assert told["dws_course_orders_1d"]["completed"] == 1
    assert len(told["ods_orders"]["late"]) == 7
    assert told["dws_user_activity_7d"]["late"] == []


def test_a_past_time_shows_the_state_recorded_by_then(settings: Settings) -> None:
    report(settings)
    for minutes, completed in ((-1, 0), (1, 1)):
        when = THEN + timedelta(minutes=minutes)
        told = json.loads(status("--json", "--as-of", when.strftime("%Y-%m-%dT%H:%M:%S")))
        assert datetime.fromisoformat(told["now"]) == when
        by_name = {entry["entity"]: entry for entry in told["entities"]}
        assert by_name["dws_course_orders_1d"]["completed"] == completed
        assert by_name["ods_orders"]["completed"] == 2 * completed
    assert "exclude each other" in CliRunner().invoke(main, ["status", "--watch", "--as-of", "2026-03-30"]).output


def test_a_table_that_cannot_be_read_is_named_first(settings: Settings) -> None:
    report(settings)
    database = Database.of(settings)
    unreadable_tables(database).put({"ods_orders": "no commit 1", "gone_since": "no commit 2"})
    database.close()
    assert json.loads(status("--json"))["unreadable"] == {"ods_orders": "no commit 1"}
    assert status().splitlines()[0] == "the table of ods_orders cannot be read: no commit 1"


def test_metadata_that_could_not_be_written_is_said(settings: Settings) -> None:
    report(settings)
    database = Database.of(settings)
    iceberg_troubles(database).put({"ods_orders": "the disk is full"})
    database.close()
    assert json.loads(status("--json"))["not_in_iceberg"] == {"ods_orders": "the disk is full"}
    assert "ods_orders are not in Iceberg, and it is tried again: the disk is full" in status()


def test_a_failed_slice_is_where_the_waiting_begins(settings: Settings) -> None:
    days = [f"2026-03-{day}" for day in range(23, 32)]
    upstream = ("ods_orders", "ods_courses")
    report(settings, [f"{name}@{day}" for name in upstream for day in days])
    report(settings, ["dwd_orders@2026-03-23"], [Event.STARTED, Event.FAILED], "the disk is full")
    told = entries("--layer", "dwd")["dwd_orders"]
    again = "it is retried when a center runs: start `tidemark up` or `tidemark center`"
    why = ["failed: the disk is full", f"run {RUN}, 2026-03-30 03:00+02:00", again]
    assert told["failures"] == {"2026-03-23": why}
    assert (told["failed"], told["waiting"]) == (["2026-03-23"], ["2026-03-30", "2026-03-31"])
    assert told["under_way"] == [f"2026-03-{day}" for day in range(24, 30)]
    lines = status().splitlines()
    assert lines[0].startswith("layer\tentity\towner")
    (at,) = (at for at, line in enumerate(lines) if line.startswith("dwd_orders@2026-03-23 is not there: "))
    assert "ads_gmv_course" in lines[at]
    assert lines[at + 1 : at + 4] == [f"  {line}" for line in why]
    explained = CliRunner().invoke(main, ["explain", "dwd_orders", "2026-03-23"]).output.splitlines()
    assert [line.strip() for line in explained if line.strip() in why] == why


def test_the_command_is_named_after_the_last_retry_and_the_past_knows_no_later_failure(settings: Settings) -> None:
    def last_words(*arguments: str) -> list[str]:
        words: list[str] = entries(*arguments)["dwd_orders"]["failures"]["2026-03-23"]
        return words

    report(settings, ["ods_orders@2026-03-23", "ods_courses@2026-03-23"])
    report(settings, ["dwd_orders@2026-03-23"], [Event.STARTED, Event.FAILED], "the disk is full")
    database = Database.of(settings)
    Lease(database, CENTER, 60.0).hold()
    database.close()
    first = ["failed: the disk is full", f"run {RUN}, 2026-03-30 03:00+02:00"]
    tried = "it is retried at 2026-03-30 03:05+02:00"
    assert last_words() == [*first, tried]
    late, again = THEN + timedelta(hours=1), [Event.RETRIED, Event.STARTED, Event.FAILED]
    report(settings, ["dwd_orders@2026-03-23"], again, "a column is missing", late, "second")
    command = "fix the cause, then run it again: tidemark backfill dwd_orders 2026-03-23 --approve"
    assert last_words() == ["failed: a column is missing", "run second, 2026-03-30 04:00+02:00", command]
    assert last_words("--as-of", f"{THEN:%Y-%m-%dT%H:%M:30}") == [*first, tried]
    report(settings, ["dwd_orders@2026-03-23"], [Event.CANCELLED], "not today", late + timedelta(hours=1))
    assert (last_words()[0], last_words()[-1]) == ("cancelled: not today", command)


def test_a_failed_slice_that_nothing_waits_for_says_why(settings: Settings) -> None:
    report(settings, ["ads_gmv_course@2026-03-29"], [Event.STARTED, Event.FAILED], "the disk is full")
    lines = status("--layer", "ads").splitlines()
    at = lines.index("ads_gmv_course@2026-03-29 failed: the disk is full")
    assert lines[at + 1] == f"  run {RUN}, 2026-03-30 03:00+02:00"


def test_a_failed_run_has_a_link_while_the_project_is_served(settings: Settings) -> None:
    report(settings, ["ods_orders@2026-03-23", "ods_courses@2026-03-23"])
    report(settings, ["dwd_orders@2026-03-23"], [Event.STARTED, Event.FAILED], "the disk is full")
    with serve_alone(settings.dagster_home, "http://127.0.0.1:3777"):
        assert f"http://127.0.0.1:3777/runs/{RUN}" in status()
    assert "http" not in status()


def test_a_refused_slice_is_shown_with_the_results_of_its_rules(settings: Settings) -> None:
    days = [f"2026-03-{day}" for day in range(23, 32)]
    report(settings, [f"{name}@{day}" for name in ("ods_orders", "ods_courses") for day in days])
    failed = [Event.STARTED, Event.FAILED, Event.QUALITY_FAILED]
    report(settings, ["dwd_orders@2026-03-23"], failed, "unique: 2 rows have a key seen before")
    lines = status().splitlines()
    (at,) = (at for at, line in enumerate(lines) if line.startswith("dwd_orders@2026-03-23 is not there: "))
    assert lines[at + 1 : at + 3] == [
        "  dwd_orders@2026-03-23: unique: 2 rows have a key seen before",
        "  failed: unique: 2 rows have a key seen before",
    ]


def test_a_warning_is_shown_until_a_center_runs(settings: Settings) -> None:
    report(settings)
    assert "no center runs: start" in status().splitlines()[-2]
    assert "no center runs" in CliRunner().invoke(main, ["explain", "dwd_orders", "2026-03-28"]).output
    assert "no center runs" not in CliRunner().invoke(main, ["explain", "ods_orders", "2026-03-28"]).output
    database = Database.of(settings)
    try:
        Lease(database, "sensor of this test", 60.0).hold()
        assert json.loads(status("--json"))["center_trouble"] == ""
    finally:
        database.close()


def test_a_center_that_does_not_work_is_the_first_line(settings: Settings) -> None:
    report(settings)
    database = Database.of(settings)
    try:
        Lease(database, "sensor of this test", 60.0).hold()
        StoredHealth(database).put(["no tick has succeeded for 95 s"])
        first = status().splitlines()[0]
        assert first == "the center does not work: no tick has succeeded for 95 s; its log says why"
        assert json.loads(status("--json"))["center_trouble"] == first
        assert first in CliRunner().invoke(main, ["explain", "dwd_orders", "2026-03-28"]).output
        StoredHealth(database).put([])
        assert json.loads(status("--json"))["center_trouble"] == ""
    finally:
        database.close()


def test_slices_of_a_probe_are_shown_as_probed(settings: Settings) -> None:
    report(settings)
    waits = entries()["partner_ads"]["waits_for"]
    (because,) = waits["because"]
    assert "tidemark probe --now partner_ads 2026-03-23 --part region=" in because
    assert "has not reported" not in because


def test_an_owner_whose_slices_are_all_there_has_no_trouble(settings: Settings) -> None:
    report(settings)
    assert status("--owner", "nobody@school.example", exit_code=0) == "0 entities, 0 slices completed\n"


def test_each_flaw_is_named_and_sets_the_exit_code(settings: Settings) -> None:
    report(settings, ["ods_orders@2026-03-28"], [Event.COMPLETED, Event.QUALITY_PASSED, Event.DELETED])
    report(settings, ["dws_course_orders_1d@2026-03-29"], [Event.COMPLETED, Event.QUALITY_PASSED, Event.OVERWRITTEN])
    report(settings, ["dwd_orders@2026-03-29"], [Event.COMPLETED, Event.QUALITY_PASSED, Event.TAINTED])
    report(settings, ["dwd_orders@2026-03-28"], [Event.COMPLETED, Event.QUALITY_PASSED, Event.LACKING])
    told = entries()
    assert (told["ods_orders"]["absent"], told["ods_orders"]["completed"]) == (["2026-03-28"], 0)
    assert "2026-03-28" not in told["ods_orders"]["waiting"]
    assert told["dws_course_orders_1d"]["foreign"] == ["2026-03-29"]
    assert (told["dwd_orders"]["tainted"], told["dwd_orders"]["invalid"]) == (["2026-03-29"], [])
    assert told["dwd_orders"]["incomplete"] == ["2026-03-28"]
    shown = status()
    assert "1 tainted (2026-03-29), 1 incomplete (2026-03-28)" in shown
    assert "1 absent" in shown.splitlines()[-1]


def test_watching_prints_each_change_once(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    report(settings)
    look = StatusLook(None, None, everything=False, as_json=True)
    things = [("dwd_orders@2026-03-29", DONE), None, ("ods_orders@2026-03-28", [Event.DELETED]), None]
    done: list[bool] = []

    def pause() -> None:
        happens = things.pop(0)
        if happens:
            report(settings, [happens[0]], happens[1])
        done.extend([True] * (not things))

    assert watched(look, lambda: bool(done), pause) is ExitCode.FAILED
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    absent = [{entry["entity"]: entry for entry in line["entities"]}["ods_orders"]["absent"] for line in lines]
    assert absent == [[], [], ["2026-03-28"]]


def test_a_ready_slice_that_waits_for_a_place_says_why(settings: Settings) -> None:
    report(settings, ["dwd_orders@2026-03-29"])
    place_waits(Database.of(settings)).put({"dws_course_orders_1d@": "east is full with 2 runs"})
    why = "it is ready, and waits for a place: east is full with 2 runs"
    entry = entries()["dws_course_orders_1d"]
    assert entry["under_way"] == ["2026-03-29"]
    assert entry["waits_for"] == {"slice": "dws_course_orders_1d@2026-03-29", "because": [why]}
    assert why in CliRunner().invoke(main, ["explain", "dws_course_orders_1d", "2026-03-29"]).stdout
