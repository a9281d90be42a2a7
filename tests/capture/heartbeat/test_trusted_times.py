"""A clock that is wrong by up to an hour closes no slice that goes on."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.capture.binlog.event_minute_statistics import EventMinute
from tidemark.capture.heartbeat.heartbeat_record import Beat
from tidemark.capture.heartbeat.trusted_times import TOLERANCE_MS, trust_times
from tidemark.capture.planning.commit_planner import TopicStream

MINUTE = 60_000
BOUNDARY = 90 * MINUTE


@dataclass(frozen=True)
class Record:
    """What really happened at `true_ms`, and what the server's clock said; `beat` for a heartbeat."""

    true_ms: int
    event_ms: int
    beat: bool


@st.composite
def topics(draw: st.DrawFn) -> list[Record]:
    """Two hours around the boundary with a heartbeat every minute; the clock is set, now and then, by up to an hour."""
    records, skew = [], 0
    for minute in range(60, draw(st.integers(61, 180))):
        skew = draw(st.sampled_from([skew, skew, skew, 0, 55 * MINUTE, 3_600_000, -3_600_000, 7 * MINUTE]))
        start = minute * MINUTE
        records.append(Record(start, start + skew, beat=True))
        for second in draw(st.lists(st.integers(1, 59), max_size=2)):
            jump = draw(st.sampled_from([0, 0, 0, 3_600_000]))
            when = start + second * 1000
            records.append(Record(when, when + skew + jump, beat=False))
    return sorted(records, key=lambda record: record.true_ms)


def stream(records: list[Record]) -> TopicStream:
    by_minute: dict[int, EventMinute] = {}
    for offset, entry in enumerate(records):
        minute = entry.event_ms // MINUTE * MINUTE
        by_minute.setdefault(minute, EventMinute(minute, offset, entry.event_ms))
    beats = [Beat(offset, record.true_ms) for offset, record in enumerate(records) if record.beat]
    outcome = trust_times(by_minute.values(), beats)
    return TopicStream("a", 0, len(records), outcome.marks, None, outcome.sure_until)


@pytest.mark.slow
@given(topics())
def test_records_after_a_closed_boundary_happened_after_it(records: list[Record]) -> None:
    outcome = stream(records)
    if outcome.has_passed(BOUNDARY):
        cut = outcome.cut_offset(BOUNDARY)
        assert cut is not None
        assert all(record.true_ms >= BOUNDARY - 2 * TOLERANCE_MS for record in records[cut:])


@pytest.mark.slow
@given(topics())
def test_a_boundary_closes_with_the_first_heartbeat_past_it(records: list[Record]) -> None:
    assert stream(records).has_passed(BOUNDARY) >= any(record.beat and record.true_ms >= BOUNDARY for record in records)


@pytest.mark.slow
@given(topics())
def test_more_records_never_move_a_cut(records: list[Record]) -> None:
    for end in range(1, len(records), 7):
        earlier = stream(records[:end])
        if earlier.has_passed(BOUNDARY):
            assert stream(records).cut_offset(BOUNDARY) == earlier.cut_offset(BOUNDARY)
            return
        waits_at = earlier.cut_offset(BOUNDARY)
        if waits_at is not None and stream(records).has_passed(BOUNDARY):
            assert (stream(records).cut_offset(BOUNDARY) or 0) >= waits_at


def test_redelivered_heartbeats_disprove_nothing() -> None:
    marks = [EventMinute(100 * MINUTE, 50, 100 * MINUTE)]
    assert trust_times(marks, [Beat(40, 100 * MINUTE), Beat(60, 80 * MINUTE)]).marks[0] == marks[0]


def test_without_heartbeats_the_clock_is_believed() -> None:
    marks = (EventMinute(5 * MINUTE, 3, 5 * MINUTE + 1),)
    assert (trust_times(marks, []).marks, trust_times(marks, []).sure_until) == (marks, None)


def test_between_two_heartbeats_no_clock_closes_anything() -> None:
    outcome = trust_times([EventMinute(BOUNDARY, 3, BOUNDARY + 1)], [], beaten=True)
    waiting = TopicStream("a", 3, 9, outcome.marks, None, outcome.sure_until)
    assert (waiting.cut_offset(BOUNDARY), waiting.has_passed(BOUNDARY)) == (3, False)
