"""Edges grouped by the number at which they begin: the edges of many numbers are found with one step of numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EdgeStretches:
    """Number i of n has the edges `bounds[i]:bounds[i + 1]` of `others`. `edges` are the edges' own numbers."""

    bounds: Numbers
    others: Numbers
    edges: Numbers

    @classmethod
    def of(cls, count: int, here: Numbers, there: Numbers) -> Self:
        """Groups edges by their number `here`."""
        order = np.argsort(here, kind="stable")
        bounds = np.zeros(count + 1, np.int64)
        np.cumsum(np.bincount(here, minlength=count), out=bounds[1:])
        return cls(bounds, there[order], order)

    def sizes(self, numbers: Numbers) -> Numbers:
        """The number of edges that begin at each of these numbers."""
        return self.bounds[numbers + 1] - self.bounds[numbers]

    def places(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """The places of these numbers' edges, number by number, and the index at which each number's edges begin."""
        sizes = self.sizes(numbers)
        begins = np.concatenate(([0], np.cumsum(sizes)[:-1])) if len(sizes) else np.zeros(0, np.int64)
        places = np.repeat(self.bounds[numbers] - begins, sizes) + np.arange(int(sizes.sum()))
        return places, begins

    def stretch(self, first: int, stop: int) -> tuple[slice, Numbers]:
        """The same as `places` for the numbers `first:stop`, whose edges are adjacent."""
        bounds = self.bounds[first : stop + 1]
        return slice(bounds[0], bounds[-1]), bounds[:-1] - bounds[0]
