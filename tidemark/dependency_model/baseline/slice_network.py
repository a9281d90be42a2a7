"""The open slices and their inputs as arrays, numbered level by level: one level is one step of numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from tidemark.dependency_model.graph.edge_stretches import EdgeStretches

if TYPE_CHECKING:
    import numpy.typing as npt

    from tidemark.dependency_model.graph.edge_stretches import Numbers

    Seconds = npt.NDArray[np.float64]

NO_POOL: Final = -1
"""The slice has no run: it arrives from outside, or is a marker."""


@dataclass(frozen=True, slots=True)
class SliceNetwork:
    """n slices, each after its inputs. All instants are seconds after one origin.

    `order` has the original place of each number. `levels` are the bounds of the levels: slices of a level need only
    slices of earlier levels, and slices with the most inputs come first. `release` is the earliest start. `pool` is a
    number or `NO_POOL`. `rank` is the priority where the pool is full, the smallest first. `latest` has the instant at
    which the wait for each edge ends (in the order of `up`), infinite for a strong edge.
    """

    order: Numbers
    levels: Numbers
    release: Seconds
    pool: Numbers
    rank: Seconds
    up: EdgeStretches
    down: EdgeStretches
    latest: Seconds

    def __len__(self) -> int:
        return len(self.order)

    @classmethod
    def of(
        cls,
        release: Seconds,
        pool: Numbers,
        edges: tuple[Numbers, Numbers],
        *,
        rank: Seconds | None = None,
        latest: Seconds | None = None,
    ) -> Self:
        """The network of slices in any order. `edges` are (input, slice) pairs of places.

        Raises ValueError for a cycle.
        """
        count = len(release)
        order, levels = _leveled(count, *edges)
        number = np.empty(count, np.int64)
        number[order] = np.arange(count)
        above, below = number[edges[0]], number[edges[1]]
        up = EdgeStretches.of(count, below, above)
        cut = np.full(len(above), np.inf) if latest is None else latest
        own_rank = np.arange(count, dtype=np.float64) if rank is None else rank
        return cls(
            order,
            levels,
            release[order].astype(np.float64),
            pool[order],
            own_rank[order],
            up,
            EdgeStretches.of(count, above, below),
            cut[up.edges],
        )

    def numbers(self) -> Numbers:
        """The number of each original place."""
        number = np.empty(len(self), np.int64)
        number[self.order] = np.arange(len(self))
        return number


def _leveled(count: int, above: Numbers, below: Numbers) -> tuple[Numbers, Numbers]:
    """Places ordered by level, and the bounds of the levels."""
    down = EdgeStretches.of(count, above, below)
    missing = np.bincount(below, minlength=count) if len(below) else np.zeros(count, np.int64)
    level = np.flatnonzero(missing == 0)
    order: list[Numbers] = []
    bounds = [0]
    inputs = missing.copy()
    while len(level):
        order.append(level[np.argsort(-inputs[level], kind="stable")])
        bounds.append(bounds[-1] + len(level))
        reached = down.others[down.places(level)[0]]
        np.subtract.at(missing, reached, 1)
        level = np.unique(reached[missing[reached] == 0])
    if bounds[-1] != count:
        raise ValueError("the slices wait for each other")
    return (np.concatenate(order) if order else np.zeros(0, np.int64)), np.array(bounds)
