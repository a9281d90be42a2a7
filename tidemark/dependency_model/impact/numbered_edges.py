"""Entities and dependencies as numbers: 80,000 entities take two megabytes in adjacent memory."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from tidemark.dependency_model.graph.edge_stretches import EdgeStretches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.dependency_model.graph.declared_edges import DeclaredEdges
    from tidemark.dependency_model.graph.edge import Edge
    from tidemark.dependency_model.graph.edge_stretches import Numbers
    from tidemark.dependency_model.graph.node import Node

NO_EDGE: Final = -1


@dataclass(frozen=True, slots=True)
class NumberedEdges:
    """`first` and `stop` bound the existing slices of each entity. `down` leads to the readers of an entity.

    Edges of one shape have the same downstream slices, by number, as far as these exist. `shapes` has the shape of each
    edge, `edge_of` an edge of each shape. A dependency of an entity on its own slices is not in `down`: it is
    `chains[entity]`, or `NO_EDGE`.
    """

    names: Sequence[str]
    numbers: Mapping[Node, int]
    first: Numbers
    stop: Numbers
    edges: Sequence[Edge]
    shapes: Numbers
    edge_of: Sequence[Edge]
    down: EdgeStretches
    chains: Numbers

    @classmethod
    def of(cls, declared: DeclaredEdges) -> Self:
        """The present edges as numbers."""
        count = len(declared.nodes)
        numbers = dict(zip(declared.nodes.values(), range(count), strict=True))
        upstream = declared.adjacency.upstream.values()
        edges = list(chain.from_iterable(upstream))
        below = np.repeat(np.arange(count), np.fromiter(map(len, upstream), np.int64, count))
        above = np.fromiter(map(numbers.__getitem__, map(attrgetter("up"), edges)), np.int64, len(edges))
        own = np.flatnonzero(above == below)
        chains = np.full(count, NO_EDGE)
        chains[below[own]] = own
        others = np.setdiff1d(np.arange(len(edges)), chains, assume_unique=True)
        grouped = EdgeStretches.of(count, above[others], below[others])
        down = EdgeStretches(grouped.bounds, grouped.others, others[grouped.edges])
        shapes, edge_of = _by_shape(edges)
        first = np.fromiter(map(attrgetter("existing.start"), numbers), np.int64, count)
        stop = np.fromiter(map(attrgetter("existing.stop"), numbers), np.int64, count)
        return cls(list(declared.nodes), numbers, first, stop, edges, shapes, edge_of, down, chains)


def _by_shape(edges: Sequence[Edge]) -> tuple[Numbers, Sequence[Edge]]:
    """The shape's number of each edge, and an edge of each shape."""
    shapes = list(map(attrgetter("shape"), edges))
    edge_of = dict(zip(shapes, edges, strict=True))
    number = dict(zip(edge_of, range(len(edge_of)), strict=True))
    return np.fromiter(map(number.__getitem__, shapes), np.int64, len(edges)), list(edge_of.values())
