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


class Reference:
    """Asked from below: `slices` are all that begin by an instant, each is asked for what it needs."""

    def __init__(self, graph: DependencyGraph, until: datetime) -> None:
        self._graph = graph
        self.slices = _all_slices(graph, until)
        self._users: dict[Slice, set[Slice]] = defaultdict(set)
        for slice_ in self.slices:
            for state in graph.entity(slice_.entity).state_names or ("completed",):
                for requirement in graph.requirements(slice_, state):
                    for needed in _needed(graph, requirement.slices, or_older=requirement.or_older):
                        self._users[needed].add(slice_)

    def closure(self, causes: Iterable[Slice]) -> set[Slice]:
        """What needs the slices, and what needs that; a whole is needed where its parts are."""
        seeds = set(causes)
        reached: set[Slice] = set()
        new = seeds | {part for slice_ in seeds for part in self._parts(slice_)}
        while new:
            new = {user for slice_ in new for user in self._users[slice_]} - reached
            reached |= new
        return reached - seeds

    def _parts(self, slice_: Slice) -> Iterable[Slice]:
        node = self._graph.node(slice_.entity)
        if slice_.sub == WHOLE and node.is_parted:
            yield from (node.slice(node.ordinal(slice_), sub) for sub in node.subs)


def _all_slices(graph: DependencyGraph, until: datetime) -> list[Slice]:
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


def _needed(graph: DependencyGraph, named: Iterable[Slice], *, or_older: bool) -> Iterable[Slice]:
    """An older one would do, where the offset says so."""
    for slice_ in named:
        yield slice_
        if or_older:
            node = graph.node(slice_.entity)
            first = node.existing_of(slice_.sub).start
            yield from (node.slice(number, slice_.sub) for number in range(first, node.ordinal(slice_)))
