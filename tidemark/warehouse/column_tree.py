"""The tree of columns upstream or downstream of a column, with each column followed once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

Step = Callable[[str], Sequence[str]]


class TreeLine(NamedTuple):
    """A column of the tree. The root's own columns have depth 1.

    `is_again`: it was followed above, or is on the path to here. `is_cut`: its own columns are deeper than requested.
    """

    depth: int
    column: str
    is_again: bool = False
    is_cut: bool = False


def tree_lines(root: str, step: Step, depth: int) -> Iterator[TreeLine]:
    """The lines below a root, each column above its own columns."""
    followed = {root}
    stack = [TreeLine(1, column) for column in reversed(step(root))]
    while stack:
        at, column, _, _ = stack.pop()
        below = step(column)
        is_again, is_cut = column in followed and bool(below), at >= depth and bool(below)
        yield TreeLine(at, column, is_again, is_cut and not is_again)
        if not is_again and not is_cut:
            followed.add(column)
            stack += [TreeLine(at + 1, other) for other in reversed(below)]
