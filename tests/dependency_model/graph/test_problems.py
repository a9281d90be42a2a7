"""Problems between entities, and cycles as opposed to spirals."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dependency_model.world import graph

if TYPE_CHECKING:
    from random import Random

    from tidemark.dependency_model.graph import DependencyGraph


def needs(*dependencies: tuple[str, str], period: str = "day") -> str:
    lines = [f'  - {{entity: {name}, offset: "{offset}"}}\n' for name, offset in dependencies]
    return f"period: {period}\ndepends_on:\n{''.join(lines)}"


@pytest.mark.parametrize(
    ("world", "way"),
    [
        ({"a": needs(("a", "Set 0"))}, "needs itself: a@2024-01-01 -> a@2024-01-01"),
        ({"a": needs(("a", "Set 1"))}, "needs its own future: a@"),
        ({"a": needs(("a", "Range -3..0"))}, "needs itself: a@"),
        ({"a": needs(("b", "Set 0")), "b": needs(("c", "Set 0")), "c": needs(("a", "Set 0"))}, "-> b@2024-01-01 -> c@"),
        ({"a": needs(("b", "Set 1")), "b": needs(("a", "Set -1"))}, "a@2024-01-01 -> b@2024-01-02 -> a@2024-01-01"),
        (
            {"a": needs(("w", "Set 0")), "w": needs(("a", "all"), period="week")},
            "needs itself: a@2024-01-07 -> w@2024-01-01",
        ),
        (
            {"m": needs(("d", "Set 0"), period="month"), "d": needs(("m", "Set 0"))},
            "needs itself: d@2024-01-01 -> m@2024-01 -> d@2024-01-01",
        ),
        (
            {"h": needs(("d", "Set 0"), period="hour"), "d": needs(("h", "Set 5"))},
            "needs itself: d@2024-01-01 -> h@2024-01-01T05 -> d@2024-01-01",
        ),
        (
            {"m": needs(("d", "all"), period="month"), "d": needs(("m", "last_available"))},
            "needs itself: d@2024-01-31 -> m@2024-01 -> d@2024-01-31",
        ),
        (
            {"a": "{kind: Static, depends_on: [b]}", "b": "{kind: Static, depends_on: [a]}"},
            "a@static -> b@static -> a@static",
        ),
    ],
)
def test_a_cycle_is_shown_as_the_way_round(world: dict[str, str], way: str) -> None:
    problems = graph(**world).problems()
    assert len(problems) == 1
    assert way in problems[0].message
    assert problems[0].hint


@pytest.mark.parametrize(
    "world",
    [
        {"a": needs(("a", "Set -1"))},
        {"a": needs(("a", "Range -7..-1"))},
        {"a": needs(("b", "Set 0")), "b": needs(("a", "Set -1"))},
        {"a": needs(("b", "Set 3")), "b": needs(("a", "Set -4"))},
        {"a": needs(("w", "Set -1")), "w": needs(("a", "all"), period="week")},
        {"h": needs(("d", "Set 0"), period="hour"), "d": needs(("h", "Set -1"))},
        {"d": needs(("m", "Set -1")), "m": needs(("d", "all"), period="month")},
        {"m": needs(("d", "Set -1"), period="month"), "d": needs(("m", "last_available"))},
        {"h": needs(("h", "Set -24"), period="hour"), "d": needs(("h", "Range 0-23"), ("d", "Set -1"))},
    ],
)
def test_a_spiral_back_through_time_is_nothing_wrong(world: dict[str, str]) -> None:
    assert graph(**world).problems() == ()
    assert sorted(graph(**world).topological()) == sorted(world)


@given(st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_cycles_are_found_exactly_where_a_search_finds_one(random: Random) -> None:
    offsets = ["Set 0", "Set -1", "Set -2,-1", "Set 1", "all", "last_available"]
    names = ["a", "b", "c"]
    texts = {
        name: needs(
            *((random.choice(names), random.choice(offsets)) for _ in range(random.randint(0, 2))),
            period=random.choice(["day", "day", "week"]),
        )
        for name in names
    }
    world = graph(**texts)
    assert bool(world.problems()) == _comes_back(world)


def _comes_back(world: DependencyGraph) -> bool:
    """Whether some slice of February 2024 leads, by any way, to itself or to a later slice of its entity."""
    start = datetime(2024, 2, 1, 12, tzinfo=UTC)
    for name in world:
        for ahead in range(16):
            first = world.slice_at(name, start + timedelta(days=ahead))
            waiting, seen = [first], {first}
            while waiting:
                for requirement in world.requirements(waiting.pop()):
                    for slice_ in requirement.slices:
                        end = world.window(slice_).end
                        if slice_.entity == name and end >= world.window(first).end:
                            return True
                        if slice_ not in seen and abs(end - start) < timedelta(days=45):
                            seen.add(slice_)
                            waiting.append(slice_)
    return False


def test_cycles_after_long_chains_are_found_quickly() -> None:
    chain = {f"c{number:04}": needs((f"c{number - 1:04}" if number else "round", "Set 0")) for number in range(3_000)}
    world = graph(round=needs(("other", "Set 0")), other=needs(("round", "Set 0")), **chain)
    assert [problem.message.split(":")[0] for problem in world.problems()] == ["needs itself"]
    assert len(world.topological()) == 3_002


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ("{period: day, depends_on: [daly]}", "unknown entity: found daly - did you mean 'daily'?"),
        ("{period: day, depends_on: [{entity: daily, offset: static}]}", "daily is by period"),
        ("{period: day, depends_on: [{entity: fixed, offset: Set 0}]}", "fixed is static"),
        ("{kind: Static, depends_on: [daily]}", "declare a Snapshot"),
        ("{period: week, depends_on: [{entity: daily, offset: all day}]}", "a day does not contain a week"),
        ("{period: day, depends_on: [{entity: daily, offset: to_date}]}", "enclosing period"),
        ("{period: day, depends_on: [{entity: daily, states: [estimated]}]}", "daily has no state with this name"),
        ("{period: day, depends_on: [{entity: daily, sub: {region: [cn]}}]}", "no sub-partition with this name"),
        ("{kind: Snapshot, period: hour, snapshot_of: dayly}", "unknown entity: found dayly - did you mean 'daily'?"),
        ("{period: day, project: nowhere}", "unknown project: found nowhere"),
    ],
)
def test_between_entities(declared: str, says: str) -> None:
    problems = graph(daily="period: day", fixed="kind: Static", table=declared).problems()
    assert [says in str(problem) for problem in problems] == [True], [str(problem) for problem in problems]
    assert str(problems[0]).startswith("table.yaml: ")
