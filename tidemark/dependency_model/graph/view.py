"""A part of the graph to show: around one entity, or of some tags and layers (seed capability D7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.dependency_model.graph.graph import DependencyGraph


@dataclass(frozen=True, slots=True)
class Arrow:
    """One dependency between two entities of a view."""

    up: str
    down: str
    offset: str
    state: str
    strength: str


@dataclass(frozen=True, slots=True)
class View:
    """Names in the order of computation, and the dependencies between them."""

    entities: tuple[str, ...]
    arrows: tuple[Arrow, ...]


def neighbourhood(graph: DependencyGraph, name: str, up: int, down: int) -> set[str]:
    """An entity with the entities `up` steps upstream and `down` steps downstream."""
    return _reach(graph, name, up, upwards=True) | _reach(graph, name, down, upwards=False)


def between(graph: DependencyGraph, up: str, down: str) -> set[str]:
    """The entities on all ways from `up` down to `down`, both included; empty if there is none."""
    steps = len(graph)
    on_ways = _reach(graph, up, steps, upwards=False) & _reach(graph, down, steps, upwards=True)
    return on_ways if up in on_ways else set()


def tagged_entities(graph: DependencyGraph, tags: Mapping[str, str], layers: Iterable[str]) -> set[str]:
    """The entities with all of these tags, in one of these layers (in any layer if none is given)."""
    wanted = set(layers)
    entities = (graph.entity(name) for name in graph)
    return {e.name for e in entities if tags.items() <= e.tags.items() and (not wanted or e.layer in wanted)}


def view(graph: DependencyGraph, names: set[str]) -> View:
    """The part of the graph between these entities."""
    order = [name for name in graph.topological() if name in names]
    arrows = (
        Arrow(edge.up.name, name, str(edge.dependency.offset), edge.state, edge.dependency.strength)
        for name in order
        for edge in graph.upstream_edges(name)
        if edge.up.name in names
    )
    return View(tuple(order), tuple(dict.fromkeys(arrows)))


def _reach(graph: DependencyGraph, name: str, steps: int, *, upwards: bool) -> set[str]:
    reached, edge_of = {name}, graph.upstream_edges if upwards else graph.downstream_edges
    outermost = [name]
    for _ in range(steps):
        near = (edge for name in outermost for edge in edge_of(name))
        outermost = list(dict.fromkeys(e.up.name if upwards else e.down.name for e in near))
        outermost = [name for name in outermost if name not in reached]
        reached.update(outermost)
        if not outermost:
            break
    return reached
