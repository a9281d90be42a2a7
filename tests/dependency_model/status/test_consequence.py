"""Seed 002's second story: hour 15 fails its quality, is greyed, backfilled, and cleared; and what its users do."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.dependency_model.world import entity, graph
from tidemark.dependency_model.readiness.overview import SlicesInMemory
from tidemark.dependency_model.readiness.release import release
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, Quality, RunState, SliceStatus, consequences
from tidemark.dependency_model.status.consequence import has_bad_inputs

if TYPE_CHECKING:
    from tidemark.dependency_model.graph import DependencyGraph

UNTIL = datetime(2024, 6, 3, tzinfo=UTC)
HOUR = Slice("foo_1h", "2024-06-01T15")
GOOD = SliceStatus(RunState.COMPLETED, frozenset({"completed"}), Quality.PASSED)
AGAIN = SliceStatus(
    RunState.COMPLETED, frozenset({"completed", "backfilled"}), Quality.UNKNOWN, frozenset({HOUR}), generation=2
)
FIVES = [Slice("foo_5min", f"2024-06-01T15:{minute:02}") for minute in range(0, 60, 5)]
TENS = [Slice("foo_10min", f"2024-06-01T15:{minute:02}") for minute in range(0, 60, 10)]
DAY = Slice("foo_1d", "2024-06-01")
USERS = {name: Slice(name, "2024-06-01T15") for name in ("always", "if_changed", "never", "ask")}
FURTHER = Slice("further", "2024-06-01T15")


@pytest.fixture
def world() -> DependencyGraph:
    users = {
        name: f"{{period: hour, reprocess: {name}, depends_on: [{{entity: foo_1h, quality: ignore}}]}}"
        for name in USERS
    }
    return graph(
        foo_5min="{period: 5min, series: foo}",
        foo_10min="{period: 10min, series: foo, depends_on: [foo_5min]}",
        foo_1h="{period: hour, series: foo, depends_on: [foo_10min]}",
        foo_1d="{period: day, series: foo, reprocess: if_changed, depends_on: [foo_1h]}",
        further="{period: hour, depends_on: [always]}",
        **users,
    )


@pytest.fixture
def known() -> dict[Slice, SliceStatus]:
    """Everything of the hour is there; the day is not yet, but its slice is known."""
    others = [Slice("foo_5min", "2024-06-01T14:55"), Slice("foo_1h", "2024-06-01T14")]
    return dict.fromkeys([*FIVES, *TENS, HOUR, *others, *USERS.values(), FURTHER], GOOD)


def test_the_hour_and_its_windows_and_aggregates_are_greyed(
    world: DependencyGraph, known: dict[Slice, SliceStatus]
) -> None:
    after = consequences(world, known, HOUR, Event.QUALITY_FAILED, UNTIL)
    assert next(iter(after)) == HOUR
    assert after[HOUR].quality is Quality.FAILED
    for slice_ in (HOUR, *FIVES, *TENS, DAY):
        assert after[slice_].issues == {HOUR}
        assert not after[slice_].valid
    for slice_ in (*USERS.values(), FURTHER):
        assert (after[slice_].tainted, after[slice_].issues) == (True, frozenset())
    assert set(after) == {HOUR, *FIVES, *TENS, DAY, *USERS.values(), FURTHER}


def test_a_refused_hour_had_no_readers(world: DependencyGraph, known: dict[Slice, SliceStatus]) -> None:
    """The windows inside and around it are greyed, as what they hold is suspect; its users read what was there."""
    refused = {**known, HOUR: SliceStatus(RunState.FAILED, frozenset({"failed"}))}
    after = consequences(world, refused, HOUR, Event.QUALITY_FAILED, UNTIL)
    assert (after[HOUR].run_state, after[HOUR].quality) == (RunState.FAILED, Quality.FAILED)
    assert {slice_: status.issues for slice_, status in after.items()} == dict.fromkeys(
        (HOUR, *FIVES, *TENS, DAY), frozenset({HOUR})
    )
    assert not any(status.tainted for status in after.values())


def test_flags_go_where_the_backfilled_hour_has_passed(world: DependencyGraph, known: dict[Slice, SliceStatus]) -> None:
    greyed = {**known, **consequences(world, known, HOUR, Event.QUALITY_FAILED, UNTIL), HOUR: AGAIN}
    after = consequences(world, greyed, HOUR, Event.QUALITY_PASSED, UNTIL)
    for slice_ in (HOUR, *FIVES, *TENS):
        assert after[slice_].valid
    assert after[DAY].issues == frozenset()
    assert after[DAY].run_state is RunState.WAITING


def test_each_user_follows_its_policy(world: DependencyGraph, known: dict[Slice, SliceStatus]) -> None:
    greyed = {**known, **consequences(world, known, HOUR, Event.QUALITY_FAILED, UNTIL), HOUR: AGAIN}
    changed = {**greyed, **consequences(world, greyed, HOUR, Event.QUALITY_PASSED, UNTIL)}
    same = {**greyed, **consequences(world, greyed, HOUR, Event.QUALITY_PASSED, UNTIL, changed=False)}

    def outcome(statuses: dict[Slice, SliceStatus]) -> dict[str, str]:
        run_states = {name: statuses[slice_] for name, slice_ in USERS.items()}
        return {
            name: "again" if s.run_state is RunState.WAITING else "tainted" if s.tainted else "kept"
            for name, s in run_states.items()
        }

    assert outcome(changed) == {"always": "again", "if_changed": "again", "never": "kept", "ask": "tainted"}
    assert outcome(same) == {"always": "again", "if_changed": "kept", "never": "kept", "ask": "kept"}
    assert changed[USERS["always"]].generation == 2


def test_an_aggregate_of_the_series_is_computed_again_from_the_hour_that_was(
    world: DependencyGraph, known: dict[Slice, SliceStatus]
) -> None:
    """Its flag goes, and with it the reason to doubt it; what it holds is of the rows before."""
    there = {**known, DAY: GOOD}
    greyed = {**there, **consequences(world, there, HOUR, Event.QUALITY_FAILED, UNTIL), HOUR: AGAIN}
    after = consequences(world, greyed, HOUR, Event.QUALITY_PASSED, UNTIL)
    assert (after[DAY].run_state, after[DAY].generation, after[DAY].issues) == (RunState.WAITING, 2, frozenset())
    same = consequences(world, greyed, HOUR, Event.QUALITY_PASSED, UNTIL, changed=False)
    assert same[DAY].valid
    assert (same[DAY].run_state, same[DAY].generation) == (RunState.COMPLETED, 1)


def test_readers_of_windows_inside_the_hour_are_unchanged(
    world: DependencyGraph, known: dict[Slice, SliceStatus]
) -> None:
    """Their flags come and go with the hour's, their rows do not."""
    world.put(entity("of_tens", "{period: 10min, reprocess: if_changed, depends_on: [foo_10min]}"))
    reader = Slice("of_tens", "2024-06-01T15:20")
    there = {**known, reader: GOOD}
    greyed = {**there, **consequences(world, there, HOUR, Event.QUALITY_FAILED, UNTIL), HOUR: AGAIN}
    assert greyed[reader].tainted
    after = consequences(world, greyed, HOUR, Event.QUALITY_PASSED, UNTIL)
    assert after[reader] == GOOD


def test_a_taint_goes_on_within_the_series(world: DependencyGraph, known: dict[Slice, SliceStatus]) -> None:
    after = consequences(world, known, FIVES[0], Event.TAINTED, UNTIL)
    assert {TENS[0], HOUR} <= set(after)
    assert TENS[1] not in after


def test_the_hour_is_computed_again_from_windows_that_its_own_flag_reaches(
    world: DependencyGraph, known: dict[Slice, SliceStatus]
) -> None:
    """It would wait for ever for what is doubted because of itself alone; nobody else takes that."""
    greyed = {**known, **consequences(world, known, HOUR, Event.QUALITY_FAILED, UNTIL)}
    seen = SlicesInMemory(world, greyed)
    may_start = {
        slice_: release(world.requirements(slice_), seen, UNTIL, UNTIL).is_released for slice_ in (TENS[0], HOUR)
    }
    assert may_start == {TENS[0]: True, HOUR: True}
    assert HOUR in release(world.requirements(DAY), seen, UNTIL, UNTIL).missing
    assert not has_bad_inputs(world, HOUR, greyed)
    both = {**greyed, **consequences(world, greyed, TENS[3], Event.QUALITY_FAILED, UNTIL)}
    assert release(world.requirements(HOUR), SlicesInMemory(world, both), UNTIL, UNTIL).missing == (TENS[3],)


def test_another_flag_stays(world: DependencyGraph, known: dict[Slice, SliceStatus]) -> None:
    five = FIVES[3]
    first = {**known, **consequences(world, known, five, Event.QUALITY_FAILED, UNTIL)}
    both = {**first, **consequences(world, first, HOUR, Event.QUALITY_FAILED, UNTIL)}
    after = {**both, **consequences(world, both, HOUR, Event.QUALITY_IGNORED, UNTIL)}
    assert after[HOUR].issues == {five}
    assert after[five].issues == {five}
    assert after[TENS[0]].issues == frozenset()
    assert after[USERS["never"]].tainted, "one of its inputs is still bad"


def test_good_quality_at_first_affects_no_other_slice(world: DependencyGraph, known: dict[Slice, SliceStatus]) -> None:
    fresh = {**known, HOUR: SliceStatus(RunState.COMPLETED, frozenset({"completed"}))}
    assert list(consequences(world, fresh, HOUR, Event.QUALITY_PASSED, UNTIL)) == [HOUR]


def test_taint_goes_on_to_everything_that_was_computed_from_it() -> None:
    world = graph(
        hourly="period: hour",
        daily="{period: day, depends_on: [hourly]}",
        weekly="{period: week, depends_on: [daily]}",
        monthly="{period: month, depends_on: [daily]}",
    )
    there = [Slice("hourly", "2024-06-01T15"), Slice("daily", "2024-06-01"), Slice("monthly", "2024-06")]
    after = consequences(world, dict.fromkeys(there, GOOD), there[0], Event.TAINTED, UNTIL)
    assert list(after) == there
    assert all(status.tainted for status in after.values())


@pytest.mark.parametrize(
    ("states", "is_asked"),
    [({"estimated", "completed"}, True), ({"completed"}, False), ({"partial", "completed"}, False)],
)
def test_readers_of_an_estimate_are_computed_again_from_the_completed_slice(states: set[str], is_asked: bool) -> None:
    """And what takes completed slices alone is not, whenever it was computed."""
    estimating = "[{entity_state: estimated, depends_on: []}, {entity_state: completed, depends_on: []}]"
    world = graph(
        reads=f"{{period: day, states: {estimating}}}",
        early="{period: day, depends_on: [{entity: reads, states: [estimated, completed]}]}",
        exact="{period: day, depends_on: [reads]}",
    )
    day = Slice("reads", "2024-06-01")
    known = {day: SliceStatus(RunState.COMPLETED, frozenset(states)), Slice("exact", day.key): GOOD}
    known[Slice("early", day.key)] = GOOD
    after = consequences(world, known, day, Event.QUALITY_PASSED, UNTIL)
    assert set(after) == {day, *([Slice("early", day.key)] if is_asked else [])}
    if is_asked:
        assert after[Slice("early", day.key)].run_state is RunState.WAITING
        assert after[Slice("early", day.key)].generation == GOOD.generation + 1
