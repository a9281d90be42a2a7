"""Edges grouped by the number of what they begin at, so that those of very many come with one step of numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EdgeStretches:
    """Of each of n numbers a stretch `bounds[i]:bounds[i + 1]` of `others`; `edges` are the edges' own numbers."""

    bounds: Numbers
    others: Numbers
    edges: Numbers

    @classmethod
    def of(cls, count: int, here: Numbers, there: Numbers) -> Self:
        """Edges grouped by the number `here`."""
        order = np.argsort(here, kind="stable")
        bounds = np.zeros(count + 1, np.int64)
        np.cumsum(np.bincount(here, minlength=count), out=bounds[1:])
        return cls(bounds, there[order], order)

    def sizes(self, numbers: Numbers) -> Numbers:
        """How many edges begin at each of these."""
        return self.bounds[numbers + 1] - self.bounds[numbers]

    def places(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """The places of the edges of these numbers, one number after the other, and where those of each begin."""
        sizes = self.sizes(numbers)
        begins = np.concatenate(([0], np.cumsum(sizes)[:-1])) if len(sizes) else np.zeros(0, np.int64)
        places = np.repeat(self.bounds[numbers] - begins, sizes) + np.arange(int(sizes.sum()))
        return places, begins

    def stretch(self, first: int, stop: int) -> tuple[slice, Numbers]:
        """The same of the numbers `first:stop`, whose edges lie together."""
        bounds = self.bounds[first : stop + 1]
        return slice(bounds[0], bounds[-1]), bounds[:-1] - bounds[0]
