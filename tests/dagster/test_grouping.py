"""Readiness and grouping on a small warehouse of days, hours and a week; runs are only simulated here."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dagster.simulated import SliceTracker
from tidemark.center.grouping import RunGroup, group_ready
from tidemark.dependency_model.entity import parse_entity
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.slice import Slice

UNTIL = datetime(2026, 4, 6, tzinfo=UTC)
DECLARED = {
    "ods": "{period: day, start: 2026-03-23}",
    "ods_h": "{period: hour, start: 2026-03-23T00}",
    "dwd": "{period: day, start: 2026-03-23, depends_on: [{entity: ods, offset: Set 0}]}",
    "change": "{period: day, start: 2026-03-23, depends_on: [{entity: dwd, offset: 'Set -1,0'}]}",
    "hourly": "{period: hour, start: 2026-03-23T00, depends_on: [{entity: ods_h, offset: Set 0}]}",
    "from_hours": "{period: day, start: 2026-03-23, depends_on: [{entity: hourly, offset: Range 0-23}]}",
    "weekly": "{period: week, start: 2026-03-23, depends_on: [{entity: dwd, offset: all}]}",
}


@pytest.fixture(scope="module")
def graph() -> DependencyGraph:
    built = DependencyGraph.build(parse_entity(text, name) for name, text in DECLARED.items())
    assert not built.problems()
    return built


def run_all(graph: DependencyGraph, tracker: SliceTracker) -> Iterator[RunGroup]:
    """Execute groups as a run does: entity by entity; every step must find all its inputs complete."""
    while groups := group_ready(graph, tracker):
        for group in groups:
            for entity in group.entities:
                for key in group.keys:
                    slice_ = Slice(entity, key)
                    assert not tracker.missing(slice_), f"{slice_} started too early"
                    assert not tracker.is_complete(slice_), f"{slice_} started twice"
                    tracker.complete(slice_)
            yield group


def test_a_days_chain_is_one_run(graph: DependencyGraph) -> None:
    tracker = SliceTracker(graph)
    tracker.arrive(Slice("ods", "2026-03-23"))
    assert list(run_all(graph, tracker)) == [RunGroup("day", ("2026-03-23",), ("ods", "dwd", "change"))]


def test_hours_that_arrived_together_are_one_run(graph: DependencyGraph) -> None:
    tracker = SliceTracker(graph)
    for hour in (0, 1, 2, 4):
        tracker.arrive(Slice("ods_h", f"2026-03-23T{hour:02d}"))
    assert [group.keys for group in group_ready(graph, tracker)] == [
        ("2026-03-23T00", "2026-03-23T01", "2026-03-23T02"),
        ("2026-03-23T04",),
    ]


def test_a_week_waits_for_its_seventh_day(graph: DependencyGraph) -> None:
    tracker = SliceTracker(graph)
    for day in range(23, 29):
        tracker.complete(Slice("dwd", f"2026-03-{day}"))
    weekly = Slice("weekly", "2026-03-23")
    assert tracker.missing(weekly) == (Slice("dwd", "2026-03-29"),)
    assert weekly not in tracker.ready()
    tracker.complete(Slice("dwd", "2026-03-29"))
    assert weekly in tracker.ready()


def test_a_failed_slice_is_not_offered_again_and_holds_what_is_below(graph: DependencyGraph) -> None:
    tracker = SliceTracker(graph)
    tracker.arrive(Slice("ods", "2026-03-23"))
    tracker.complete(Slice("ods", "2026-03-23"))
    tracker.fail(Slice("dwd", "2026-03-23"))
    assert group_ready(graph, tracker) == ()


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 12))
def test_any_order_of_arrival_computes_everything_once_and_never_early(
    graph: DependencyGraph, random: object, batch: int
) -> None:
    arrivals = [
        *graph.slices("ods", until=UNTIL),
        *(one for one in graph.slices("ods_h", until=UNTIL) if one.key < "2026-03-25"),
    ]
    random.shuffle(arrivals)  # type: ignore[attr-defined]
    tracker = SliceTracker(graph)
    for start in range(0, len(arrivals), batch):
        for slice_ in arrivals[start : start + batch]:
            tracker.arrive(slice_)
        for _ in run_all(graph, tracker):
            pass
    everything = {one for name in DECLARED for one in graph.slices(name, until=UNTIL)}
    expected = {
        one for one in everything if not one.entity.endswith(("_h", "_hours", "hourly")) or one.key < "2026-03-25"
    }
    assert tracker.completed == expected
