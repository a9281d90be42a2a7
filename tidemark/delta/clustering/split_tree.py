"""A tree of splits that assigns rows to output files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tidemark.delta.clustering.column_ranks import Positions


@dataclass(frozen=True)
class Leaf:
    """Rows of the files `first` to `first + width - 1`; several files if the keys cannot separate the rows."""

    first: int
    width: int


@dataclass(frozen=True)
class Split:
    """Child i has the rows whose position in key `column` is at least bounds[i - 1] and less than bounds[i]."""

    column: int
    bounds: tuple[int, ...]
    children: tuple["Node", ...]


Node = Leaf | Split


def leaves(node: Node) -> Iterator[Leaf]:
    """All leaves in the order of their files."""
    if isinstance(node, Leaf):
        yield node
        return
    for child in node.children:
        yield from leaves(child)


def file_count(node: Node) -> int:
    """The number of files of the tree."""
    return sum(leaf.width for leaf in leaves(node))


def assign_files(node: Node, positions: Sequence[Positions], scatter: Positions) -> Positions:
    """The file of each row. `scatter` (any numbers from 0) spreads the rows of a leaf over its files."""
    file_of = np.empty(len(scatter), dtype=np.int64)
    _assign(node, positions, scatter, np.arange(len(scatter)), file_of)
    return file_of


def _assign(
    node: Node, positions: Sequence[Positions], scatter: Positions, rows: Positions, file_of: Positions
) -> None:
    if isinstance(node, Leaf):
        file_of[rows] = node.first + scatter[rows] % node.width
        return
    child_of = np.searchsorted(np.asarray(node.bounds), positions[node.column][rows], side="right")
    for number, child in enumerate(node.children):
        _assign(child, positions, scatter, rows[child_of == number], file_of)
