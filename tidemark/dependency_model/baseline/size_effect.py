"""The extra time of a run that reads more than usual, learned from past runs (seed capability A9).

If a run reads k times as much, the logarithm of its time grows by `slope` times log k. The slope is 0 if all time is
overhead and 1 if all time is reading. It starts in the middle, and runs of unusual size narrow it down (Bayesian linear
regression with one coefficient: Gelman et al., Bayesian Data Analysis, 3rd ed., ch. 14.8).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
from typing import TYPE_CHECKING, Final

import numpy as np

from tidemark.dependency_model.baseline.learned_times import NORMAL, TO_DEVIATION, HistoryLabel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.baseline.learned_times import LearnedTimes

UNUSUAL: Final = log(1.5)
"""The logarithm from which an input size counts as unusual."""
_SLOPE: Final = 0.5
_DOUBT: Final = 0.5
_STEEPEST: Final = 1.5
_LEAST_NOISE: Final = 0.05


@dataclass(frozen=True, slots=True)
class SizeEffect:
    """`doubt` is the standard deviation of `slope`."""

    slope: float = _SLOPE
    doubt: float = _DOUBT

    def on(self, times: LearnedTimes, excess: float) -> LearnedTimes:
        """The times of a run that reads exp(`excess`) times as much as usual."""
        return replace(
            times,
            label=HistoryLabel.CHANGED if times.count else times.label,
            level=times.level + self.slope * excess,
            spread=times.spread + NORMAL * (self.doubt * abs(excess)),
        )


def size_effect(runs: Sequence[tuple[float, float]]) -> SizeEffect:
    """The effect, from past runs:

    logarithms of the size that was read and of the time, each relative to the usual value.
    """
    if not runs:
        return SizeEffect()
    read, took = np.array(runs, np.float64).T
    slope, precision = _SLOPE, _DOUBT**-2
    for _ in range(3):
        rest = took - slope * read
        noise = max(_LEAST_NOISE, TO_DEVIATION * float(np.median(np.abs(rest - np.median(rest)))))
        precision = _DOUBT**-2 + float(read @ read) / noise**2
        slope = (_SLOPE * _DOUBT**-2 + float(read @ took) / noise**2) / precision
    return SizeEffect(float(np.clip(slope, 0.0, _STEEPEST)), precision**-0.5)
