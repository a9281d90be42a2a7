"""The slices that late changes belong to, against a model that goes through every slice."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.commits.slice_end import SliceEnd
from tidemark.capture.snapshots.late import slices_to_restate as slices
from tidemark.capture.snapshots.late.slices_to_restate import count_late, slices_to_restate
from tidemark.capture.source_table import SourceTable
from tidemark.dependency_model.time import Calendar, Period

PARIS = Calendar("Europe/Paris")
MINUTE = 60_000
# The night in which an hour is not there: the day has 23.
START = datetime(2026, 3, 28, 23, tzinfo=UTC)
ENTITIES = {"day": ("day", "2026-03-29"), "hour": ("hour", "2026-03-29T00")}
TABLE = SourceTable(
    "day",
    "school.orders_*",
    ("a",),
    ("order_id",),
    None,
    tuple((name, *told) for name, told in ENTITIES.items()),
    restated=frozenset({"day", "hour"}),
)


def ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def every_slice(entity: str) -> list[tuple[str, int, int]]:
    """(key, start, end) of three days, epoch ms."""
    outcome = PARIS.windows(Period.parse(ENTITIES[entity][0]), START, START + timedelta(days=3))
    return [(key, ms(window.start), ms(window.end)) for key, window in outcome]


moments = st.integers(-3 * 60, 3 * 24 * 60).map(lambda minute: ms(START) + minute * MINUTE)


@pytest.mark.slow
@given(
    st.lists(st.tuples(moments, st.integers(1, 9)), max_size=6),
    moments,
    moments,
    st.integers(1, 3),
    st.integers(1, 90).map(lambda minutes: minutes * MINUTE),
)
def test_the_slices_of_late_changes(
    minutes: list[tuple[int, int]], day_until: int, hour_until: int, open_hours: int, lateness: int
) -> None:
    closed = {"day": day_until, "hour": hour_until}
    before = {"day": {"2026-03-29": 5}}
    expected: dict[str, Counter[str]] = {"day": Counter(before["day"]), "hour": Counter()}
    for entity, until in closed.items():
        for minute, changes in minutes:
            for key, start, end in every_slice(entity):
                if start <= minute < end <= until:
                    expected[entity][key] += changes
    outcome = count_late(TABLE, PARIS, closed, minutes, before)
    assert outcome == {entity: dict(of_slices) for entity, of_slices in expected.items() if of_slices}

    oldest = min((minute for minute, _ in minutes), default=None)
    state = CommitState(closed=closed)
    every = [
        SliceEnd(end, entity, ENTITIES[entity][0], key)
        for entity, until in closed.items()
        if oldest is not None
        for key, _, end in every_slice(entity)
        if oldest < end <= until
    ]
    assert list(slices_to_restate(TABLE, PARIS, state, oldest)) == every
    hours = [(key, end) for key, _, end in every_slice("hour") if end <= hour_until][-open_hours:]
    waits = tuple(SliceEnd(end + lateness, "hour", "hour", key, lateness) for key, end in hours)
    waiting = replace(TABLE, restated=frozenset({"day"}))
    assert list(slices_to_restate(waiting, PARIS, replace(state, waits=waits), oldest)) == [
        slice_end for slice_end in every if slice_end.entity == "day" or slice_end.slice in {key for key, _ in hours}
    ]


def test_a_table_that_does_not_restate_counts_all_the_same() -> None:
    plain = SourceTable("day", "t.t", ("a",), ("id",), None, (("day", "day", "2026-03-29"),))
    closed = {"day": ms(START) + 23 * 60 * MINUTE}
    assert count_late(plain, PARIS, closed, [(ms(START), 2)], {}) == {"day": {"2026-03-29": 2}}
    assert slices_to_restate(plain, PARIS, CommitState(closed=closed), ms(START)) == ()


def test_a_clock_of_1970_restates_only_the_newest_slices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slices, "MOST_RESTATED", 3)
    monkeypatch.setattr(slices, "COUNTED", 2)
    closed = {"hour": ms(START) + 10 * 60 * MINUTE}
    outcome = slices_to_restate(TABLE, PARIS, CommitState(closed=closed), 0)
    assert [entry.end_ms for entry in outcome] == [closed["hour"] - back * 60 * MINUTE for back in (2, 1, 0)]
    minutes = [(ms(START) + hour * 60 * MINUTE, 1) for hour in range(5)]
    assert count_late(TABLE, PARIS, closed, minutes, {}) == {"hour": {"2026-03-29T04": 1, "2026-03-29T05": 1}}
