"""The layout of a whole graph: each entity has a place of its own, and dependencies lead to the right."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.dependency_model.world import entity
from tests.examples import each
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.graph.layered_layout import layered_layout
from tidemark.dependency_model.graph.view import between

if TYPE_CHECKING:
    from tidemark.dependency_model.entity import Entity


def drawn(chance: Random, count: int) -> list[Entity]:
    """Entities that read earlier ones, and sometimes a later one of the day before."""
    entities = []
    for number in range(count):
        ups = {f"e{chance.randrange(number)}": "Set 0" for _ in range(chance.randint(0, 3)) if number}
        if chance.random() < 0.1:
            ups[f"e{chance.randrange(count)}"] = "Set -1"
        lines = [f"  - {{entity: {name}, offset: '{offset}'}}" for name, offset in ups.items()]
        entities.append(entity(f"e{number}", "\n".join(["period: day", *(["depends_on:", *lines] if lines else [])])))
    return entities


@pytest.mark.parametrize("seed", each(4, range(20)))
def test_places_are_distinct_and_dependencies_lead_to_the_right(seed: int) -> None:
    chance = Random(seed)
    graph = DependencyGraph.build(drawn(chance, chance.choice([1, 5, 60, 400])))
    layout = graph.kept(layered_layout)
    assert sorted(layout.names) == sorted(graph)
    places = [*zip(layout.columns, layout.rows, strict=True)]
    assert len({*places}) == len(graph)
    assert min(layout.rows) >= 0
    edges = [*zip(layout.up, layout.down, strict=True)]
    assert {(layout.names[up], layout.names[down]) for up, down in edges} == {
        (edge.up.name, name) for name in graph for edge in graph.upstream_edges(name) if edge.up.name != name
    }
    assert len({*edges}) == len(edges)
    assert all(layout.columns[up] < layout.columns[down] for up, down in edges if up < down)


@pytest.mark.parametrize("seed", each(4, range(20)))
def test_the_ways_between_two_entities_are_those_that_a_walk_finds(seed: int) -> None:
    chance = Random(seed)
    graph = DependencyGraph.build(drawn(chance, 30))
    below = {name: {edge.down.name for edge in graph.downstream_edges(name)} for name in graph}
    for name in graph:  # Floyd-Warshall's closure
        for other in graph:
            if name in below[other]:
                below[other] |= below[name]
    first, last = chance.sample(list(graph), 2)
    on_a_way = {name for name in {first, *below[first]} if name == last or last in below[name]}
    assert between(graph, first, last) == on_a_way
