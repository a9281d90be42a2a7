"""Reports to events: late, repeated, overtaken and by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, Quality, RunState, SliceStatus, apply
from tidemark.dependency_model.status.report_to_events import Source, events_of

PIECE = Slice("orders", "2026-03-24")
NEW, AGAIN = SliceStatus(), SliceStatus(RunState.WAITING, generation=2)
CHAINS = [
    (SliceStatus(RunState.RUNNING), Event.COMPLETED, True, "completed"),
    (SliceStatus(RunState.LAUNCHED), Event.COMPLETED, True, "started completed"),
    (SliceStatus(RunState.LAUNCHED, generation=2), Event.COMPLETED, True, "started backfilled"),
    (NEW, Event.COMPLETED, False, "forced started completed"),
    (AGAIN, Event.COMPLETED, False, "forced started backfilled"),
    (SliceStatus(RunState.COMPLETED), Event.COMPLETED, True, ""),
    (SliceStatus(RunState.COMPLETED), Event.COMPLETED, False, "backfill_requested forced started backfilled"),
    (SliceStatus(RunState.ABSENT), Event.COMPLETED, False, "backfill_requested forced started backfilled"),
    (SliceStatus(RunState.COMPLETED), Event.STARTED, True, ""),
    (SliceStatus(RunState.COMPLETED), Event.STARTED, False, "backfill_requested forced started"),
    (SliceStatus(RunState.FAILED), Event.STARTED, False, "forced started"),
    (SliceStatus(RunState.RUNNING), Event.FAILED, False, ""),
    (NEW, Event.LOST, False, "forced started lost"),
    (SliceStatus(RunState.COMPLETED), Event.INTERRUPTED, False, "backfill_requested forced started interrupted"),
    (SliceStatus(RunState.COMPLETED), Event.FAILED, True, ""),
    (SliceStatus(RunState.READY), Event.OBSERVED, True, "withdrawn observed"),
    (NEW, Event.BACKFILL_REQUESTED, True, "requested"),
    (AGAIN, Event.BACKFILL_REQUESTED, True, ""),
    (SliceStatus(RunState.COMPLETED), Event.BACKFILL_REQUESTED, True, "backfill_requested"),
    (SliceStatus(RunState.COMPLETED, quality=Quality.PASSED), Event.QUALITY_PASSED, True, ""),
    (SliceStatus(RunState.RUNNING), Event.LAUNCHED, True, ""),
    (SliceStatus(RunState.RUNNING), Event.DELETED, True, ""),
]


def _source(known_run: bool) -> Source:
    return Source.OF_ITS_RUN if known_run else Source.OF_ANOTHER


@pytest.mark.parametrize(("status", "report", "known_run", "expected"), CHAINS)
def test_a_report_amounts_to_events(status: SliceStatus, report: Event, known_run: bool, expected: str) -> None:
    assert " ".join(event.value for event in events_of(report, status, _source(known_run))) == expected


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (Event.STARTED, "lost forced started"),
        (Event.FAILED, "lost forced started failed"),
        (Event.INTERRUPTED, "lost forced started interrupted"),
        (Event.COMPLETED, "completed"),
    ],
)
def test_the_next_run_replaces_a_run_that_was_only_reported(report: Event, expected: str) -> None:
    events = events_of(report, SliceStatus(RunState.RUNNING), Source.OF_THE_NEXT)
    assert " ".join(event.value for event in events) == expected


@given(st.lists(st.sampled_from(["started", "completed", "started", "failed"]), max_size=8))
def test_reports_of_one_run_in_any_order_and_number_end_alike(reports: list[str]) -> None:
    """Once it has completed or failed, nothing that comes late changes it."""
    status = SliceStatus(RunState.LAUNCHED)
    ends: list[RunState] = []
    for report in reports:
        for event in events_of(Event(report), status):
            status = apply(status, event, cause=PIECE)
        if status.run_state in (RunState.COMPLETED, RunState.FAILED):
            ends.append(status.run_state)
    first_end = next((report for report in reports if report != "started"), None)
    if first_end == "completed":
        assert set(ends) == {RunState.COMPLETED}
    assert (status.generation, bool(ends)) == (1, first_end is not None)


@pytest.mark.parametrize("run_state", list(RunState))
@pytest.mark.parametrize("report", [Event.STARTED, Event.COMPLETED, Event.FAILED, Event.LOST, Event.OBSERVED])
@pytest.mark.parametrize("known_run", [True, False])
def test_reports_of_runs_are_never_refused(run_state: RunState, report: Event, known_run: bool) -> None:
    status = SliceStatus(run_state)
    if report is Event.OBSERVED and run_state in (RunState.LAUNCHED, RunState.RUNNING, RunState.FAILED):
        return
    for event in events_of(report, status, _source(known_run)):
        status = apply(status, event, cause=PIECE)
    if report in (Event.COMPLETED, Event.OBSERVED) and (run_state is not RunState.ABSENT or not known_run):
        assert status.run_state is RunState.COMPLETED
    if report is Event.STARTED and not known_run:
        assert status.run_state is RunState.RUNNING
