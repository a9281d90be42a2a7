"""The table of a slice's run states: one way in, no dead ends, nothing that it does not say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.dependency_model.entity import Reprocess
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import TRANSITIONS, Event, Quality, RunState, SliceStatus, apply
from tidemark.dependency_model.status.propagation import BY_POLICY, REPROCESS
from tidemark.dependency_model.status.transition import row_of
from tidemark.dependency_model.status.transitions_document import render
from tidemark.errors import TransitionError

PAGE = Path(__file__).resolve().parents[3] / "docs" / "transitions.md"
HERE, THERE = Slice("foo", "2024-06-01T15"), Slice("foo", "2024-06-01T16")


def live(*events: Event, start: SliceStatus | None = None) -> SliceStatus:
    status = start or SliceStatus()
    for event in events:
        status = apply(status, event, cause=HERE)
    return status


FIRST_RUN = (Event.RELEASED, Event.LAUNCHED, Event.STARTED, Event.COMPLETED, Event.QUALITY_PASSED)


def test_the_page_equals_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), (
        "run: python -m tidemark.dependency_model.status.transitions_document > docs/transitions.md"
    )


def test_every_event_has_one_row_and_every_policy_an_answer() -> None:
    assert sorted(row.event.value for row in TRANSITIONS) == sorted(event.value for event in Event)
    assert REPROCESS.keys() == set(Reprocess)
    named = {spread.event for row in TRANSITIONS for spread in row.spreads} - {BY_POLICY}
    named |= {event for policy in REPROCESS.values() for event in (policy.changed, policy.unchanged)}
    assert all(Event(name) for name in named)


def test_every_life_can_be_reached_and_left() -> None:
    ways = {(run_state, row.run_state) for row in TRANSITIONS if row.run_state for run_state in row.run_states}
    reached = {RunState.WAITING}
    while more := {to for start, to in ways if start in reached} - reached:
        reached |= more
    assert reached == set(RunState)
    assert {start for start, to in ways if start is not to} == set(RunState)


def test_a_first_run_makes_a_valid_slice() -> None:
    status = live(*FIRST_RUN)
    assert status == SliceStatus(RunState.COMPLETED, frozenset({"completed"}), Quality.PASSED)
    assert status.valid


def test_a_state_before_the_last_one_leaves_it_waiting() -> None:
    running = live(Event.RELEASED, Event.LAUNCHED, Event.STARTED)
    estimated = apply(running, Event.REACHED, state="estimated")
    assert (estimated.run_state, estimated.states, estimated.valid) == (
        RunState.WAITING,
        frozenset({"estimated"}),
        False,
    )
    partial = apply(live(*FIRST_RUN[:3], start=estimated), Event.COMPLETED, state="partial")
    assert partial.states == {"estimated", "partial", "completed"}


def test_failed_quality_makes_it_invalid_until_it_passed() -> None:
    failed = live(Event.QUALITY_FAILED, start=live(*FIRST_RUN))
    assert (failed.valid, failed.quality, failed.issues) == (False, Quality.FAILED, frozenset({HERE}))
    again = live(Event.BACKFILL_REQUESTED, *FIRST_RUN[:3], Event.BACKFILLED, start=failed)
    assert (again.states, again.generation, again.valid, again.issues) == (
        frozenset({"completed", "backfilled"}),
        2,
        False,
        frozenset({HERE}),
    )
    assert live(Event.QUALITY_PASSED, start=again).valid


def test_a_flag_is_lifted_by_the_slice_that_raised_it_alone() -> None:
    flagged = apply(apply(live(*FIRST_RUN), Event.FLAGGED, cause=HERE), Event.FLAGGED, cause=THERE)
    once = apply(flagged, Event.CLEARED, cause=HERE)
    assert (once.issues, once.valid) == (frozenset({THERE}), False)
    assert apply(once, Event.CLEARED, cause=THERE).valid


def test_deleted_slices_are_absent_and_can_be_computed_again() -> None:
    absent = live(Event.DELETED, start=live(*FIRST_RUN))
    assert (absent.run_state, absent.states, absent.valid) == (RunState.ABSENT, frozenset(), False)
    assert live(Event.BACKFILL_REQUESTED, start=absent).run_state is RunState.WAITING


@pytest.mark.parametrize(
    ("status", "event", "says"),
    [
        (SliceStatus(), Event.COMPLETED, "a waiting slice cannot be completed: expected one of requested, released"),
        (SliceStatus(RunState.RUNNING), Event.RELEASED, "a running slice cannot be released"),
        (SliceStatus(RunState.ABSENT), Event.TAINTED, "a absent slice cannot be tainted"),
        (SliceStatus(RunState.COMPLETED), Event.DELETED, ""),
    ],
)
def test_events_outside_of_the_table_are_refused(status: SliceStatus, event: Event, says: str) -> None:
    if not says:
        assert apply(status, event).run_state is RunState.ABSENT
        return
    with pytest.raises(TransitionError) as raised:
        apply(status, event, cause=HERE)
    assert says in str(raised.value)


def test_quality_events_need_to_know_whose_quality() -> None:
    with pytest.raises(TransitionError, match="no cause"):
        apply(live(*FIRST_RUN), Event.QUALITY_FAILED)


def test_a_cancelled_request_restores_the_earlier_status() -> None:
    before = live(*FIRST_RUN)
    asked = live(Event.BACKFILL_REQUESTED, Event.RELEASED, Event.FLAGGED, start=before)
    restored = apply(asked, Event.RESTORED, before=before)
    assert restored == replace(before, issues=frozenset({HERE}))
    for unknown in (None, asked):
        with pytest.raises(TransitionError, match="status is missing"):
            apply(asked, Event.RESTORED, before=unknown)


@given(st.lists(st.sampled_from(Event), max_size=40))
def test_whatever_happens_the_status_makes_sense(events: list[Event]) -> None:
    status, before = SliceStatus(), SliceStatus()
    for event in events:
        if event is Event.RESTORED and before.generation >= status.generation:
            continue
        if status.run_state in row_of(event).run_states:
            before = status if row_of(event).new_generation else before
            status = apply(status, event, cause=HERE, before=before)
        else:
            with pytest.raises(TransitionError):
                apply(status, event, cause=HERE)
        assert not status.valid or (status.run_state is RunState.COMPLETED and not status.issues and not status.tainted)
        assert status.generation >= 1
        assert "backfilled" not in status.states or "completed" in status.states
