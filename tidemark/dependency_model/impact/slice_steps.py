"""Operations on sets of slices. Each is computed once for all entities that are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.sub_partition import WHOLE
from tidemark.dependency_model.impact.slice_sets import ByPair, SliceSets, slice_set, united, without
from tidemark.dependency_model.impact.stretches import clipped, stretches_of, union

if TYPE_CHECKING:
    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.dependency_model.graph.edge import Edge
    from tidemark.dependency_model.graph.node import Node
    from tidemark.dependency_model.impact.numbered_edges import NumberedEdges
    from tidemark.dependency_model.impact.slice_sets import SliceSet
    from tidemark.dependency_model.impact.stretches import Stretches


class SliceSteps:
    """Operations on the set numbers of `sets`.

    `named` (shape of edges, upstream set): the slices that read the set and begin by `until` (seconds); some may not
    exist. `existing` (entity without sub-partitions, set): the slices that exist. `chain_end` (shape of an entity's
    edge to itself, set): the set and all slices that follow from it. `union` and `difference` (set, set).
    """

    def __init__(self, edges: NumberedEdges, until: int) -> None:
        self._edges, self._until = edges, until
        self.sets = SliceSets()
        self.named, self.existing, self.chain_end = ByPair(self._named), ByPair(self._existing), ByPair(self._chain_end)
        self.union, self.difference = ByPair(self._union), ByPair(self._difference)
        self._down: dict[tuple[object, Sub, Sub], dict[int, Stretches]] = {}

    def _named(self, shape: int, number: int) -> int:
        return self.sets.number(self._one_step(self._edges.edge_of[shape], self.sets.by_number[number]))

    def _existing(self, entity: int, number: int) -> int:
        existing = range(self._edges.first[entity], self._edges.stop[entity])
        slices = self.sets.by_number[number]
        return self.sets.number(slice_set({sub: clipped(own, existing) for sub, own in slices}))

    def _chain_end(self, shape: int, number: int) -> int:
        edge, reached = self._edges.edge_of[shape], self.sets.by_number[number]
        new = reached
        while new:
            new = without(self._one_step(edge, new), reached)
            reached = united(reached, new)
        return self.sets.number(reached)

    def _union(self, left: int, right: int) -> int:
        return self.sets.number(united(self.sets.by_number[left], self.sets.by_number[right]))

    def _difference(self, left: int, right: int) -> int:
        return self.sets.number(without(self.sets.by_number[left], self.sets.by_number[right]))

    def _one_step(self, edge: Edge, slices: SliceSet) -> SliceSet:
        """The slices that an edge leads to. A whole slice counts as all of its parts that exist."""
        by_sub = dict(slices)
        whole = by_sub.get(WHOLE, ())
        parts: dict[Sub, list[range]] = {}
        for sub, up_sub in edge.sub_pairs():
            down = self._down.setdefault((edge.shape, up_sub, sub), {})
            stretches = by_sub.get(up_sub, ())
            if whole and up_sub != WHOLE:
                stretches = union((*stretches, *clipped(whole, edge.up.existing_of(up_sub))))
            for number in (number for stretch in stretches for number in stretch):
                if number not in down:
                    down[number] = tuple(stretches_of(edge.downstream_numbers(number, up_sub, sub, self._until)))
                parts.setdefault(sub, []).extend(down[number])
        return slice_set({sub: clipped(union(own), _bounds(edge, sub, self._until)) for sub, own in parts.items()})


def with_whole(node: Node, slices: SliceSet, until: int) -> SliceSet:
    """Adds the whole slices of the parts.

    They are not followed further, because readers of the entity read its parts.
    """
    parts = union(part for sub, numbers in slices if sub != WHOLE for part in numbers)
    return united(slices, slice_set({WHOLE: clipped(parts, _existing_until(node, WHOLE, until))}))


def _bounds(edge: Edge, sub: Sub, until: int) -> range:
    """The downstream slices that begin by an instant. They may not exist, unless the edge is bounded."""
    grid = edge.down.grid_of(sub)
    if grid is None or edge.is_bounded:
        return _existing_until(edge.down, sub, until)
    return range(grid.first, grid.at(until) + 1)


def _existing_until(node: Node, sub: Sub, until: int) -> range:
    """The slices that exist and begin by an instant."""
    grid, existing = node.grid_of(sub), node.existing_of(sub)
    return range(existing.start, min(existing.stop, grid.at(until) + 1)) if grid else existing
