"""All errors between entities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.graph.cycle import cycles, format_cycle
from tidemark.dependency_model.graph.declared_edges import with_place
from tidemark.dependency_model.suggestion import did_you_mean
from tidemark.errors import EntityError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tidemark.dependency_model.graph.declared_edges import DeclaredEdges
    from tidemark.dependency_model.graph.node import Node

HINT_LIMIT = 50
"""The most unknown names for which the nearest known one is searched."""


def problems_of(edges: DeclaredEdges) -> Iterator[EntityError]:
    """Unknown names, meaningless offsets, unknown states, unknown sub-partitions, cycles."""
    hints = 0
    for name in edges.nodes:
        for problem in edges.broken.get(name, ()):
            if problem.found and problem.hint is None and hints < HINT_LIMIT:
                hints += 1
                problem.hint = did_you_mean(problem.found, edges.nodes)
            yield problem
    yield from _of_tasks(edges)
    for node in edges.nodes.values():
        if node.entity.snapshot_of:
            yield from _of_snapshot(node, edges)
        for edge in edges.adjacency.upstream[node.name]:
            dependency = edge.dependency
            if not edge.up.states.issuperset(dependency.states):
                yield from _of_states(node, edge.up, dependency.states)
            if dependency.sub:
                yield from _of_sub_partitions(node, edge.up, dependency.sub)
    for way in cycles(edges.nodes, edges.adjacency):
        kind = "needs itself" if way[0] == way[-1] else "needs its own future"
        hint = "let one of them follow an earlier slice, as with Set -1"
        problem = EntityError(f"{kind}: {format_cycle(way)}", hint=hint)
        yield with_place(problem, edges.nodes[way[0].entity].entity, way[1].entity)


def _of_tasks(edges: DeclaredEdges) -> Iterator[EntityError]:
    """A scheduler's task is one entity."""
    first: dict[str, str] = {}
    for name, node in edges.nodes.items():
        task = node.entity.task_id
        if task is not None and first.setdefault(task, name) != name:
            problem = EntityError("task_id: another entity has it", expected="a unique id", found=task)
            problem.hint = f"{first[task]} is this task"
            yield with_place(problem, node.entity, task)


def _of_states(node: Node, up: Node, states: Iterable[str]) -> Iterator[EntityError]:
    known = up.entity.state_names
    for state in states:
        if state not in known:
            hint = did_you_mean(state, known)
            expected = " or ".join(known)
            problem = EntityError(f"{up.name} has no state with this name", expected=expected, found=state, hint=hint)
            yield with_place(problem, node.entity, state)


def _of_sub_partitions(node: Node, up: Node, chosen: dict[str, tuple[str, ...]]) -> Iterator[EntityError]:
    declared = up.entity.sub_partitions
    for dimension, values in chosen.items():
        known = declared.get(dimension, {})
        for value in values:
            if value not in known:
                problem = EntityError(
                    f"{up.name} has no sub-partition with this name",
                    expected=", ".join(known) or "no sub-partitions with that name",
                    found=f"{dimension}={value}",
                    hint=did_you_mean(value, known),
                )
                yield with_place(problem, node.entity, value)


def _of_snapshot(node: Node, edges: DeclaredEdges) -> Iterator[EntityError]:
    table = node.entity.snapshot_of
    if table and table not in edges.nodes:
        hint = did_you_mean(table, edges.nodes)
        yield with_place(EntityError("tags versions of an unknown entity", found=table, hint=hint), node.entity, table)
