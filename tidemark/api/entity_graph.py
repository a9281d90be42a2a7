"""The dependencies between entities in the JSON of `GET /v1/graph` and of `tidemark graph --json`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from tidemark.dependency_model.graph.view import between, neighbourhood, tagged_entities, view

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.graph.view import View


class GraphEntityModel(BaseModel):
    """An entity; a static one has no period."""

    name: str
    layer: str
    kind: str
    period: str | None
    tags: dict[str, str]


class GraphDependencyModel(BaseModel):
    """`down` needs slices of `up` to reach a state: which ones says the offset."""

    up: str
    down: str
    offset: str
    state: str
    strength: str


class EntityGraphModel(BaseModel):
    """Entities in the order of computation, and the dependencies between them."""

    entities: list[GraphEntityModel]
    dependencies: list[GraphDependencyModel]


def part_of(
    graph: DependencyGraph,
    tags: Mapping[str, str],
    layers: Iterable[str],
    around: tuple[str, int, int] | None = None,
    to: str | None = None,
) -> View:
    """The entities with these tags and layers; `around` is an entity with the steps upstream and downstream of it.

    With `to`, all entities on the ways from the entity down to that one. Raises UnknownEntityError.
    """
    names = tagged_entities(graph, tags, layers)
    if around is not None:
        names &= neighbourhood(graph, *around) if to is None else between(graph, around[0], to)
    return view(graph, names)


def entity_graph_model(graph: DependencyGraph, shown: View) -> EntityGraphModel:
    """The part of the graph as JSON."""
    return EntityGraphModel(
        entities=[_entity(graph, name) for name in shown.entities],
        dependencies=[
            GraphDependencyModel(
                up=arrow.up, down=arrow.down, offset=arrow.offset, state=arrow.state, strength=arrow.strength
            )
            for arrow in shown.arrows
        ],
    )


def _entity(graph: DependencyGraph, name: str) -> GraphEntityModel:
    entity = graph.entity(name)
    return GraphEntityModel(
        name=entity.name,
        layer=entity.layer,
        kind=entity.kind.value,
        period=str(entity.period) if entity.period else None,
        tags=dict(entity.tags),
    )
