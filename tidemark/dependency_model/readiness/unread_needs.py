"""The required inputs of a slice's present declaration that its run did not read: a declaration may have changed.

Inputs of weak clauses are not required, and rows do not depend on tables that only quality rules read. With
`last_available` any slice suffices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.dependency import COMPLETED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice


def unread_needs(
    graph: DependencyGraph, slice_: Slice, read: Iterable[Slice], state: str = COMPLETED
) -> tuple[Slice, ...]:
    """The slices that it requires to reach a state and that are not among `read`, each once."""
    return tuple(dict.fromkeys(_unread(graph, slice_, frozenset(read), state)))


def _unread(graph: DependencyGraph, slice_: Slice, read: frozenset[Slice], state: str) -> Iterator[Slice]:
    of_rules = graph.entity(slice_.entity).rule_inputs
    for requirement in graph.requirements(slice_, state):
        if requirement.dependency.weak is not None or requirement.dependency.entity in of_rules:
            continue
        if not requirement.or_older:
            yield from (used for used in requirement.slices if used not in read)
        elif not any(used.entity == requirement.dependency.entity for used in read):
            yield from requirement.slices
