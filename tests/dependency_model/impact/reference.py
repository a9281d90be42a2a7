"""Slow and obvious: every slice there is, what each of them needs, and then along that until nothing new comes."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.sub_partition import WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice


def all_slices(graph: DependencyGraph, until: datetime) -> list[Slice]:
    """Every slice that begins by an instant."""
    slices = []
    for name in graph:
        node = graph.node(name)
        for sub in dict.fromkeys((*node.subs, WHOLE)):
            for number in node.existing_of(sub):
                slice_ = node.slice(number, sub)
                if graph.window(slice_).start > until:
                    break
                slices.append(slice_)
    return slices


def closure(graph: DependencyGraph, causes: Iterable[Slice], until: datetime) -> set[Slice]:
    """What needs the slices, and what needs that, asked from below: each slice is asked for what it needs."""
    users: dict[Slice, set[Slice]] = defaultdict(set)
    for slice_ in all_slices(graph, until):
        for requirement in graph.requirements(slice_):
            for needed in _needed(graph, requirement.slices, or_older=requirement.or_older):
                users[needed].add(slice_)
    seeds = set(causes)
    reached, new = set(seeds), set(seeds)
    while new:
        new = {user for slice_ in new for user in users[slice_]} - reached
        reached |= new
    return reached - seeds


def _needed(graph: DependencyGraph, named: Iterable[Slice], *, or_older: bool) -> Iterable[Slice]:
    """An older one would do, where the offset says so."""
    for slice_ in named:
        yield slice_
        if or_older:
            node = graph.node(slice_.entity)
            first = node.existing_of(slice_.sub).start
            yield from (node.slice(number, slice_.sub) for number in range(first, node.ordinal(slice_)))
