"""The closure: a story by hand, and random graphs against asking each slice from below."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.dependency_model.impact.reference import all_slices, closure
from tests.dependency_model.world import entity, graph
from tidemark.dependency_model.impact import downstream_closure
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


def test_an_hour_touches_its_day_week_and_month_what_slides_over_it_and_what_grows_from_it() -> None:
    touched = reached(graph(**SERIES), "clicks@2024-03-28T15")
    assert touched == {
        "daily": ["2024-03-28"],
        "weekly": ["2024-03-25"],
        "monthly": ["2024-03"],
        "sliding": [*(f"2024-03-{day}" for day in range(28, 32)), *(f"2024-04-{day:02}" for day in range(1, 4))],
        "growing": [f"2024-03-{day}" for day in range(28, 32)],
        "chain": [*(f"2024-03-{day}" for day in range(28, 32)), *(f"2024-04-{day:02}" for day in range(1, 21))],
    }


def test_what_begins_later_is_left_out_and_causes_are_no_downstream_of_their_own() -> None:
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


def test_edges_that_are_not_taken_are_not_followed() -> None:
    world = graph(**SERIES)
    found_by = downstream_closure(
        world, [Slice("clicks", "2024-03-28T15")], UNTIL, lambda edge: edge.down.name != "chain"
    )
    assert len(found_by) == 1 + 1 + 1 + 7 + 4


def test_a_graph_that_has_changed_is_gone_through_as_it_is_now() -> None:
    world = graph(**SERIES)
    assert "weekly" in reached(world, "clicks@2024-03-28T15")
    world.remove("weekly")
    world.put(entity("late", "{period: day, start: 2024-04-19, depends_on: [{entity: daily, offset: Range -30..0}]}"))
    touched = reached(world, "clicks@2024-03-28T15")
    assert (touched["late"], "weekly" in touched) == (["2024-04-19", "2024-04-20"], False)


def test_what_does_not_exist_is_refused() -> None:
    world = graph(**SERIES)
    with pytest.raises(UnknownEntityError):
        downstream_closure(world, [Slice("click", "2024-03-28T15")], UNTIL)
    with pytest.raises(NoSuchSliceError):
        downstream_closure(world, [Slice("clicks", "2024-03-28T15", (("region", "cn"),))], UNTIL)


PERIODS = ("hour", "day", "day", "day", "week", "month")
SAME = ("Set 0", "Set -1", "Set -1,0", "Set -7,-1,0", "Range -6..0", "last_available")
FINER = ("all", "Set 0", "Range 0-3", "to_date month", "all month -1")
COARSER = ("Set -1", "Set 0", "last_available")
LENGTH = {"hour": 0, "day": 1, "week": 2, "month": 3}


def random_world(random: Random) -> DependencyGraph:
    """Up to eight entities by Paris' clock over the night in March that has no two o'clock."""
    periods = [random.choice(PERIODS) for _ in range(random.randint(2, 8))]
    texts: dict[str, str] = {}
    for number, period in enumerate(periods):
        needs = {random.randrange(number + 1): None for _ in range(random.randint(0, 3))}
        clauses = [
            f'{{entity: e{up}, offset: "{_offset(random, up == number, LENGTH[period] - LENGTH[periods[up]])}"}}'
            for up in needs
        ]
        head = f"period: {period}\nstart: 2024-03-2{random.randrange(10)}\n"
        texts[f"e{number}"] = head + f"depends_on: [{', '.join(clauses)}]\n"
    return graph(**texts)


def _offset(random: Random, is_own: bool, finer: int) -> str:
    if is_own:
        return random.choice(("Set -1", "Set -2", "Set -3,-1"))
    return random.choice(SAME if finer == 0 else FINER if finer > 0 else COARSER)


@hypothesis_settings(max_examples=60, deadline=None)
@given(st.integers(min_value=0, max_value=2**32))
def test_a_random_graph_gives_what_asking_each_slice_gives(seed: int) -> None:
    assert_equal_to_reference(Random(seed))


@pytest.mark.long
def test_ten_thousand_random_cases_give_what_asking_each_slice_gives() -> None:
    for seed in range(2_000):
        assert_equal_to_reference(Random(seed), cases=5)


def assert_equal_to_reference(random: Random, cases: int = 1) -> None:
    world, until = random_world(random), datetime(2024, 4, 5, 12, tzinfo=UTC)
    slices = all_slices(world, until)
    for _ in range(cases):
        causes = random.sample(slices, k=min(len(slices), random.randint(1, 3)))
        fast = list(downstream_closure(world, causes, until))
        assert len(fast) == len(set(fast))
        assert set(fast) == closure(world, causes, until), (causes, list(world))
