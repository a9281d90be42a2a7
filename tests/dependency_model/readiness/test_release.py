"""Strong and weak clauses: what releases a slice, when, and what it then lacks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from tests.dependency_model.world import graph, names
from tidemark.dependency_model.entity.dependency import AtLeast
from tidemark.dependency_model.readiness import Release, Statuses, earliest, ready_by, release
from tidemark.dependency_model.readiness.explanation import explain
from tidemark.dependency_model.readiness.release import Reason
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Quality, RunState, SliceStatus

if TYPE_CHECKING:
    from tidemark.dependency_model.graph import DependencyGraph

DONE = SliceStatus(RunState.COMPLETED, frozenset({"completed"}), Quality.PASSED)
DAY = Slice("report", "2024-06-01")
HOURS = [Slice("clicks", f"2024-06-01T{hour:02}") for hour in range(24)]
MIDNIGHT = datetime(2024, 6, 1, 22, tzinfo=UTC)


def world(weak: str = "", quality: str = "required", states: str = "completed") -> DependencyGraph:
    return graph(
        clicks="period: hour\nstates: [{entity_state: estimated}, {entity_state: completed}]",
        rates="{kind: Snapshot, period: month}",
        report=f"""
        period: day
        depends_on:
          - {{entity: clicks, offset: Range 0-23, quality: {quality}, states: [{states}]{weak and f", weak: {weak}"}}}
        """,
        priced="{period: day, depends_on: [{entity: rates, offset: last_available}]}",
    )


def release_of(
    graph: DependencyGraph, there: dict[Slice, SliceStatus], now: datetime = MIDNIGHT, slice_: Slice = DAY
) -> Release:
    not_before = earliest(graph.entity(slice_.entity), graph.window(slice_))
    return release(graph.requirements(slice_), Statuses(graph, there), not_before, now)


def there(count: int, status: SliceStatus = DONE) -> dict[Slice, SliceStatus]:
    return dict.fromkeys(HOURS[:count], status)


def test_a_strong_clause_needs_all_of_them() -> None:
    assert not release_of(world(), there(23)).is_released
    assert release_of(world(), there(23)).missing == (HOURS[23],)
    complete = release_of(world(), there(24))
    assert (complete.is_released, complete.partial, complete.missing) == (True, False, ())


def test_nothing_starts_before_its_earliest_time() -> None:
    early = release_of(world(), there(24), MIDNIGHT - timedelta(seconds=1))
    assert (early.is_released, early.due) == (False, MIDNIGHT)


@pytest.mark.parametrize(
    ("weak", "enough", "reason"),
    [
        ("{any_of: true}", 1, Reason.ANY_OF),
        ("{at_least: 22}", 22, Reason.AT_LEAST),
        ("{at_least: 90%}", 22, Reason.AT_LEAST),
        ("{at_least: 22, timeout: 2h}", 22, Reason.AT_LEAST),
        ("{at_least: 1000}", 24, Reason.ALL),
    ],
)
def test_a_weak_clause_says_how_many_suffice(weak: str, enough: int, reason: Reason) -> None:
    assert not release_of(world(weak), there(enough - 1)).is_released
    answer = release_of(world(weak), there(enough))
    assert answer.is_released
    assert answer.verdicts[0].reason is reason
    assert answer.partial == (enough < 24)
    assert answer.missing == tuple(HOURS[enough:])
    assert answer.verdicts[0].used == tuple(HOURS[:enough])


def test_after_a_timeout_the_existing_inputs_are_used() -> None:
    weak = world("{timeout: 30min}")
    before = release_of(weak, there(3), MIDNIGHT + timedelta(minutes=29))
    assert (before.is_released, before.due) == (False, MIDNIGHT + timedelta(minutes=30))
    after = release_of(weak, there(3), MIDNIGHT + timedelta(minutes=30))
    assert (after.is_released, after.partial, len(after.missing), after.due) == (True, True, 21, None)
    assert after.verdicts[0].reason is Reason.TIMEOUT


@pytest.mark.parametrize(
    ("status", "required", "ignored"),
    [
        (DONE, True, True),
        (SliceStatus(RunState.COMPLETED, frozenset({"completed"}), Quality.IGNORED), True, True),
        (SliceStatus(RunState.COMPLETED, frozenset({"completed"}), Quality.UNKNOWN), False, True),
        (SliceStatus(RunState.COMPLETED, frozenset({"completed"}), Quality.FAILED, frozenset({HOURS[0]})), False, True),
        (SliceStatus(RunState.COMPLETED, frozenset({"completed"}), Quality.PASSED, frozenset({HOURS[0]})), False, True),
        (SliceStatus(RunState.COMPLETED, frozenset({"completed"}), Quality.PASSED, tainted=True), False, True),
        (SliceStatus(RunState.RUNNING), False, False),
        (SliceStatus(RunState.WAITING, frozenset({"estimated"})), False, False),
    ],
)
def test_quality_counts_unless_it_is_ignored(status: SliceStatus, required: bool, ignored: bool) -> None:
    assert release_of(world(), there(24, status)).is_released == required
    assert release_of(world(quality="ignore"), there(24, status)).is_released == ignored


def test_a_clause_may_accept_other_states() -> None:
    estimated = SliceStatus(RunState.WAITING, frozenset({"estimated", "partial"}), Quality.PASSED)
    assert not release_of(world(), there(24, estimated)).is_released
    assert release_of(world(states="estimated, completed"), there(24, estimated)).is_released


def test_the_last_available_may_be_an_older_one() -> None:
    priced = Slice("priced", "2024-06-05")
    assert not release_of(world(), {}, MIDNIGHT + timedelta(days=9), priced).is_released
    older = release_of(world(), {Slice("rates", "2024-03"): DONE}, MIDNIGHT + timedelta(days=9), priced)
    assert (older.is_released, older.partial, names(older.verdicts[0].used)) == (True, False, ["rates@2024-03"])
    later = {Slice("rates", "2024-06"): DONE}
    assert not release_of(world(), later, MIDNIGHT + timedelta(days=99), priced).is_released


def test_no_more_is_asked_for_than_there_are() -> None:
    assert [AtLeast(count=5).required_count(3), AtLeast(count=5).required_count(9)] == [3, 5]


def test_times_of_a_slice_go_by_the_local_clock() -> None:
    spring = graph(table="{period: day, earliest: 30 2 * * *, ready_by: 00:30}")
    window = spring.window(Slice("table", "2026-03-28"))
    assert earliest(spring.entity("table"), window) == datetime(2026, 3, 29, 1, 0, tzinfo=UTC)  # 02:30 is skipped
    assert ready_by(spring.entity("table"), window) == datetime(2026, 3, 28, 23, 30, tzinfo=UTC)


def test_an_explanation_follows_missing_inputs() -> None:
    shop = graph(ods="period: day", dwd="{period: day, depends_on: [ods]}", ads="{period: day, depends_on: [dwd, ods]}")
    day, now = Slice("ads", "2024-06-01"), MIDNIGHT
    explanation = explain(shop, day, known=Statuses(shop, {Slice("ods", "2024-06-01"): DONE}), now=now, depth=2)
    assert [
        (clause.requirement.dependency.entity, bool(clause.verdict and clause.verdict.is_met))
        for clause in explanation.clauses
    ] == [
        ("dwd", False),
        ("ods", True),
    ]
    (deeper,) = explanation.clauses[0].missing
    assert (str(deeper.slice), deeper.release and deeper.release.is_released) == ("dwd@2024-06-01", True)
    assert names(deeper.downstream) == ["ads@2024-06-01"]
    plain = explain(shop, day)
    assert (plain.release, plain.clauses[0].verdict, plain.clauses[0].missing) == (None, None, ())
