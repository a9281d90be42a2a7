"""Plans: exactly what was built from the roots, each slice after those that it reads."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.dependency_model.backfill.reference import rebuilt
from tests.dependency_model.world import graph
from tidemark.dependency_model.backfill import BackfillPlan, plan_backfill
from tidemark.dependency_model.impact import downstream_closure
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Quality, RunState, SliceStatus

if TYPE_CHECKING:
    from tidemark.dependency_model.graph import DependencyGraph

UNTIL = datetime(2024, 4, 20, tzinfo=UTC)
THERE = SliceStatus(RunState.COMPLETED, frozenset({"completed"}), Quality.PASSED)
WORLD = graph(
    feed="{period: hour, kind: Virtual}",
    clicks="{period: hour, depends_on: [feed]}",
    daily="{period: day, depends_on: [{entity: clicks, offset: Range 0-23}]}",
    total="{period: day, kind: Cumulative, depends_on: [daily, {entity: total, offset: Set -1}]}",
    weekly="{period: week, depends_on: [{entity: daily, offset: 'Range 0-6'}]}",
    compared="{period: day, depends_on: [{entity: daily, offset: 'Set 0,-7'}]}",
    newest="{period: day, depends_on: [{entity: weekly, offset: last_available}]}",
    kept="{period: day, reprocess: never, depends_on: [daily]}",
    of_kept="{period: day, depends_on: [kept]}",
)
HOURS = [Slice("clicks", f"2024-04-10T{hour:02}") for hour in range(5, 15)]
DAY, NEXT_WEEK = Slice("daily", "2024-04-10"), Slice("compared", "2024-04-17")


def plan_of(world: DependencyGraph, roots: list[Slice], **reads: list[tuple[Slice, int]]) -> BackfillPlan:
    down = list(downstream_closure(world, roots, UNTIL))
    told = {slice_: read for slice_ in down if (read := reads.get(slice_.entity)) is not None}
    return plan_backfill(world, roots, down, dict.fromkeys([*roots, *down], THERE), told)


def keys(plan: BackfillPlan, entity: str) -> list[str]:
    return [slice_.key for slice_ in plan.members if slice_.entity == entity]


def test_ten_hours_are_one_day_its_week_the_chain_from_it_on_and_the_day_a_week_later() -> None:
    plan = plan_of(WORLD, HOURS)
    assert keys(plan, "clicks") == [slice_.key for slice_ in HOURS]
    assert keys(plan, "daily") == ["2024-04-10"]
    assert keys(plan, "weekly") == ["2024-04-08"]
    assert keys(plan, "compared") == ["2024-04-10", "2024-04-17"]
    assert keys(plan, "total") == [f"2024-04-{day:02}" for day in range(10, 21)]
    assert (plan.waves[0], plan.waves[1]) == (tuple(HOURS), (DAY,))


def test_each_slice_of_a_self_reading_chain_is_a_wave() -> None:
    plan = plan_of(WORLD, [Slice("total", "2024-04-18")])
    assert [[slice_.key for slice_ in wave] for wave in plan.waves] == [["2024-04-18"], ["2024-04-19"], ["2024-04-20"]]


def test_kept_slices_stop_a_backfill_and_external_slices_are_not_computed() -> None:
    plan = plan_of(WORLD, [Slice("feed", "2024-04-10T05")])
    assert (keys(plan, "kept"), keys(plan, "of_kept")) == (["2024-04-10"], [])
    assert {Slice("feed", "2024-04-10T05"), Slice("kept", "2024-04-10")}.isdisjoint(plan.rebuilt)
    assert HOURS[0] in plan.rebuilt


def test_readers_of_other_slices_are_omitted() -> None:
    week = Slice("weekly", "2024-04-08")
    assert keys(plan_of(WORLD, [week]), "newest")[0] == "2024-04-14"
    assert keys(plan_of(WORLD, [week], newest=[(Slice("weekly", "2024-04-01"), 1)]), "newest") == []
    assert keys(plan_of(WORLD, [week], newest=[(week, 1)]), "newest") != []


def test_slices_without_data_read_their_declared_inputs() -> None:
    down = list(downstream_closure(WORLD, [DAY], UNTIL))
    plan = plan_backfill(WORLD, [DAY], down, {DAY: THERE, NEXT_WEEK: THERE}, {})
    assert list(plan.members) == [DAY, NEXT_WEEK]
    failed = {DAY: THERE, NEXT_WEEK: SliceStatus(RunState.FAILED)}
    assert list(plan_backfill(WORLD, [DAY], down, failed, {}).members) == [DAY, NEXT_WEEK]


@hypothesis_settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 30), st.sets(st.integers(0, 239), min_size=1, max_size=12))
def test_members_equal_the_reference_and_come_after_their_inputs(seed: int, hours: set[int]) -> None:
    world = graph(**{name: text for name, text in TEXTS.items() if name != "newest"})
    roots = [Slice("clicks", f"2024-04-{1 + hour // 24:02}T{hour % 24:02}") for hour in sorted(hours)]
    down = list(downstream_closure(world, roots, UNTIL))
    there = {slice_: THERE for slice_ in (*roots, *down) if hash((seed, slice_.key)) % 7}
    plan = plan_backfill(world, roots, down, there, {})
    expected = rebuilt(world, roots, set(there), lambda _: True)
    assert set(plan.rebuilt) == expected
    places = {slice_: place for place, slice_ in enumerate(plan.members)}
    for member in plan.members.values():
        assert all(places[used] < places[member.slice] for used in member.inputs)
        assert member.needed <= set(member.inputs)


TEXTS = {
    "clicks": "period: hour",
    "daily": "{period: day, depends_on: [{entity: clicks, offset: Range 0-23}]}",
    "total": "{period: day, kind: Cumulative, depends_on: [daily, {entity: total, offset: Set -1}]}",
    "weekly": "{period: week, reprocess: if_changed, depends_on: [{entity: daily, offset: 'Range 0-6'}]}",
    "compared": "{period: day, depends_on: [{entity: daily, offset: 'Set 0,-7'}]}",
    "kept": "{period: day, reprocess: never, depends_on: [daily]}",
    "of_kept": "{period: day, depends_on: [kept, total]}",
}
