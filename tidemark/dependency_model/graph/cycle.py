"""Cycles: a slice that needs itself or its own future, over any number of steps.

A cycle of entities is not always an error: if day T needs day T-1, the chain goes back in time and ends at the start.
It is an error if a chain of dependencies returns to the same slice or a later one. Every mapping is monotone, so the
search follows the *latest* slice that each dependency needs, and finds such a chain if there is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tidemark.dependency_model.entity.sub_partition import WHOLE
from tidemark.dependency_model.graph.reach_ahead_in_time import latest_reach
from tidemark.dependency_model.graph.topological_order import components, on_or_between_cycles
from tidemark.dependency_model.time.sample_slices import dense_slices

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tidemark.dependency_model.graph.adjacency import Adjacency
    from tidemark.dependency_model.graph.edge import Edge
    from tidemark.dependency_model.graph.node import Node
    from tidemark.dependency_model.slice import Slice

_EARLIEST = 64
"""The number of an entity's first slices that are tried, so that the reported cycle has existing, early slices."""
_WORK = 400_000
"""The limit of steps for one group of entities that the quick proof does not clear."""


class _CycleStep(NamedTuple):
    """A slice of a chain, and the step before it."""

    node: Node
    ordinal: int
    before: _CycleStep | None


def cycles(nodes: Mapping[str, Node], edges: Adjacency) -> Iterator[tuple[Slice, ...]]:
    """One cycle for each group of entities that has one: from a slice to itself or to a later one of its entity.

    The result does not depend on the order of the entities.
    """
    for name, node in nodes.items():
        own = [edge for edge in edges.upstream[name] if edge.up is node]
        if own and any(latest_reach(edge) >= 0 for edge in own):
            yield from _find_cycles({name: node}, own)
    for component in sorted(map(sorted, components(on_or_between_cycles(edges)))):
        inside = {name: nodes[name] for name in component}
        between = [edge for name in component for edge in edges.upstream[name] if edge.up.name in inside]
        apart = [edge for edge in between if edge.up is not edge.down]
        if not _leads_back(apart, len(inside)):
            yield from _find_cycles(inside, apart)


def _leads_back(edges: list[Edge], size: int) -> bool:
    """Whether every cycle goes back in time: there is no cycle of reaches >= 0 (Bellman and Ford, longest paths)."""
    weights = [(edge.down.name, edge.up.name, latest_reach(edge) * (size + 1) + 1) for edge in edges]
    far = dict.fromkeys((down for down, _, _ in weights), 0)
    for _ in range(size + 1):
        moved = False
        for down, up, weight in weights:
            if far[down] + weight > far[up]:
                far[up] = far[down] + weight
                moved = True
        if not moved:
            return True
    return False


def _find_cycles(inside: Mapping[str, Node], edges: list[Edge]) -> Iterator[tuple[Slice, ...]]:
    """The first cycle through entities that are not in a reported cycle yet."""
    seen: set[str] = set()
    for node in inside.values():
        if node.name not in seen:
            way = _way_round(node, inside, edges)
            if way:
                seen.update(slice_.entity for slice_ in way)
                yield way


def _way_round(start: Node, inside: Mapping[str, Node], edges: list[Edge]) -> tuple[Slice, ...] | None:
    starts = dense_slices(start.grid) if start.grid else (0,)
    step = max(1, len(starts) * len(edges) * len(inside) // _WORK)
    for ordinal in starts[::step]:
        way = _follow(_CycleStep(start, ordinal, None), edges, len(inside))
        if way:
            return _path(_existing_way(start, edges, len(inside)) or _again(way, edges, len(inside)))
    return None


def _existing_way(start: Node, edges: list[Edge], rounds: int) -> _CycleStep | None:
    """A cycle through existing slices, soon after the entity's start; None if a cycle needs other slices."""
    for ordinal in start.existing[:_EARLIEST]:
        way = _follow(_CycleStep(start, ordinal, None), edges, rounds)
        last = _again(way, edges, rounds) if way else None
        if last and all(step.ordinal in step.node.existing for step in _steps(last)):
            return last
    return None


def _again(way: _CycleStep, edges: list[Edge], rounds: int) -> _CycleStep:
    """The cycle from the slice that was reached again: the first steps of `way` may come from outside the cycle."""
    return _follow(_CycleStep(way.node, way.ordinal, None), edges, rounds) or way


def _follow(start: _CycleStep, edges: list[Edge], rounds: int) -> _CycleStep | None:
    """Follows the latest slices until the start's entity is reached at the same time or later; None if it never is."""
    best = {start.node.name: start}
    for _ in range(rounds):
        moved = False
        for edge in edges:
            at = best.get(edge.down.name)
            latest = _latest(edge, at.ordinal) if at else None
            if at is None or latest is None:
                continue
            there = best.get(edge.up.name)
            if there is None or latest > there.ordinal or edge.up is start.node:
                step = _CycleStep(edge.up, latest, at)
                if edge.up is start.node and latest >= start.ordinal:
                    return step
                if there is None or latest > there.ordinal:
                    best[edge.up.name] = step
                    moved = True
        if not moved:
            return None
    return None


def _latest(edge: Edge, ordinal: int) -> int | None:
    needed = [ups[-1] for mapping, _, _ in edge.mappings() if (ups := mapping.expand(ordinal))]
    if not needed:
        return 0 if edge.up.grid is None else None
    return max(needed)


def _steps(last: _CycleStep) -> Iterator[_CycleStep]:
    step: _CycleStep | None = last
    while step:
        yield step
        step = step.before


def _path(last: _CycleStep) -> tuple[Slice, ...]:
    return tuple(step.node.slice(step.ordinal, WHOLE) for step in _steps(last))[::-1]


def format_cycle(way: Iterable[Slice]) -> str:
    """A cycle as one line."""
    return " -> ".join(str(slice_) for slice_ in way)
