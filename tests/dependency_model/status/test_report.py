"""Reports to events: late, repeated, overtaken and by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, Life, Quality, SliceStatus, apply
from tidemark.dependency_model.status.report import events_of

PIECE = Slice("orders", "2026-03-24")
NEW, AGAIN = SliceStatus(), SliceStatus(Life.WAITING, generation=2)
CHAINS = [
    (SliceStatus(Life.RUNNING), Event.COMPLETED, True, "completed"),
    (SliceStatus(Life.LAUNCHED), Event.COMPLETED, True, "started completed"),
    (SliceStatus(Life.LAUNCHED, generation=2), Event.COMPLETED, True, "started backfilled"),
    (NEW, Event.COMPLETED, False, "forced started completed"),
    (AGAIN, Event.COMPLETED, False, "forced started backfilled"),
    (SliceStatus(Life.COMPLETED), Event.COMPLETED, True, ""),
    (SliceStatus(Life.COMPLETED), Event.COMPLETED, False, "backfill_requested forced started backfilled"),
    (SliceStatus(Life.ABSENT), Event.COMPLETED, False, "backfill_requested forced started backfilled"),
    (SliceStatus(Life.COMPLETED), Event.STARTED, True, ""),
    (SliceStatus(Life.COMPLETED), Event.STARTED, False, "backfill_requested forced started"),
    (SliceStatus(Life.FAILED), Event.STARTED, False, "forced started"),
    (SliceStatus(Life.RUNNING), Event.FAILED, False, ""),
    (SliceStatus(Life.COMPLETED), Event.FAILED, True, ""),
    (SliceStatus(Life.READY), Event.OBSERVED, True, "withdrawn observed"),
    (NEW, Event.BACKFILL_REQUESTED, True, "requested"),
    (AGAIN, Event.BACKFILL_REQUESTED, True, ""),
    (SliceStatus(Life.COMPLETED), Event.BACKFILL_REQUESTED, True, "backfill_requested"),
    (SliceStatus(Life.COMPLETED, quality=Quality.PASSED), Event.QUALITY_PASSED, True, ""),
    (SliceStatus(Life.RUNNING), Event.LAUNCHED, True, ""),
    (SliceStatus(Life.RUNNING), Event.DELETED, True, ""),
]


@pytest.mark.parametrize(("status", "report", "known_run", "expected"), CHAINS)
def test_a_report_amounts_to_events(status: SliceStatus, report: Event, known_run: bool, expected: str) -> None:
    assert " ".join(event.value for event in events_of(report, status, of_known_run=known_run)) == expected


@given(st.lists(st.sampled_from(["started", "completed", "started", "failed"]), max_size=8))
def test_reports_of_one_run_in_any_order_and_number_end_alike(reports: list[str]) -> None:
    """Once it has completed or failed, nothing that comes late changes it."""
    status = SliceStatus(Life.LAUNCHED)
    ends: list[Life] = []
    for report in reports:
        for event in events_of(Event(report), status):
            status = apply(status, event, cause=PIECE)
        if status.life in (Life.COMPLETED, Life.FAILED):
            ends.append(status.life)
    first_end = next((report for report in reports if report != "started"), None)
    if first_end == "completed":
        assert set(ends) == {Life.COMPLETED}
    assert (status.generation, bool(ends)) == (1, first_end is not None)


@pytest.mark.parametrize("life", list(Life))
@pytest.mark.parametrize("report", [Event.STARTED, Event.COMPLETED, Event.FAILED, Event.LOST, Event.OBSERVED])
@pytest.mark.parametrize("known_run", [True, False])
def test_what_runs_tell_is_never_refused(life: Life, report: Event, known_run: bool) -> None:
    status = SliceStatus(life)
    if report is Event.OBSERVED and life in (Life.LAUNCHED, Life.RUNNING, Life.FAILED):
        return
    for event in events_of(report, status, of_known_run=known_run):
        status = apply(status, event, cause=PIECE)
    if report in (Event.COMPLETED, Event.OBSERVED) and (life is not Life.ABSENT or not known_run):
        assert status.life is Life.COMPLETED
    if report is Event.STARTED and not known_run:
        assert status.life is Life.RUNNING
