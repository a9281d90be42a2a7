"""The exact slices downstream of some slices, over all periods and any number of steps (seed capability D4).

The search goes level by level. One step is computed once for all edges with the same periods and offset, so the cost
grows with entities, not with slices. A slice that is reached again is not followed again, so cycles between entities
end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidemark.dependency_model.impact.numbered_edges import NO_EDGE, NumberedEdges
from tidemark.dependency_model.impact.slice_sets import EMPTY, has_parts, slice_set, without
from tidemark.dependency_model.impact.slice_steps import SliceSteps, with_whole
from tidemark.dependency_model.impact.stretches import union
from tidemark.dependency_model.time.local_calendar import checked_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime

    import numpy.typing as npt

    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.dependency_model.graph.edge import Edge
    from tidemark.dependency_model.graph.edge_stretches import Numbers
    from tidemark.dependency_model.graph.graph import DependencyGraph
    from tidemark.dependency_model.graph.node import Node
    from tidemark.dependency_model.impact.slice_sets import SliceSet
    from tidemark.dependency_model.slice import Slice

    Follows = Callable[[Edge], bool]


class Closure:
    """`reached` has the numbers of the slices by entity, nearer entities first."""

    def __init__(self, graph: DependencyGraph, reached: Mapping[str, SliceSet]) -> None:
        self._graph, self.reached = graph, reached

    def __len__(self) -> int:
        return sum(len(part) for slices in self.reached.values() for _, numbers in slices for part in numbers)

    def __iter__(self) -> Iterator[Slice]:
        """Every slice, by entity, then by sub-partition, then in order of time."""
        for name, slices in self.reached.items():
            node = self._graph.node(name)
            for sub, numbers in slices:
                yield from (node.slice(number, sub) for part in numbers for number in part)


def downstream_closure(
    graph: DependencyGraph, slices: Iterable[Slice], until: datetime, follows: Follows | None = None
) -> Closure:
    """All slices that were or will be computed from these, without the slices themselves.

    Only slices that begin by `until` (aware), because a chain of slices would have no end otherwise. `follows` chooses
    edges (default: all). Raises UnknownEntityError and ParseError for an invalid slice.
    """
    parts: dict[str, dict[Sub, list[range]]] = {}
    for slice_ in slices:
        number = graph.node(slice_.entity).ordinal(slice_)
        parts.setdefault(slice_.entity, {}).setdefault(slice_.sub, []).append(range(number, number + 1))
    seeds = {name: slice_set({sub: union(own) for sub, own in by_sub.items()}) for name, by_sub in parts.items()}
    edges, end = graph.kept(NumberedEdges.of), checked_seconds(until)
    spreading = _Spreading(edges, SliceSteps(edges, end), follows)
    reached = spreading.reached_from({graph.node(name): own for name, own in seeds.items()})
    for name in [name for name, own in reached.items() if has_parts(own)]:
        reached[name] = with_whole(graph.node(name), reached[name], end)
    for name, own in seeds.items():
        reached[name] = without(reached[name], own)
        if not reached[name]:
            del reached[name]
    return Closure(graph, reached)


class _Spreading:
    """Goes from entities to their readers, all entities of a level at once.

    A set of slices is represented by its number in `steps.sets`; `_reached` has one number for each entity.
    """

    def __init__(self, edges: NumberedEdges, steps: SliceSteps, follows: Follows | None) -> None:
        self._edges, self._steps, self._follows = edges, steps, follows
        self._reached = np.zeros(len(edges.names), np.int64)
        self._place = np.empty(len(edges.names), np.int64)
        self._order: list[Numbers] = []

    def reached_from(self, seeds: Mapping[Node, SliceSet]) -> dict[str, SliceSet]:
        """The slices of `seeds` and everything downstream, in the order in which entities are reached."""
        entities = np.array([self._edges.numbers[node] for node in seeds], np.int64)
        new = np.array([self._steps.sets.number(own) for own in seeds.values()], np.int64)
        entities, new = self._merged(entities, new)
        while len(entities):
            entities, new = self._merged(*self._stepped(entities, self._chained(entities, new)))
        order = np.concatenate(self._order)
        names = map(self._edges.names.__getitem__, order.tolist())
        return dict(zip(names, map(self._steps.sets.by_number.__getitem__, self._reached[order].tolist()), strict=True))

    def _chained(self, entities: Numbers, new: Numbers) -> Numbers:
        """Adds the slices that follow through an entity's dependency on its own slices; other edges come later."""
        chains = self._edges.chains[entities]
        at = np.flatnonzero(chains != NO_EDGE)
        at = at[self._taken(chains[at])]
        new = new.copy()
        new[at] = self._steps.chain_end.of(self._edges.shapes[chains[at]], new[at])
        self._reached[entities[at]] = self._steps.union.of(self._reached[entities[at]], new[at])
        return new

    def _stepped(self, entities: Numbers, new: Numbers) -> tuple[Numbers, Numbers]:
        """One step along all edges: the reached entities (with repeats), and the slices reached through each edge."""
        down = self._edges.down
        places, _ = down.places(entities)
        new = np.repeat(new, down.sizes(entities))
        taken = self._taken(down.edges[places])
        places, new = places[taken], new[taken]
        reached = down.others[places]
        slices = self._steps.named.of(self._edges.shapes[down.edges[places]], new)
        first, stop = self._steps.sets.bounds(slices)
        beyond = np.flatnonzero((first < self._edges.first[reached]) | (stop > self._edges.stop[reached]))
        slices[beyond] = self._steps.existing.of(reached[beyond], slices[beyond])
        some = slices != EMPTY
        return reached[some], slices[some]

    def _taken(self, edges: Numbers) -> Numbers | slice:
        if self._follows is None:
            return slice(None)
        return np.flatnonzero([self._follows(self._edges.edges[edge]) for edge in edges.tolist()])

    def _merged(self, entities: Numbers, slices: Numbers) -> tuple[Numbers, Numbers]:
        """Records the reached slices. Returns the entities with new slices, and the new slices of each."""
        different = entities[self._is_first(entities)]
        before = self._reached[different]
        while len(entities):
            first = self._is_first(entities)
            self._reached[entities[first]] = self._steps.union.of(self._reached[entities[first]], slices[first])
            entities, slices = entities[~first], slices[~first]
        self._order.append(different[before == EMPTY])
        grown = self._reached[different] != before
        return different[grown], self._steps.difference.of(self._reached[different[grown]], before[grown])

    def _is_first(self, entities: Numbers) -> npt.NDArray[np.bool_]:
        """Whether each entity occurs for the first time, without sorting."""
        places = np.arange(len(entities))
        self._place[entities[::-1]] = places[::-1]
        is_first: npt.NDArray[np.bool_] = self._place[entities] == places
        return is_first
