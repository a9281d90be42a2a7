"""A project's own replay, forecast day by day: how long each slice was said to take before its day began, and took.

A replay goes through past days as fast as it can: when a slice starts depends on how the days overtake each other,
which no forecast can know. How long it takes is judged: from its start, or, in a run that it shares with others, from
the end of the one before it, as the product learns it.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tidemark.center.baseline import RunHistory
from tidemark.center.baseline.declared_slices import groups_of
from tidemark.dependency_model.baseline.learned_times import LEVELS, HistoryLabel
from tidemark.dependency_model.readiness.self_starting_slices import is_scheduled
from tidemark.dependency_model.status import RunState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.timings import Timing

_DATE: Final = len("2026-03-29")


@dataclass(frozen=True, slots=True)
class ReplayedSlice:
    """Seconds as they were predicted (5 %, median, 95 %) and as they were; `label`: of what they were learned from."""

    label: HistoryLabel
    low: float
    middle: float
    high: float
    real: float

    @property
    def is_inside(self) -> bool:
        return self.low <= self.real <= self.high


def measure_replay(graph: DependencyGraph, timings: Sequence[Timing]) -> dict[str, Any]:
    """Of the slices whose entities had a history; by day: how many intervals held, seconds predicted and real."""
    told = [timing for timing in timings if timing.slice.entity in graph]
    after = RunHistory(graph, told)
    took = {slice_: observed.amount for name in graph for slice_, observed in after.runs(name)}
    by_day = {day: _of_day(graph, told, day, took) for day in _days(told)}
    known = {
        day: [slice_ for slice_ in of_day if slice_.label is not HistoryLabel.NONE] for day, of_day in by_day.items()
    }
    every = [slice_ for of_day in known.values() for slice_ in of_day]
    off = [abs(slice_.real - slice_.middle) for slice_ in every]
    return {
        "replay_days": len(by_day),
        "replay_slices": sum(map(len, by_day.values())),
        "replay_with_history": len(every),
        "replay_coverage_p90": round(statistics.fmean(slice_.is_inside for slice_ in every), 3) if every else None,
        "replay_error_s_p50": round(statistics.median(off), 1) if off else None,
        "replay_by_day": {day: _figures(of_day) for day, of_day in known.items() if of_day},
    }


def _figures(of_day: Sequence[ReplayedSlice]) -> dict[str, float]:
    return {
        "coverage_p90": round(statistics.fmean(slice_.is_inside for slice_ in of_day), 3),
        "predicted_s": round(sum(slice_.middle for slice_ in of_day), 1),
        "real_s": round(sum(slice_.real for slice_ in of_day), 1),
    }


def _days(told: Sequence[Timing]) -> list[str]:
    """The business days of which something was computed."""
    keys = {timing.slice.key for timing in told if timing.run_state is RunState.LAUNCHED}
    return sorted({key[:_DATE] for key in keys if len(key) >= _DATE})


def _of_day(
    graph: DependencyGraph, told: Sequence[Timing], day: str, took: Mapping[Slice, float]
) -> list[ReplayedSlice]:
    own = [timing for timing in told if timing.slice.key.startswith(day)]
    began = min(timing.at for timing in own if timing.run_state is RunState.LAUNCHED)
    history = RunHistory(graph, [timing for timing in told if timing.at < began])
    computed = {timing.slice for timing in own if timing.event == "completed"} & took.keys()
    replayed = []
    for slice_ in sorted(computed):
        if is_scheduled(graph.entity(slice_.entity)):
            times = history.times(slice_.entity)
            quantiles = times.quantiles(began, groups_of(graph.entity(slice_.entity), graph.window(slice_)))
            low, middle, high = np.interp((0.05, 0.5, 0.95), LEVELS, quantiles).tolist()
            replayed.append(ReplayedSlice(times.label, low, middle, high, took[slice_]))
    return replayed
