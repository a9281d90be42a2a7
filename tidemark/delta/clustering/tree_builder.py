"""Builds a tree of splits from a sample, with about the requested number of files.

Each node takes the first step of the shape that is cheapest for its own rows, and its children choose again. A value
that fills a part is isolated, so that its files hold no other value, and then split by the other columns. If one value
has a large share, the other rows are first separated and shaped alone. Only rows with equal keys are spread over
several files.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tidemark.delta.clustering.column_ranks import Positions
from tidemark.delta.clustering.split_tree import Leaf, Node, Split, file_count
from tidemark.delta.clustering.tile_shape import Points, TileShape, best_shape

_LARGE_SHARE = 0.3
# A part below this share of a file joins its neighbour, unless it is a frequent value.
_LEAST_FILE = 0.25
# A tree whose number of files is further off than this share is built again.
_ROUNDED = 0.03


@dataclass(frozen=True)
class _Part:
    """The rows from this bound up to the next part's bound."""

    bound: int
    rows: int
    is_hot: bool


def build_tree(positions: Sequence[Positions], weights: Sequence[float], files: int) -> Node:
    """The tree for a sample. `positions` has a column for each key, all of the same length.

    Files are numbered from 0 in the order of the tree: about `files` files with about the same number of rows.
    """
    if files < 1 or not positions:
        raise ValueError(f"expected keys and at least one file, found {len(positions)} and {files}")
    if len(positions[0]) == 0:
        return Leaf(0, files)
    points = Points.of(positions)
    tree = _number_files(_grown(points, weights, float(files)), 0)[0]
    count = file_count(tree)
    if abs(count - files) <= _ROUNDED * files:
        return tree
    # Frequent values smaller than a file make additional small files, which filters also read.
    again = _number_files(_grown(points, weights, files * files / count), 0)[0]
    return min(tree, again, key=lambda candidate: abs(np.log(file_count(candidate) / files)))


def _grown(points: Points, weights: Sequence[float], files: float) -> Node:
    if files < 1.5 or points.rows <= 1:
        return Leaf(0, max(1, round(files)))
    shape = best_shape(points, weights, files)
    split = _set_apart(points)
    if split is None or _cost(points, weights, files, split) > shape.cost:
        split = _first_step(points, shape, files)
    if split is None:
        return Leaf(0, round(files))
    column, parts = split
    shares = [part.rows / points.rows * files for part in parts]
    within = _rows_of(points, column, parts)
    children = tuple(_grown(points.of_rows(rows), weights, share) for rows, share in zip(within, shares, strict=True))
    return Split(column, tuple(part.bound for part in parts[1:]), children)


def _cost(points: Points, weights: Sequence[float], files: float, split: tuple[int, list[_Part]]) -> float:
    """The cost if each part is shaped alone."""
    column, parts = split
    total = 0.0
    for rows, part in zip(_rows_of(points, column, parts), parts, strict=True):
        own, share = points.of_rows(rows), part.rows / points.rows * files
        cost = best_shape(own, weights, share).cost
        further = _set_apart(own) if share >= 1.5 else None
        total += cost if further is None else min(cost, _cost(own, weights, share, further))
    return total


def _set_apart(points: Points) -> tuple[int, list[_Part]] | None:
    """The value with the largest share, separated from values below and above it; None if no share is large."""
    best: tuple[int, int, int] | None = None
    for column, positions in enumerate(points.positions):
        values, counts = np.unique(positions, return_counts=True)
        most = int(counts.argmax())
        if len(values) > 1 and counts[most] >= _LARGE_SHARE * points.rows and (best is None or counts[most] > best[0]):
            best = int(counts[most]), column, int(values[most])
    if best is None:
        return None
    count, column, value = best
    below = int((points.positions[column] < value).sum())
    parts = [_Part(0, below, is_hot=False), _Part(value, count, is_hot=True)]
    parts.append(_Part(value + 1, points.rows - below - count, is_hot=False))
    return column, [part for part in parts if part.rows]


def _first_step(points: Points, shape: TileShape, files: float) -> tuple[int, list[_Part]] | None:
    """The first step of a shape that gives more than one part."""
    for number, (column, count) in enumerate(shape.steps):
        is_last = number == len(shape.steps) - 1
        parts = _quantiles(points.positions[column], files, round(files) if is_last else count)
        if len(parts) > 1:
            return column, parts
    return None


def _quantiles(positions: Positions, files: float, count: int) -> list[_Part]:
    """About `count` parts of equal size. A value that fills one is a part of its own."""
    values, counts = np.unique(positions, return_counts=True)
    before = np.cumsum(counts) - counts
    size = len(positions) / max(1, count)
    is_hot = counts >= size
    part = (before / size).astype(np.int64) * 2 + is_hot
    firsts = np.flatnonzero(np.append(True, part[1:] != part[:-1]))
    rows = np.add.reduceat(counts, firsts)
    parts: list[_Part] = []
    for first, own in zip(firsts, rows, strict=True):
        after_hot = bool(parts) and parts[-1].is_hot
        bound = int(values[first - 1]) + 1 if after_hot and not is_hot[first] else int(values[first])
        parts.append(_Part(bound, int(own), bool(is_hot[first])))
    return _join_small(parts, _LEAST_FILE * len(positions) / files)


def _join_small(parts: Sequence[_Part], least: float) -> list[_Part]:
    """The parts with those below `least` rows joined to their neighbours. Frequent values stay alone."""
    joined: list[_Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if last and not last.is_hot and not part.is_hot and min(last.rows, part.rows) < least:
            joined[-1] = _Part(last.bound, last.rows + part.rows, is_hot=False)
        else:
            joined.append(part)
    return joined


def _rows_of(points: Points, column: int, parts: Sequence[_Part]) -> list[Positions]:
    bounds = np.array([part.bound for part in parts[1:]], dtype=np.int64)
    part_of = np.searchsorted(bounds, points.positions[column], side="right")
    order = np.argsort(part_of, kind="stable")
    ends = np.cumsum(np.bincount(part_of, minlength=len(parts)))
    return np.split(order, ends[:-1])


def _number_files(node: Node, first: int) -> tuple[Node, int]:
    """The tree with its files numbered from `first`, and the next number."""
    if isinstance(node, Leaf):
        return Leaf(first, node.width), first + node.width
    children = []
    for child in node.children:
        numbered, first = _number_files(child, first)
        children.append(numbered)
    return Split(node.column, node.bounds, tuple(children)), first
