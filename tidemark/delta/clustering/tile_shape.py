"""Chooses how many parts to cut each column into. It tries shapes on a sample and counts the files that filters read.

A shape is tiles as in Sort-Tile-Recursive (Leutenegger 1997). The first column is cut into parts, and each part is cut
by the quantiles of the next column. The last column takes the rest of the budget of files. A point filter on a column
reads the files whose bounds hold the point. Summed over files that is their extent in the column, so the cost of a
shape is the weighted sum of extents. Balanced shapes are best for independent columns. The trial shows if one column
follows another, or has few values.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tidemark.delta.clustering.column_ranks import Floats, Positions

# (key, number of parts), in order.
Steps = tuple[tuple[int, int], ...]

_ROWS_A_FILE = 128
_LEAST_ROWS, _MOST_ROWS = 512, 16_384


@dataclass(frozen=True)
class Points:
    """A sample: the rows' positions for each key, and the share of filter values below and up to each row's value.

    Half of the filter values are drawn from rows, half from distinct values: readers look for frequent values and for
    rare ones.
    """

    positions: tuple[Positions, ...]
    below: tuple[Floats, ...]
    upto: tuple[Floats, ...]

    @property
    def rows(self) -> int:
        return len(self.positions[0])

    @classmethod
    def of(cls, positions: Sequence[Positions]) -> "Points":
        shares = [_shares(position) for position in positions]
        return cls(tuple(positions), tuple(below for below, _ in shares), tuple(upto for _, upto in shares))

    def of_rows(self, rows: Positions) -> "Points":
        """These rows, with the measures of the whole sample."""
        parts = (self.positions, self.below, self.upto)
        positions, below, upto = (tuple(values[rows] for values in part) for part in parts)
        return Points(positions, below, upto)  # type: ignore[arg-type]

    def thin_to(self, most: int) -> "Points":
        step = self.rows / most
        return self if step <= 1 else self.of_rows((np.arange(most) * step).astype(np.int64))


def _shares(positions: Positions) -> tuple[Floats, Floats]:
    _, inverse, counts = np.unique(positions, return_inverse=True, return_counts=True)
    share = (counts / max(1, len(positions)) + 1 / max(1, len(counts))) / 2
    upto = np.cumsum(share)
    return (upto - share)[inverse], upto[inverse]


@dataclass(frozen=True)
class TileShape:
    """The parts of columns in order: (key, number of parts). The last column takes the rest of the budget."""

    steps: Steps
    cost: float


def best_shape(points: Points, weights: Sequence[float], files: float) -> TileShape:
    """The cheapest shape found for about `files` files. `weights` are the shares of filters on each key."""
    thin = points.thin_to(int(min(max(_LEAST_ROWS, _ROWS_A_FILE * files), _MOST_ROWS)))
    useful = [at for at, column in enumerate(thin.positions) if column.min() != column.max()]
    if not useful:
        return TileShape((), cost(thin, weights, files, ()))
    if len(useful) <= 2:
        return _cheapest(thin, weights, files, _all(useful, files))
    return _search_shape(thin, weights, files, useful)


def _all(columns: Sequence[int], files: float) -> Iterator[Steps]:
    for order in itertools.permutations(columns):
        for parts in itertools.product(_counts(files), repeat=len(order) - 1):
            yield tuple(zip(order, (*parts, 0), strict=True))


def _counts(files: float) -> list[int]:
    """Powers of 2^(1/4) as integers, up to `files`: 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 16, ..."""
    steps = range(int(4 * np.log2(max(1.0, files))) + 2)
    return sorted({min(round(2 ** (step / 4)), max(1, round(files))) for step in steps})


def _search_shape(points: Points, weights: Sequence[float], files: float, columns: Sequence[int]) -> TileShape:
    """For more than two columns: varies one number at a time from balanced parts, then the order, then again."""
    even = max(1, round(files ** (1 / len(columns))))
    best = _cheapest(points, weights, files, [tuple((column, even) for column in columns)])
    for _ in range(2):
        orders = (tuple(order) for order in itertools.permutations(best.steps))
        best = min(best, _cheapest(points, weights, files, orders), key=_by_cost)
        for at in range(len(columns) - 1):
            tried = (_with_count(best.steps, at, count) for count in _counts(files))
            best = min(best, _cheapest(points, weights, files, tried), key=_by_cost)
    return best


def _with_count(steps: Steps, at: int, count: int) -> Steps:
    return (*steps[:at], (steps[at][0], count), *steps[at + 1 :])


def _by_cost(shape: TileShape) -> float:
    return shape.cost


def _cheapest(
    points: Points,
    weights: Sequence[float],
    files: float,
    tried: Iterable[Steps],
) -> TileShape:
    return min((TileShape(steps, cost(points, weights, files, steps)) for steps in tried), key=_by_cost)


def cost(points: Points, weights: Sequence[float], files: float, steps: Sequence[tuple[int, int]]) -> float:
    """Files that a filter on one value reads, by the keys' weights, if all rows were `points` in `files` files."""
    order = np.arange(points.rows)
    starts = np.zeros(1, dtype=np.int64)
    for number, (column, parts) in enumerate(steps):
        is_last = number == len(steps) - 1
        order, starts = _cut_tiles(points.positions[column], order, starts, files, None if is_last else parts)
    rows = np.diff(np.append(starts, points.rows))
    width = np.maximum(1, files * rows / points.rows)
    extents = (
        weight * (np.maximum.reduceat(upto[order], starts) - np.minimum.reduceat(below[order], starts))
        for weight, below, upto in zip(weights, points.below, points.upto, strict=True)
    )
    return float(sum((width * extent).sum() for extent in extents))


def _cut_tiles(
    positions: Positions, order: Positions, starts: Positions, files: float, parts: int | None
) -> tuple[Positions, Positions]:
    """Cut each tile (rows from one start to the next in `order`) at its own quantiles. Returns new order and starts."""
    rows = np.diff(np.append(starts, len(order)))
    tile = np.repeat(np.arange(len(starts)), rows)
    here = positions[order]
    again = np.argsort(tile * (int(positions.max()) + 1) + here, kind="stable")
    order, here = order[again], here[again]
    is_new_tile = np.zeros(len(order), dtype=bool)
    is_new_tile[starts] = True
    is_new_value = is_new_tile | np.append(True, here[1:] != here[:-1])
    firsts = np.flatnonzero(is_new_value)
    runs = np.diff(np.append(firsts, len(order)))
    budget = np.maximum(1, np.round(files * rows / len(order)))
    wanted = budget if parts is None else np.minimum(parts, budget)
    size = (rows / wanted)[tile[firsts]]
    part = ((firsts - starts[tile[firsts]]) / size).astype(np.int64) * 2 + (runs >= size)
    changed = is_new_tile[firsts] | np.append(True, part[1:] != part[:-1])
    return order, firsts[changed]
