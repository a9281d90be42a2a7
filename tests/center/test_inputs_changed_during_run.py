"""What is asked of a slice whose inputs changed while it was computed."""

from __future__ import annotations

import pytest

from tests.dependency_model.world import graph
from tidemark.center.inputs_changed_during_run import late_events
from tidemark.dependency_model.readiness.release import Reason
from tidemark.dependency_model.readiness.slice_manifest import ManifestClause, SliceManifest, UsedSlice
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, Quality, RunState, SliceStatus

INPUT, DOWN = Slice("reads", "2024-06-01"), Slice("early", "2024-06-01")
WORLD = graph(reads="{period: day}", early="{period: day, depends_on: [reads]}")
DONE = RunState.COMPLETED


@pytest.mark.parametrize(
    ("used", "now", "expected"),
    [
        (UsedSlice(INPUT, 1), SliceStatus(DONE, frozenset({"completed"})), []),
        (UsedSlice(INPUT, 1), SliceStatus(DONE, frozenset({"completed"}), generation=2), [Event.BACKFILL_REQUESTED]),
        (UsedSlice(INPUT, 1), SliceStatus(RunState.WAITING, generation=2), []),
        (
            UsedSlice(INPUT, 1, "4", "estimated"),
            SliceStatus(DONE, frozenset({"estimated", "completed"})),
            [Event.BACKFILL_REQUESTED],
        ),
        (UsedSlice(INPUT, 1, "4", "estimated"), SliceStatus(RunState.WAITING, frozenset({"estimated", "partial"})), []),
        (
            UsedSlice(INPUT, 1, "4", "estimated"),
            SliceStatus(RunState.WAITING, frozenset({"estimated", "refined"})),
            [Event.BACKFILL_REQUESTED],
        ),
        (UsedSlice(INPUT, 1), SliceStatus(DONE, frozenset({"completed"}), tainted=True), [Event.TAINTED]),
    ],
)
def test_what_was_read_in_an_earlier_state_is_read_again(
    used: UsedSlice, now: SliceStatus, expected: list[Event]
) -> None:
    manifest = SliceManifest(DOWN, "completed", (ManifestClause("reads", Reason.ALL, (used,)),))
    assert [*late_events(WORLD, manifest, {INPUT: now})] == expected


@pytest.mark.parametrize(("accepted", "is_asked"), [("[estimated, completed]", True), ("[completed]", False)])
def test_what_came_in_a_state_that_will_do_is_read(accepted: str, is_asked: bool) -> None:
    weak = f"{{entity: reads, states: {accepted}, weak: {{timeout: 1h}}}}"
    world = graph(
        reads="{period: day, states: [{entity_state: estimated, depends_on: []}, "
        "{entity_state: completed, depends_on: []}]}",
        early=f"{{period: day, depends_on: [{weak}]}}",
    )
    manifest = SliceManifest(DOWN, "completed", (ManifestClause("reads", Reason.TIMEOUT, (), (INPUT,)),))
    estimated = SliceStatus(RunState.WAITING, frozenset({"estimated"}), Quality.PASSED)
    assert [*late_events(world, manifest, {INPUT: estimated})] == [Event.BACKFILL_REQUESTED] * is_asked
