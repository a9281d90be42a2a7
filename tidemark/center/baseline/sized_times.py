"""How long slices take that read more or less than usual, as far as their inputs are there."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from math import log1p
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.baseline.size_effect import UNUSUAL, SizeEffect, size_effect

if TYPE_CHECKING:
    from tidemark.center.baseline.declared_slices import DeclaredSlices
    from tidemark.center.baseline.run_history import RunHistory
    from tidemark.dependency_model.baseline.learned_times import LearnedTimes
    from tidemark.dependency_model.slice import Slice

_RUNS: Final = 90
_MOST: Final = 500
"""Of so many entities the effect is learned for one forecast: each takes some milliseconds. Of others nothing is known,
which a wider answer says."""


class SizedTimes:
    """For one forecast."""

    def __init__(self, declared: DeclaredSlices, history: RunHistory) -> None:
        self._declared, self._history = declared, history
        self._learned = 0
        self._effect = lru_cache(maxsize=None)(self._learn_effect)

    def excess(self, slice_: Slice) -> float:
        """The logarithm of how many times as much as usual a slice reads, to a tenth; 0 where that is nothing unusual.

        Inputs that are not there yet are left out on both sides.
        """
        known = [input_ for input_, _ in self._declared[slice_].inputs]
        excess = self._history.sizes.excess(known) if known else 0.0
        return round(excess, 1) if abs(excess) >= UNUSUAL else 0.0

    def times(self, entity: str, excess: float) -> LearnedTimes:
        """What was learned of an entity, for a slice that reads so much more."""
        times = self._history.times(entity)
        return self._effect(entity).on(times, excess) if excess else times

    def _learn_effect(self, entity: str) -> SizeEffect:
        if self._learned >= _MOST:
            return SizeEffect()
        self._learned += 1
        times, sizes = self._history.times(entity), self._history.sizes
        return size_effect(
            [
                (
                    sizes.excess([input_ for input_, _ in self._declared[slice_].inputs]),
                    log1p(max(observed.amount, 0.0)) - times.center(observed.at, observed.groups),
                )
                for slice_, observed in islice(self._history.runs(entity), _RUNS)
            ]
        )
