"""A backfill of slices that carry the flag of another one whose turn comes later: it goes through to that one."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.dependency_model.backfill.simulated_center import SimulatedCenter, drain
from tests.dependency_model.world import graph
from tidemark.dependency_model.backfill import BackfillPhase, SliceProgress
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event

UNTIL = datetime(2024, 6, 20, tzinfo=UTC)
WORLD = graph(
    day="{period: day, series: foo}",
    week="{period: week, series: foo, depends_on: [day]}",
    user="{period: day, reprocess: if_changed, depends_on: [day]}",
)
WEEK = Slice("week", "2024-06-03")
DAYS = [Slice("day", f"2024-06-{day:02}") for day in range(3, 10)]
USERS = [Slice("user", day.key) for day in DAYS]


def test_a_day_of_an_invalid_week_is_done_before_the_week_is_right_again() -> None:
    center = SimulatedCenter(WORLD, [*DAYS, *USERS, WEEK], UNTIL)
    center.apply(WEEK, Event.QUALITY_FAILED)
    assert all(center.status(day).issues == {WEEK} for day in DAYS)
    backfill = center.plan([DAYS[1]])
    drain(center)
    assert backfill.phase is BackfillPhase.DONE
    assert dict(backfill.progress) == dict.fromkeys([DAYS[1], USERS[1], WEEK], SliceProgress.REBUILT)
    assert center.computed == [DAYS[1], WEEK, USERS[1]], "nobody outside of the series reads it before"
    assert all(center.status(slice_).valid for slice_ in (*DAYS, *USERS, WEEK))
