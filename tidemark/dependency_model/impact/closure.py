"""The exact slices downstream of some slices, over all periods and any number of steps (seed capability D4).

Entity by entity, with the numbers of the slices as stretches: what a change reaches in one step is worked out once for
all edges with the same periods and offset, so that the price is one of entities and not of slices. A slice that is
reached again, by another way, goes no further a second time; so cycles between entities end, too.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.sub_partition import WHOLE
from tidemark.dependency_model.impact.stretches import Stretches, clipped, difference, stretches_of, union
from tidemark.dependency_model.time.local_calendar import checked_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.dependency_model.graph.edge import Edge
    from tidemark.dependency_model.graph.graph import DependencyGraph
    from tidemark.dependency_model.graph.node import Node
    from tidemark.dependency_model.slice import Slice

    Place = tuple[str, Sub]
    Follows = Callable[[Edge], bool]


class Closure:
    """`reached` has the numbers of the slices by entity and sub-partition, nearer entities first."""

    def __init__(self, graph: DependencyGraph, reached: Mapping[Place, Stretches]) -> None:
        self._graph, self.reached = graph, reached

    def __len__(self) -> int:
        return sum(len(part) for stretches in self.reached.values() for part in stretches)

    def __iter__(self) -> Iterator[Slice]:
        """Every slice: of one entity and sub-partition in order of time."""
        for (name, sub), stretches in self.reached.items():
            node = self._graph.node(name)
            yield from (node.slice(number, sub) for part in stretches for number in part)


def downstream_closure(
    graph: DependencyGraph, slices: Iterable[Slice], until: datetime, follows: Follows | None = None
) -> Closure:
    """All slices that were, or will be, computed from these, the slices themselves left out.

    Only those that begin by `until` (aware): a slice that follows the one before it would have no end otherwise.
    `follows` says of an edge whether it is taken; all are, where it is left out. Raises UnknownEntityError and
    ParseError for a slice that there is not.
    """
    walk = _Spreading(graph, checked_seconds(until), follows)
    parts: dict[Place, list[range]] = {}
    for slice_ in slices:
        number = graph.node(slice_.entity).ordinal(slice_)
        parts.setdefault((slice_.entity, slice_.sub), []).append(range(number, number + 1))
    seeds = {place: union(numbers) for place, numbers in parts.items()}
    for (name, sub), numbers in seeds.items():
        walk.reach(graph.node(name), sub, numbers)
    walk.finish()
    left = ((place, difference(numbers, seeds.get(place, ()))) for place, numbers in walk.reached.items())
    return Closure(graph, {place: numbers for place, numbers in left if numbers})


class _Spreading:
    """`pending` has what was reached and not gone on from, by entity, `order` these entities as they were reached."""

    def __init__(self, graph: DependencyGraph, until: int, follows: Follows | None) -> None:
        self._graph, self._until, self._follows = graph, until, follows
        self.reached: dict[Place, Stretches] = {}
        self._pending: dict[str, dict[Sub, Stretches]] = {}
        self._order: deque[str] = deque()
        self._steps: dict[tuple[object, ...], Stretches] = {}

    def reach(self, node: Node, sub: Sub, numbers: Stretches) -> None:
        """Note slices; those that are new are gone on from."""
        place = (node.name, sub)
        known = self.reached.get(place)
        new = numbers
        if known is not None:
            new = difference(numbers, known)
            if not new:
                return
            self.reached[place] = union((*known, *new))
        elif numbers:
            self.reached[place] = numbers
        else:
            return
        pending = self._pending.get(node.name)
        if pending is None:
            self._pending[node.name] = {sub: new}
            self._order.append(node.name)
        else:
            pending[sub] = union((*pending.get(sub, ()), *new))

    def finish(self) -> None:
        """Go on until nothing new is reached."""
        while self._order:
            name = self._order.popleft()
            by_sub = self._pending.pop(name)
            edges = self._graph.downstream_edges(name)
            if self._follows:
                edges = [edge for edge in edges if self._follows(edge)]
            for sub, numbers in by_sub.items():
                if edges and not edges[0].up.is_parted:
                    self._go_on(edges, numbers)
                elif self._graph.node(name).is_parted:
                    self._go_on_by_part(self._graph.node(name), edges, sub, numbers)

    def _go_on(self, edges: Sequence[Edge], numbers: Stretches) -> None:
        """From slices without sub-partitions; a chain of an entity's own slices is followed to its end first."""
        for edge in edges:
            if edge.down is edge.up:
                numbers = self._end_of_chain(edge, numbers)
                place = (edge.up.name, WHOLE)
                self.reached[place] = union((*self.reached[place], *numbers))
        for edge in edges:
            if edge.down.is_parted:
                self._step_by_part(edge, WHOLE, numbers)
            else:
                self.reach(edge.down, WHOLE, self._step(edge, numbers))

    def _end_of_chain(self, chain: Edge, numbers: Stretches) -> Stretches:
        key = (chain.shape, numbers, "chain")
        known = self._steps.get(key)
        if known is None:
            parts, new = numbers, numbers
            while new:
                new = difference(self._step(chain, new), parts)
                parts = union((*parts, *new))
            known = self._steps[key] = parts
        return known

    def _step(self, edge: Edge, numbers: Stretches) -> Stretches:
        """What one edge makes of some slices, where neither side has sub-partitions."""
        key = (edge.shape, numbers)
        known = self._steps.get(key)
        if known is None:
            down = (edge.downstream_numbers(number, self._until) for stretch in numbers for number in stretch)
            parts = (part for numbers_of_step in down for part in stretches_of(numbers_of_step))
            known = self._steps[key] = union(clipped(parts, self._existing(edge.down)))
        return known

    def _existing(self, node: Node, sub: Sub = WHOLE) -> range:
        """The slices that exist and begin by the end of the question."""
        grid, existing = node.grid_of(sub), node.existing_of(sub)
        return range(existing.start, min(existing.stop, grid.at(self._until) + 1)) if grid else existing

    def _go_on_by_part(self, node: Node, edges: Iterable[Edge], sub: Sub, numbers: Stretches) -> None:
        """From slices of an entity with sub-partitions; the whole is there once its parts are."""
        for own_sub in node.subs if sub == WHOLE else (sub,):
            for edge in edges:
                self._step_by_part(edge, own_sub, numbers)
        if sub != WHOLE:  # who needs the entity needs its parts: nothing goes on from the whole
            whole = union(clipped(numbers, self._existing(node)))
            self.reached[node.name, WHOLE] = union((*self.reached.get((node.name, WHOLE), ()), *whole))

    def _step_by_part(self, edge: Edge, sub: Sub, numbers: Stretches) -> None:
        by_sub: dict[Sub, list[range]] = {}
        for number in (number for stretch in numbers for number in stretch):
            for down, down_sub in edge.inverse(number, sub, self._until):
                by_sub.setdefault(down_sub, []).append(range(down, down + 1))
        for down_sub, parts in by_sub.items():
            self.reach(edge.down, down_sub, union(clipped(parts, self._existing(edge.down, down_sub))))
