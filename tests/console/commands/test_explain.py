"""`explain` on a warehouse where something has happened: how slices stand, and what is missing, as deep as it goes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tidemark.center.center import DependencyCenter
from tidemark.center.fact import Fact
from tidemark.console.main import main
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event
from tidemark.state_store.store import StateStore
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from pathlib import Path

THEN = datetime(2026, 3, 30, 1, tzinfo=UTC)
COMPLETE = (
    "ods_orders@2026-03-28",
    "ods_orders@2026-03-29",
    "ods_courses@2026-03-29",
    "dws_course_orders_1d@2026-03-29",
)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A warehouse of the main job in which some slices are there."""
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path))
    settings = Settings.at(tmp_path)
    store = StateStore.of(settings)
    graph = load_warehouse(settings).graph
    center = DependencyCenter(graph, store, since=datetime(2026, 3, 22, tzinfo=UTC), clock=lambda: THEN)
    for event in (Event.COMPLETED, Event.QUALITY_PASSED):
        facts = [Fact(f"{one} {event.value}", Slice.parse(one), event, THEN, "test") for one in COMPLETE]
        center.report(facts, strict=True)
    store.close()
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
    settings = Settings.at(data)
    store = StateStore.of(settings)
    center = DependencyCenter(
        load_warehouse(settings).graph, store, since=datetime(2026, 3, 22, tzinfo=UTC), clock=lambda: THEN
    )
    center.report([Fact("c", Slice.parse("ods_courses@2026-03-28"), Event.COMPLETED, THEN, "test")], strict=True)
    store.close()
    assert explain("ods_courses", "2026-03-28").startswith("ods_courses 2026-03-28 [day] is completed, not checked yet")
