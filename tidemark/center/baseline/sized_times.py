"""Durations of slices with inputs of unusual size, present or predicted.

A missing input has its usual size, changed by the size of its own inputs: sizes propagate down the graph, as far as
past slices had more rows when their inputs had more rows.
"""

from __future__ import annotations

from itertools import islice
from math import exp, log1p
from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.dependency_model.baseline.size_effect import UNUSUAL, SizeEffect, size_effect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.center.baseline.declared_slices import DeclaredSlices
    from tidemark.center.baseline.run_history import RunHistory
    from tidemark.dependency_model.baseline.learned_times import LearnedTimes
    from tidemark.dependency_model.slice import Slice

_RUNS: Final = 90
_MOST: Final = 500
"""Most entities whose effects are learned for one forecast, because each takes milliseconds.

For others the effect is unknown, and the range wider.
"""


class _Effects(NamedTuple):
    """Effects of input size: on duration, and on the number of rows."""

    times: SizeEffect
    rows: SizeEffect


class SizedTimes:
    """For one forecast, at `at` (seconds since 1970)."""

    def __init__(self, declared: DeclaredSlices, history: RunHistory, at: float) -> None:
        self._declared, self._history, self._at = declared, history, at
        self._learned: dict[str, _Effects] = {}

    def excesses(self, slices: Sequence[Slice]) -> dict[int, float]:
        """For slices with unusual input sizes: by number, the logarithm of (input size / usual size), to one decimal.

        `slices` are the open slices, inputs first.
        """
        told: dict[int, float] = {}
        written: dict[Slice, float] = {}
        for number, slice_ in enumerate(slices):
            excess = self._excess(slice_, written)
            if abs(excess) >= UNUSUAL:
                told[number] = round(excess, 1)
                written[slice_] = self._effects(slice_.entity).rows.slope * excess
        return told

    def times(self, entity: str, excess: float) -> LearnedTimes:
        """Learned times of an entity, for a slice with this excess of input."""
        times = self._history.times(entity)
        return self._effects(entity).times.on(times, excess) if excess else times

    def _excess(self, slice_: Slice, written: Mapping[Slice, float]) -> float:
        """The excess of all its inputs together; `written` has the excess of unusual predicted inputs."""
        inputs = [input_ for input_, _ in self._declared[slice_].inputs]
        if not any(input_ in written or self._is_unusual(input_) for input_ in inputs):
            return 0.0
        rows = usual = 0.0
        sizes = self._history.sizes
        for input_ in inputs:
            own, expected = sizes.rows(input_), sizes.usual(input_)
            if expected is None:
                expected = sizes.expected(input_.entity, self._at, self._declared[input_].groups) or 0.0
            rows += expected * exp(written.get(input_, 0.0)) if own is None else own
            usual += expected
        return log1p(rows) - log1p(usual)

    def _is_unusual(self, slice_: Slice) -> bool:
        return self._history.sizes.usual(slice_) != self._history.sizes.rows(slice_)

    def _effects(self, entity: str) -> _Effects:
        if entity not in self._learned:
            is_known = len(self._learned) < _MOST
            self._learned[entity] = self._learn(entity) if is_known else _Effects(SizeEffect(), SizeEffect())
        return self._learned[entity]

    def _learn(self, entity: str) -> _Effects:
        times, took, became = self._history.times(entity), list[tuple[float, float]](), list[tuple[float, float]]()
        for slice_, observed in islice(self._history.runs(entity), _RUNS):
            read = self._excess(slice_, {})
            longer = log1p(max(observed.amount, 0.0)) - times.center(observed.at, observed.groups)
            took.append((read, longer))
            rows, usual = self._history.sizes.rows(slice_), self._history.sizes.usual(slice_)
            if rows is not None and usual is not None:
                became.append((read, log1p(rows) - log1p(usual)))
        return _Effects(size_effect(took), size_effect(became))
