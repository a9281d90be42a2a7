"""The closure: a story by hand, and random graphs against asking each slice from below."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.dependency_model.impact.random_world import random_world
from tests.dependency_model.impact.reference import Reference
from tests.dependency_model.world import entity, graph
from tidemark.dependency_model.entity import EntityKind
from tidemark.dependency_model.impact import downstream_closure
from tidemark.dependency_model.offset.offset import OffsetKind
from tidemark.dependency_model.slice import Slice
from tidemark.errors import NoSuchSliceError, UnknownEntityError

if TYPE_CHECKING:
    from tidemark.dependency_model.graph import DependencyGraph

UNTIL = datetime(2024, 4, 20, tzinfo=UTC)
SERIES = {
    "clicks": "{period: hour, start: 2024-03-01}",
    "daily": "{period: day, start: 2024-03-01, depends_on: [clicks]}",
    "weekly": "{period: week, start: 2024-03-01, depends_on: [daily]}",
    "monthly": "{period: month, start: 2024-03-01, depends_on: [daily]}",
    "sliding": "{kind: Sliding, period: day, start: 2024-03-01, depends_on: [{entity: daily, offset: Range -6..0}]}",
    "growing": (
        "{kind: Cumulative, period: day, granularity: month, start: 2024-03-01,"
        " depends_on: [{entity: daily, offset: to_date}]}"
    ),
    "chain": "period: day\nstart: 2024-03-01\ndepends_on: [daily, {entity: chain, offset: Set -1}]\n",
    "other": "{period: day, start: 2024-03-01}",
}


def reached(world: DependencyGraph, *causes: str, until: datetime = UNTIL) -> dict[str, list[str]]:
    by_entity: dict[str, list[str]] = {}
    for slice_ in downstream_closure(world, map(Slice.parse, causes), until):
        by_entity.setdefault(slice_.entity, []).append(str(slice_).partition("@")[2])
    return by_entity


def test_an_hour_affects_its_day_week_month_and_sliding_and_cumulative_slices() -> None:
    touched = reached(graph(**SERIES), "clicks@2024-03-28T15")
    assert touched == {
        "daily": ["2024-03-28"],
        "weekly": ["2024-03-25"],
        "monthly": ["2024-03"],
        "sliding": [*(f"2024-03-{day}" for day in range(28, 32)), *(f"2024-04-{day:02}" for day in range(1, 4))],
        "growing": [f"2024-03-{day}" for day in range(28, 32)],
        "chain": [*(f"2024-03-{day}" for day in range(28, 32)), *(f"2024-04-{day:02}" for day in range(1, 21))],
    }


def test_later_slices_are_omitted_and_causes_are_not_their_own_downstream() -> None:
    world = graph(**SERIES)
    assert reached(world, "chain@2024-04-18", until=datetime(2024, 4, 19, 12, tzinfo=UTC)) == {"chain": ["2024-04-19"]}
    assert reached(world, "chain@2024-04-18", "chain@2024-04-19")["chain"] == ["2024-04-20"]
    assert reached(world, "other@2024-03-05") == {}


def test_entities_that_follow_each_other_in_turn_are_gone_through_once() -> None:
    world = graph(
        a="period: day\nstart: 2024-04-01\ndepends_on: [{entity: b, offset: Set -1}]\n",
        b="period: day\nstart: 2024-04-01\ndepends_on: [a]\n",
    )
    days = [f"2024-04-{day}" for day in range(18, 21)]
    assert reached(world, "a@2024-04-17") == {"b": ["2024-04-17", *days], "a": days}


def test_parts_go_to_parts_and_make_the_whole() -> None:
    parts = "sub_partitions: {region: {cn: {}, us: {}}}"
    world = graph(
        sales=f"{{period: day, start: 2024-04-01, {parts}}}",
        local=f"{{period: day, start: 2024-04-01, {parts}, depends_on: [sales]}}",
        total="{period: day, start: 2024-04-01, depends_on: [sales]}",
    )
    assert reached(world, "sales@2024-04-02/region=cn") == {
        "local": ["2024-04-02/region=cn", "2024-04-02"],
        "total": ["2024-04-02"],
        "sales": ["2024-04-02"],
    }


def test_a_whole_stands_for_those_of_its_parts_that_exist() -> None:
    parts = "sub_partitions: {region: {cn: {}, us: {start: 2024-04-10}}}"
    chain = f"period: day\nstart: 2024-04-01\n{parts}\ndepends_on: [{{entity: sales, offset: Set -1}}]\n"
    touched = reached(graph(sales=chain), "sales@2024-04-17", until=datetime(2024, 4, 18, 12, tzinfo=UTC))
    assert touched == {"sales": ["2024-04-18/region=cn", "2024-04-18/region=us", "2024-04-18"]}
    assert reached(graph(sales=chain), "sales@2024-04-08", until=datetime(2024, 4, 11, 12, tzinfo=UTC)) == {
        "sales": [
            *(f"2024-04-{day}/region=cn" for day in ("09", "10", "11")),
            *(f"2024-04-{day}" for day in ("09", "10", "11")),
        ]
    }


def test_edges_that_are_not_taken_are_not_followed() -> None:
    world = graph(**SERIES)
    found_by = downstream_closure(
        world, [Slice("clicks", "2024-03-28T15")], UNTIL, lambda edge: edge.down.name != "chain"
    )
    assert len(found_by) == 1 + 1 + 1 + 7 + 4


def test_a_changed_graph_is_searched_in_its_present_form() -> None:
    world = graph(**SERIES)
    assert "weekly" in reached(world, "clicks@2024-03-28T15")
    world.remove("weekly")
    world.put(entity("late", "{period: day, start: 2024-04-19, depends_on: [{entity: daily, offset: Range -30..0}]}"))
    touched = reached(world, "clicks@2024-03-28T15")
    assert (touched["late"], "weekly" in touched) == (["2024-04-19", "2024-04-20"], False)


def test_unknown_slices_are_refused() -> None:
    world = graph(**SERIES)
    with pytest.raises(UnknownEntityError):
        downstream_closure(world, [Slice("click", "2024-03-28T15")], UNTIL)
    with pytest.raises(NoSuchSliceError):
        downstream_closure(world, [Slice("clicks", "2024-03-28T15", (("region", "cn"),))], UNTIL)


@hypothesis_settings(max_examples=60, deadline=None)
@given(st.integers(min_value=0, max_value=2**32))
def test_random_graphs_agree_with_a_search_slice_by_slice(seed: int) -> None:
    random = Random(seed)
    assert_equal_to_reference(random_world(random), random)


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_ten_thousand_random_cases_agree_with_a_search_slice_by_slice() -> None:
    cases, seen = 0, set[object]()
    for seed in range(2_000):
        random = Random(seed)
        world = random_world(random)
        cases += assert_equal_to_reference(world, random, cases=5)
        seen |= what_is_in(world)
    assert cases == 10_000
    assert {*OffsetKind, EntityKind.STATIC, EntityKind.SLIDING, EntityKind.CUMULATIVE} <= seen
    assert {("parts", are_up, are_down) for are_up in (True, False) for are_down in (True, False)} <= seen


def what_is_in(world: DependencyGraph) -> set[object]:
    """Kinds of entities and of offsets, and whether either side of a dependency has sub-partitions."""
    edges = [edge for name in world for edge in world.upstream_edges(name)]
    return {
        *(world.entity(name).kind for name in world),
        *(edge.dependency.offset.kind for edge in edges if edge.dependency.offset),
        *(("parts", edge.up.is_parted, edge.down.is_parted) for edge in edges),
    }


def assert_equal_to_reference(world: DependencyGraph, random: Random, cases: int = 1) -> int:
    """From one to three random slices each; how many cases were compared."""
    until = datetime(2024, 4, 5, 12, tzinfo=UTC)
    reference = Reference(world, until)
    for _ in range(cases):
        causes = random.sample(reference.slices, k=min(len(reference.slices), random.randint(1, 3)))
        fast = list(downstream_closure(world, causes, until))
        assert len(fast) == len(set(fast))
        assert set(fast) == reference.closure(causes), (causes, list(world))
    return cases
