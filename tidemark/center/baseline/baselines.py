"""The state of a project's promises: predicted finish, margin, key path, causes of delay, time left for a repair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from tidemark.dependency_model.baseline.forecast import Forecast
from tidemark.dependency_model.baseline.key_path import Cause, Deviation, deviations, key_path
from tidemark.dependency_model.baseline.promise import Margin, PromiseState, latest_starts, margin_of
from tidemark.dependency_model.baseline.repair_time import RepairTime, repair_time
from tidemark.dependency_model.readiness.earliest_time import ready_by
from tidemark.dependency_model.status import RunState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tidemark.center.baseline.open_slices import OpenSlices, SliceSource
    from tidemark.dependency_model.baseline.learned_times import HistoryLabel
    from tidemark.dependency_model.slice import Slice

BEHIND: Final = timedelta(days=1)
AHEAD: Final = timedelta(days=1)
"""Promises from a day ago to a day ahead: the ones that are open or due today."""


@dataclass(frozen=True, slots=True)
class PathStep:
    """A slice of the key path with its predicted start and finish (median; aware), and its wait for a pool."""

    slice: Slice
    start: datetime
    finish: datetime
    label: HistoryLabel
    room: timedelta
    repair_by: datetime
    """The last time at which a repair run can start and still keep the promise."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The promise of one slice. Instants are aware; for a completed slice `finish` is None and the path is empty."""

    slice: Slice
    owner: str
    priority: int
    ready_by: datetime
    state: PromiseState
    p50: datetime | None = None
    p90: datetime | None = None
    p99: datetime | None = None
    late: float = 0.0
    path: tuple[PathStep, ...] = ()
    causes: tuple[str, ...] = ()
    cause_keys: tuple[str, ...] = ()
    """The subjects of `causes`, without figures that change: an alert is sent once for each subject."""

    @property
    def cause(self) -> str:
        """The subject of the first of `causes`."""
        return self.cause_keys[0] if self.cause_keys else ""

    @property
    def margin(self) -> timedelta | None:
        """`ready_by` minus the median finish."""
        return None if self.p50 is None else self.ready_by - self.p50


class Baselines:
    """Promises at one instant; the graph is evaluated once, at the first question."""

    def __init__(self, source: SliceSource, names: Iterable[str] | None = None) -> None:
        self._source = source
        graph = source.graph
        chosen = list(graph) if names is None else list(names)
        self._names = [name for name in chosen if graph.entity(name).is_promised]

    @cached_property
    def promised(self) -> dict[Slice, datetime]:
        """All slices promised for a time from a day ago to a day ahead."""
        return {slice_: instant for name in self._names for slice_, instant in self._promised(name)}

    @cached_property
    def open(self) -> OpenSlices:
        """Incomplete slices that promises depend on."""
        return self._source.open_slices(self.promised)

    @cached_property
    def forecast(self) -> Forecast:
        """The forecast of all open slices."""
        capacity = list(self._source.pools.capacity.values())
        return Forecast.of(self.open.network, self.open.durations, capacity)

    def all(self) -> list[Baseline]:
        """Open promised slices, smallest margin first."""
        open_ = [slice_ for slice_ in self.promised if slice_ in self.open.number]
        return sorted(map(self.of, open_), key=_urgency)

    def of(self, slice_: Slice) -> Baseline:
        """The promise of a slice."""
        entity, instant = self._source.graph.entity(slice_.entity), self.promised[slice_]
        baseline = Baseline(slice_, entity.owner, entity.priority, instant, PromiseState.SAFE)
        number = self.open.number.get(slice_)
        if number is None:
            return baseline
        by = (instant - self.open.now).total_seconds()
        margin = margin_of(self.forecast, number, by, entity.alert_margin.total_seconds())
        path = key_path(self.forecast, number)
        told, state = deviations(self.forecast, path, 0.0, self.open.troubled), self._state(margin, path)
        if not told and state is not PromiseState.SAFE:
            told = [_longest(self.forecast, path)]
        return replace(
            baseline,
            state=state,
            p50=self._instant(margin.p50),
            p90=self._instant(margin.p90),
            p99=self._instant(margin.p99),
            late=margin.late,
            path=tuple(self._step(at) for at in path),
            causes=tuple(self._sentence(deviation) for deviation in told),
            cause_keys=tuple(f"{self.open.slices[deviation.number]} {deviation.cause.value}" for deviation in told),
        )

    def repair(self, slices: Iterable[Slice]) -> RepairTime:
        """The time to compute these slices, and the slices built from them, beside active runs."""
        return self.rebuilding(self._built_of(slices))

    def rebuilding(self, slices: Iterable[Slice]) -> RepairTime:
        """The time to compute exactly these slices, beside active runs."""
        anew = list(slices)
        open_ = self._source.open_slices(self.promised, anew=anew)
        capacity = list(self._source.pools.capacity.values())
        return repair_time(
            open_.network, open_.durations, capacity, np.array([open_.number[slice_] for slice_ in anew], np.int64)
        )

    def _built_of(self, slices: Iterable[Slice]) -> list[Slice]:
        """The slices, and completed slices downstream."""
        told = dict.fromkeys(slices)
        open_ = list(told)
        while open_:
            for below in self._source.graph.downstream(open_.pop(), self._source.now):
                is_there = self._source.status_of(below).run_state is RunState.COMPLETED
                if is_there and below not in told:
                    told[below] = None
                    open_.append(below)
        return list(told)

    def _promised(self, name: str) -> Iterator[tuple[Slice, datetime]]:
        node, now = self._source.graph.node(name), self._source.now
        for sub in node.subs:
            grid, existing = node.grid_of(sub), node.existing_of(sub)
            if grid is None:
                continue
            newest = min(existing.stop - 1, grid.at(int((now + AHEAD).timestamp())))
            for ordinal in range(newest, existing.start - 1, -1):
                instant = ready_by(node.entity, grid.window(ordinal))
                if instant is None or instant < now - BEHIND:
                    break
                if instant <= now + AHEAD:
                    yield node.slice(ordinal, sub), instant

    def _state(self, margin: Margin, path: Iterable[int]) -> PromiseState:
        is_held = any(number in self.open.troubled.for_good for number in path)
        return PromiseState.AT_RISK if is_held and margin.state is PromiseState.SAFE else margin.state

    def _step(self, number: int) -> PathStep:
        forecast, slice_ = self.forecast, self.open.slices[number]
        return PathStep(
            slice_,
            self._instant(float(np.median(forecast.start[number]))),
            self._instant(float(np.median(forecast.finish[number]))),
            self._source.history.times(slice_.entity).label,
            timedelta(seconds=float(forecast.wait[number])),
            self._instant(float(self._latest[number])),
        )

    @cached_property
    def _latest(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        numbers = {
            self.open.number[slice_]: instant for slice_, instant in self.promised.items() if slice_ in self.open.number
        }
        promised = {number: (instant - self.open.now).total_seconds() for number, instant in numbers.items()}
        return latest_starts(self.open.network, np.median(self.forecast.took, axis=1).astype(np.float64), promised)

    def _sentence(self, deviation: Deviation) -> str:
        slice_ = self.open.slices[deviation.number]
        by = timedelta(seconds=round(deviation.seconds))
        return f"{slice_} {deviation.cause.value} ({by})"

    def _instant(self, seconds: float) -> datetime:
        return self.open.now + timedelta(seconds=round(min(seconds, 1e9)))


def _longest(forecast: Forecast, path: Sequence[int]) -> Deviation:
    """The longest step of a key path without a cause of delay."""
    took = np.median(forecast.took[list(path)], axis=1)
    at = int(np.argmax(took))
    return Deviation(path[at], Cause.SLOWER_THAN_PROMISED, float(took[at]))


def _urgency(baseline: Baseline) -> tuple[timedelta, int]:
    return timedelta.max if baseline.margin is None else baseline.margin, -baseline.priority
