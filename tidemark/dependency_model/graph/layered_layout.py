"""A place for each entity in a picture of the whole graph: layers from left to right, in O(V + E) besides sorting.

The layer of an entity is its longest way from a source (cycles that go back in time are cut). A layer is ordered by the
mean place of the neighbours of its entities (the barycenter method, Sugiyama 1981), and is broken into several columns
if it has more entities than the picture has rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.graph.topological_order import topological_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.dependency_model.graph.declared_edges import DeclaredEdges

_FEWEST_ROWS: Final = 16
_ROWS_OF_COLUMNS: Final = 0.5
_GAP: Final = 4
"""Columns between layers that have several."""


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """Names in the order of computation, with their column and row, and the edges by these numbers."""

    names: tuple[str, ...]
    columns: Sequence[int]
    rows: Sequence[int]
    up: Sequence[int]
    down: Sequence[int]


def layered_layout(edges: DeclaredEdges) -> GraphLayout:
    """The layout of all entities; each pair of entities has one edge, and no entity has one to itself."""
    names = topological_order(edges.adjacency)
    number = {name: at for at, name in enumerate(names)}
    upstream = [_neighbours(name, number, edges) for name in names]
    downstream: list[list[int]] = [[] for _ in names]
    for down, ups in enumerate(upstream):
        for up in ups:
            downstream[up].append(down)
    layers = _layers(upstream)
    _order(layers, upstream, downstream)
    columns, rows = _places(layers, len(names))
    return GraphLayout(
        names,
        columns,
        rows,
        [up for ups in upstream for up in ups],
        [down for down, ups in enumerate(upstream) for _ in ups],
    )


def _neighbours(name: str, number: Mapping[str, int], edges: DeclaredEdges) -> list[int]:
    ups = dict.fromkeys(number[edge.up.name] for edge in edges.adjacency.upstream[name])
    ups.pop(number[name], None)
    return list(ups)


def _layers(upstream: Sequence[Sequence[int]]) -> list[list[int]]:
    depth: list[int] = []
    layers: list[list[int]] = []
    for number, ups in enumerate(upstream):
        own = max((depth[up] + 1 for up in ups if up < number), default=0)
        depth.append(own)
        if own == len(layers):
            layers.append([])
        layers[own].append(number)
    return layers


def _order(layers: Sequence[list[int]], upstream: Sequence[Sequence[int]], downstream: Sequence[Sequence[int]]) -> None:
    """Sorts each layer, down and up again. Places are shares of the height, so layers of any size compare."""
    place = [0.5] * len(upstream)
    for layer in layers:
        _put(layer, place)
    for way, neighbours in ((layers[1:], upstream), (layers[-2::-1], downstream), (layers[1:], upstream)):
        for layer in way:
            wanted = {at: _mean(neighbours[at], place, place[at]) for at in layer}
            layer.sort(key=wanted.__getitem__)
            _put(layer, place)


def _put(layer: Sequence[int], place: list[float]) -> None:
    for at, number in enumerate(layer):
        place[number] = (at + 0.5) / len(layer)


def _mean(neighbours: Sequence[int], place: Sequence[float], otherwise: float) -> float:
    return sum(place[at] for at in neighbours) / len(neighbours) if neighbours else otherwise


def _places(layers: Sequence[Sequence[int]], count: int) -> tuple[list[int], list[int]]:
    """The column and row of each number; a layer stands in the middle of the height."""
    height = max(_FEWEST_ROWS, ceil(sqrt(count * _ROWS_OF_COLUMNS)))
    columns, rows, begin = [0] * count, [0] * count, 0
    for layer in layers:
        wide = ceil(len(layer) / height)
        high = ceil(len(layer) / wide)
        for at, number in enumerate(layer):
            columns[number] = begin + at % wide
            rows[number] = (height - high) // 2 + at // wide
        begin += wide + (_GAP if wide > 1 else 0)
    return columns, rows
