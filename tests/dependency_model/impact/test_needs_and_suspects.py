"""What each slice downstream needs, and which slices upstream are suspected first."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.dependency_model.impact.test_closure import SERIES
from tests.dependency_model.world import graph
from tidemark.dependency_model.impact import Evidence, Ground, Need, downstream_closure, impacts_of, suspects_of
from tidemark.dependency_model.readiness.slice_manifest import UsedSlice
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Quality, RunState, SliceStatus

UNTIL = datetime(2024, 4, 20, tzinfo=UTC)
DONE = frozenset({"completed"})
GOOD = SliceStatus(RunState.COMPLETED, DONE, Quality.PASSED)
NOTHING = Evidence(lambda _: None, lambda _: "", lambda _: False, lambda _: False)


@pytest.mark.parametrize(
    ("status", "need"),
    [
        (GOOD, Need.CLEAR),
        (SliceStatus(RunState.RUNNING), Need.CLEAR),
        (SliceStatus(RunState.WAITING, frozenset({"estimated"})), Need.CLEAR),
        (SliceStatus(RunState.FAILED), Need.START),
        (SliceStatus(RunState.ABSENT), Need.START),
        (SliceStatus(RunState.READY), Need.NOTHING),
        (None, Need.NOTHING),
    ],
)
def test_slices_with_old_data_are_cleared_and_automatic_ones_are_left(status: SliceStatus | None, need: Need) -> None:
    world, day = graph(**SERIES), Slice("daily", "2024-03-28")
    (first, *_) = impacts_of(world, [day], {day: status} if status else {})
    assert first.need is need


def test_slices_that_are_never_rebuilt_need_nothing() -> None:
    world = graph(
        a="{period: day, start: 2024-03-01}",
        b="{period: day, start: 2024-03-01, reprocess: never, depends_on: [a]}",
    )
    reached = list(downstream_closure(world, [Slice("a", "2024-03-05")], UNTIL))
    (kept,) = impacts_of(world, reached, dict.fromkeys(reached, GOOD))
    assert (kept.slice, kept.need) == (Slice("b", "2024-03-05"), Need.NOTHING)


def test_suspects_are_read_inputs_by_strength_of_reason_then_distance() -> None:
    world = graph(**SERIES)
    week, day, hour = Slice("weekly", "2024-03-25"), Slice("daily", "2024-03-28"), Slice("clicks", "2024-03-28T15")
    other, snapshot = Slice("clicks", "2024-03-28T16"), Slice("other", "2024-03-28")
    reads = {
        week: [UsedSlice(day, 1, "7")],
        day: [UsedSlice(hour, 1), UsedSlice(other, 1, "3"), UsedSlice(snapshot, 1, "1")],
    }
    statuses = {
        day: GOOD,
        hour: SliceStatus(RunState.COMPLETED, DONE, Quality.FAILED, frozenset({hour})),
        other: SliceStatus(RunState.COMPLETED, DONE, Quality.PASSED, generation=2),
        snapshot: GOOD,
    }
    versions = {day: "7", other: "4", snapshot: "2"}
    evidence = Evidence(
        reads=lambda slice_: reads.get(slice_, []),
        version=lambda slice_: versions.get(slice_, ""),
        is_outdated=lambda slice_: slice_ == day,
        is_snapshot=lambda name: name == "other",
    )
    told = [(suspect.slice, suspect.steps, suspect.reasons) for suspect in suspects_of(world, week, statuses, evidence)]
    assert told == [
        (hour, 2, (Ground.INVALID,)),
        (other, 2, (Ground.CHANGED,)),
        (snapshot, 2, (Ground.LATE,)),
        (day, 1, (Ground.CODE,)),
    ]


def test_without_a_manifest_the_declared_graph_gives_the_inputs() -> None:
    world, hour = graph(**SERIES), Slice("clicks", "2024-03-28T15")
    tainted = {hour: SliceStatus(RunState.COMPLETED, DONE, Quality.PASSED, tainted=True)}
    (suspect,) = suspects_of(world, Slice("monthly", "2024-03"), tainted, NOTHING)
    assert (suspect.slice, suspect.steps, suspect.reasons) == (hour, 2, (Ground.TAINTED,))


def test_no_more_slices_are_looked_at_than_asked_for() -> None:
    world, hour = graph(**SERIES), Slice("clicks", "2024-03-28T15")
    tainted = {hour: SliceStatus(RunState.COMPLETED, DONE, Quality.PASSED, tainted=True)}
    assert suspects_of(world, Slice("monthly", "2024-03"), tainted, NOTHING, most=40) == ()
