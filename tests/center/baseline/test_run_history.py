"""What slices took that share a run: each the time since the one before it, not since the run began."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.dependency_model.world import graph
from tidemark.center.baseline import RunHistory
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.state_store.timings import Timing

DAY = "2024-06-01"
NAMES = ("first", "second", "third")
GRAPH = graph(up="{kind: Virtual, period: day}", **dict.fromkeys(NAMES, "{period: day, depends_on: [up]}"))
LAUNCHED, STARTED, ENDS = 100.0, 105.0, (110.0, 130.0, 133.0)


def timing(name: str, event: str, state: RunState, at: float, run_id: str | None) -> Timing:
    return Timing(Slice(name, DAY), event, state, at, 1, run_id)


@pytest.mark.parametrize(
    ("run_ids", "are_starts_late", "took"),
    [
        (("r", "r", "r"), False, [5.0, 20.0, 3.0]),
        (("a", "b", "c"), False, [5.0, 25.0, 28.0]),
        ((None, None, None), False, [5.0, 25.0, 28.0]),
        (("a", "r", "r"), False, [5.0, 25.0, 3.0]),
        (("r", "r", "r"), True, [10.0, 20.0, 3.0]),
        (("a", "b", "c"), True, [10.0, 30.0, 33.0]),
    ],
)
def test_each_slice_of_a_run_takes_what_is_left_to_it(
    run_ids: tuple[str | None, ...], took: list[float], *, are_starts_late: bool
) -> None:
    """Where a start is told only with its end, it is counted from the launch."""
    history, of = RunHistory(GRAPH, ()), dict(zip(NAMES, run_ids, strict=True))
    for name in NAMES:
        history.note(timing(name, "launched", RunState.LAUNCHED, LAUNCHED, of[name]))
    for name in () if are_starts_late else NAMES:
        history.note(timing(name, "started", RunState.RUNNING, STARTED, of[name]))
    for name, ended in zip(NAMES, ENDS, strict=True):
        if are_starts_late:
            history.note(timing(name, "started", RunState.RUNNING, ended, of[name]))
        history.note(timing(name, "completed", RunState.COMPLETED, ended, of[name]))
    assert [history.lately(name) for name in NAMES] == took
    assert not history.running


def test_what_a_run_goes_on_with_is_computed_since_the_one_before_it() -> None:
    history = RunHistory(GRAPH, ())
    for name in NAMES:
        history.note(timing(name, "started", RunState.RUNNING, STARTED, "r"))
    history.note(timing("first", "completed", RunState.COMPLETED, 110.0, "r"))
    assert history.running == {Slice("second", DAY): 110.0, Slice("third", DAY): 110.0}
    history.note(timing("third", "launched", RunState.LAUNCHED, 108.0, "again"))
    history.note(timing("second", "failed", RunState.FAILED, 120.0, "r"))
    assert history.running == {Slice("third", DAY): 108.0}


def test_days_that_one_query_computes_share_its_time() -> None:
    days = [Slice("first", f"2024-06-{day:02}") for day in range(1, 5)]
    history = RunHistory(GRAPH, ())
    for day in days:
        history.note(Timing(day, "started", RunState.RUNNING, 100.0, 1, "r"))
    for number, day in enumerate(days[:3]):
        history.note(Timing(day, "completed", RunState.COMPLETED, 130.0 + number / 2, 1, "r"))
    history.note(Timing(days[3], "completed", RunState.COMPLETED, 150.0, 1, "r"))
    told = [observed.amount for _, observed in history.runs("first")]
    assert told == pytest.approx([19.0, 31 / 3, 31 / 3, 31 / 3])


def test_a_history_that_is_loaded_at_once_says_nothing_of_later_arrivals() -> None:
    """Eight days of files are there when the center starts. The newest day came at four in the morning, as usual."""
    history, midnight = RunHistory(GRAPH, ()), datetime(2024, 6, 9, tzinfo=UTC)
    for number in range(8):
        loaded = (midnight + timedelta(hours=2, seconds=number)).timestamp()
        history.note(_arrival(midnight - timedelta(days=8 - number), loaded))
    assert history.times("up").count == 1
    assert history.times("up").typical(midnight.timestamp()) == pytest.approx(4 * 3_600 + 7)  # the day ended in Paris


def test_late_arrivals_of_later_days_are_learned() -> None:
    """A feed that is always 32 hours late: only its first arrival could be a load."""
    history, midnight = RunHistory(GRAPH, ()), datetime(2024, 6, 1, tzinfo=UTC)
    for number in range(10):
        day = midnight + timedelta(days=number)
        history.note(_arrival(day, (day + timedelta(days=1, hours=30)).timestamp()))
    assert history.times("up").count == 9
    assert history.times("up").typical((midnight + timedelta(days=12)).timestamp()) == pytest.approx(
        32 * 3_600
    )  # days end in Paris


def _arrival(day: datetime, at: float) -> Timing:
    return Timing(Slice("up", f"{day:%Y-%m-%d}"), "observed", RunState.COMPLETED, at, 1, None)
