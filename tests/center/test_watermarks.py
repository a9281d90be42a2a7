"""A clause that asks for inputs beyond a high watermark waits for the watermark, not only for the slice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.center.test_center import CenterWorld
from tests.dependency_model.world import graph
from tidemark.dependency_model.readiness.explanation import explain
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.high_watermark import high_watermark
from tidemark.state_store.stored_known_slices import StoredSlices
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DAY, END = "days@2024-06-01", "2024-06-01T22:00:00+00:00"  # midnight in Paris
TABLES = {
    "facts": "{period: day, kind: Virtual}",
    "users": "{period: hour, kind: Virtual}",
    "days": "{period: day, depends_on: [facts, {entity: users, offset: last_available, beyond: end}]}",
}


def observe(world: CenterWorld, text: str, at: str = "", **more: object) -> None:
    data = Facts(watermarks={"source": at}) if at else Facts()
    world.tell(text, "observed", event_id=f"{text} {at} {more}", data=data, **more)


@pytest.fixture
def world(tmp_path: Path) -> CenterWorld:
    made = CenterWorld(tmp_path, **TABLES)
    observe(made, "facts@2024-06-01")
    return made


def test_a_slice_waits_until_its_dimension_is_beyond_its_end(world: CenterWorld) -> None:
    observe(world, "users@2024-06-01T21")
    observe(world, "users@2024-06-01T22", "2024-06-01T21:59:59+00:00")
    assert world.ready() == []
    observe(world, "users@2024-06-01T23", END)
    assert world.ready() == [DAY]


def test_without_a_reported_watermark_the_end_of_the_slice_counts(world: CenterWorld) -> None:
    observe(world, "users@2024-06-01T22")
    assert world.ready() == []
    observe(world, "users@2024-06-01T23")
    assert world.ready() == [DAY]


def test_a_slice_whose_source_lagged_is_taken_when_it_is_reported_again(world: CenterWorld) -> None:
    observe(world, "users@2024-06-01T23", "2024-06-01T21:00:00+00:00")
    assert world.ready() == []
    observe(world, "users@2024-06-01T23", "2024-06-02T00:00:00+02:00", replaces=True)
    assert world.ready() == [DAY]


def test_the_store_keeps_watermarks_for_a_restart_and_for_explain(world: CenterWorld) -> None:
    observe(world, "users@2024-06-01T23", "2024-06-01T21:59:59+00:00")
    assert world.open_center().ready() == []
    known, slice_ = StoredSlices(world.graph, world.store.read), Slice.parse(DAY)
    clause = explain(world.graph, slice_, known=known, now=world.now).clauses[1]
    assert clause.verdict
    assert (clause.verdict.is_met, [str(missing) for missing in clause.verdict.missing]) == (
        False,
        ["users@2024-06-01T23"],
    )
    observe(world, "users@2024-06-01T23", END, replaces=True)
    assert world.open_center().ready() == world.center.ready() == [Slice.parse(DAY)]
    clause = explain(world.graph, slice_, known=StoredSlices(world.graph, world.store.read), now=world.now).clauses[1]
    assert clause.verdict
    assert clause.verdict.is_met


def test_a_static_input_needs_a_reported_watermark(tmp_path: Path) -> None:
    clause = "{entity: rates, offset: static, beyond: start}"
    tables = {"rates": "{kind: Static}", "days": f"{{period: day, depends_on: [facts, {clause}]}}"}
    world = CenterWorld(tmp_path, facts=TABLES["facts"], **tables)
    observe(world, "facts@2024-06-01")
    world.tell("rates@static", "completed", run="first")
    assert world.ready() == []
    told = Facts(run_id="second", watermarks={"source": "2024-05-31T22:00:00+00:00"})
    world.tell("rates@static", "completed", event_id="second", data=told)
    assert world.ready() == [DAY]


def test_a_static_reader_has_no_window() -> None:
    tables = {"rates": "{kind: Static}", "codes": "{kind: Static, depends_on: [{entity: rates, beyond: end}]}"}
    told = [str(problem) for problem in graph(**tables).problems()]
    assert told == ["codes.yaml: a Static entity has no window that a watermark could be beyond - remove `beyond`"]


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        ({"a": "1970-01-01T00:01:00+00:00", "b": "1970-01-01T01:00:30+01:00"}, 30),
        ({"a": "1970-01-01T00:01:00Z", "offset": 4, "version": "7"}, 60),
        ({"a": "1970-01-01T00:01:00"}, None),
        ({"a": None, "b": ["x"]}, None),
        ({}, None),
    ],
)
def test_the_earliest_time_with_a_zone_is_the_high_watermark(told: Mapping[str, object], seconds: int | None) -> None:
    assert high_watermark(told) == seconds
