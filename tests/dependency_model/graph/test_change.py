"""A graph that is changed entity by entity equals a newly built graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dependency_model.world import entity
from tidemark.dependency_model.graph import DependencyGraph

if TYPE_CHECKING:
    from random import Random

    from tidemark.dependency_model.entity import Entity

NAMES = [f"e{number}" for number in range(6)]
PERIODS = ["hour", "day", "week", "month"]
OFFSETS = ["Set 0", "Set -1", "all", "last_available", "Range -2..0", "to_date", "static"]


def random_entity(random: Random, name: str) -> Entity:
    """Any entity over the other names, some of which may not be there, and some of whose offsets have no meaning."""
    if name == "project":
        above = f"\ndepends_on: [{random.choice(NAMES)}]" if random.random() < 0.3 else ""
        return entity(name, f"kind: Project\nperiod: day{above}")
    if random.random() < 0.1:
        return entity(name, "kind: Static")
    needed = random.sample([*NAMES, "project"], k=random.randint(0, 3))
    lines = [
        f"  - {{entity: {other}, offset: '{random.choice(OFFSETS)}'}}" if random.random() < 0.7 else f"  - {other}"
        for other in needed
    ]
    member = "project: project\n" if random.random() < 0.3 else ""
    depends = "depends_on:\n" + "\n".join(lines) if lines else ""
    return entity(name, f"period: {random.choice(PERIODS)}\n{member}{depends}")


def picture(graph: DependencyGraph) -> tuple[dict[str, object], list[str]]:
    """Everything that can be seen of a graph, in an order of its own, and what is wrong with it."""
    return {
        name: (
            graph.entity(name),
            [(edge.up.name, edge.state, str(edge.dependency)) for edge in graph.upstream_edges(name)],
            sorted((edge.down.name, edge.state, str(edge.dependency)) for edge in graph.downstream_edges(name)),
        )
        for name in sorted(graph)
    }, sorted(f"{problem.where}: {problem.message} {problem.found}" for problem in graph.problems())


@pytest.mark.slow
@given(st.randoms(use_true_random=False), st.lists(st.sampled_from([*NAMES, "project"]), min_size=1, max_size=12))
@settings(max_examples=150, deadline=None)
def test_changed_equals_rebuilt(random: Random, touched: list[str]) -> None:
    declared: dict[str, Entity] = {}
    for name in NAMES[:3]:
        declared[name] = random_entity(random, name)
    changed = DependencyGraph.build(declared)
    for name in touched:
        if name in declared and random.random() < 0.4:
            del declared[name]
            changed.remove(name)
        else:
            declared[name] = random_entity(random, name)
            changed.put(declared[name])
        rebuilt = DependencyGraph.build(declared)
        assert picture(changed) == picture(rebuilt)
    assert sorted(changed.topological()) == sorted(DependencyGraph.build(declared).topological())


def test_a_change_touches_only_its_neighbours() -> None:
    graph = DependencyGraph.build(
        [entity(f"t{n}", "period: day" + (f"\ndepends_on: [t{n - 1}]" if n else "")) for n in range(50)]
    )
    before = {name: graph.upstream_edges(name) for name in graph}
    graph.put(entity("t20", "period: hour\ndepends_on: [t19]"))
    redrawn = {name for name in graph if graph.upstream_edges(name) != before[name]}
    assert redrawn == {"t20", "t21"}
    assert str(graph.upstream_edges("t21")[0].dependency.offset) == "all"
