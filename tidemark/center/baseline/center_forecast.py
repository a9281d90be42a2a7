"""Forecasts in the center: from its statuses, and a run history that grows with new events."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Final

from tidemark.center.baseline.baselines import Baselines
from tidemark.center.baseline.declared_slices import DeclaredSlices
from tidemark.center.baseline.open_slices import SliceSource
from tidemark.center.baseline.run_history import LOOKED_BACK, RunHistory
from tidemark.dependency_model.status import RunState, SliceStatus
from tidemark.state_store.timings import timings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from tidemark.center.baseline.baselines import Baseline
    from tidemark.center.center import DependencyCenter
    from tidemark.center.pools import Pools
    from tidemark.dependency_model.baseline.repair_time import RepairTime
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice

    StatusOf = Callable[[Slice], SliceStatus]

_UNKNOWN: Final = SliceStatus()
_READ_ANEW_SECONDS: Final = 86_400.0
"""After this time, events older than ninety days are dropped from the history."""


@dataclass(frozen=True, slots=True)
class JudgedPromises:
    """Promises at an instant: of the `promised` slices, `open` are incomplete."""

    now: datetime
    promised: tuple[Slice, ...]
    open: tuple[Baseline, ...]

    def of(self, entity: str) -> JudgedPromises:
        """The promises of one entity."""
        promised = tuple(slice_ for slice_ in self.promised if slice_.entity == entity)
        return JudgedPromises(
            self.now, promised, tuple(promise for promise in self.open if promise.slice.entity == entity)
        )


class CenterForecast:
    """Forecasts of one center. Safe between threads; `clock` is the wall clock, aware.

    The history of the entities behind promises is read once, then only new events. Without promises nothing is read.
    """

    def __init__(self, center: DependencyCenter, pools: Pools, clock: Callable[[], datetime]) -> None:
        self._center, self._clock = center, clock
        self._declared = DeclaredSlices(center.graph, pools)
        self._lock = Lock()
        self._history: RunHistory | None = None
        self._needed: tuple[str, ...] = ()
        self._read_until, self._read_at = 0, 0.0
        self._last: JudgedPromises | None = None

    @cached_property
    def names(self) -> list[str]:
        """Entities with promises in the graph, found at the first question."""
        graph = self._center.graph
        return [name for name in graph if graph.entity(name).is_promised]

    def judge(self, newer_than: float = 0.0) -> JudgedPromises:
        """The promises now, from a forecast at most `newer_than` seconds old. Raises StateStoreDownError."""
        with self._lock:
            now, last = self._clock(), self._last
            if last is None or not 0 <= (now - last.now).total_seconds() < newer_than:
                self._last = last = self._judge(now)
            return last

    def rebuilding(self, slices: Sequence[Slice]) -> RepairTime:
        """The time to compute exactly these slices, beside active runs.

        Raises StateStoreDownError.
        """
        graph, now = self._center.graph, self._clock()
        entities = upstream_closure(graph, {*self.names, *(slice_.entity for slice_ in slices)})
        history = RunHistory.read(graph, self._center.store.database, now, entities)
        return self._baselines(self.names, history, now, self._statuses_around(slices)).rebuilding(slices)

    def _statuses_around(self, slices: Sequence[Slice]) -> StatusOf:
        """Statuses of these slices and their inputs, read together because most are not in memory."""
        graph = self._center.graph
        around = {input_ for slice_ in slices for needed in graph.requirements(slice_) for input_ in needed.slices}
        around.update(slices)
        known = self._center.statuses(around)
        return lambda slice_: known.get(slice_, _UNKNOWN) if slice_ in around else self._center.status(slice_)

    def _judge(self, now: datetime) -> JudgedPromises:
        names = self.names
        blank = RunHistory(self._center.graph, ())
        promised = self._baselines(names, blank, now).promised
        if all(self._is_there(slice_) for slice_ in promised):
            return JudgedPromises(now, tuple(promised), ())
        told = self._baselines(names, self._grown(names, now), now)
        return JudgedPromises(now, tuple(told.promised), tuple(told.all()))

    def _baselines(
        self, names: Iterable[str], history: RunHistory, now: datetime, status_of: StatusOf | None = None
    ) -> Baselines:
        status_of = status_of or self._center.status
        return Baselines(SliceSource(self._declared, status_of, history, now), names)

    def _is_there(self, slice_: Slice) -> bool:
        return self._center.status(slice_).run_state is RunState.COMPLETED

    def _grown(self, names: Iterable[str], now: datetime) -> RunHistory:
        """The history up to now, read completely once a day or for other entities."""
        database, graph = self._center.store.database, self._center.graph
        needed, last = upstream_closure(graph, names), self._center.store.read.last()
        since = now - LOOKED_BACK
        if self._history is None or needed != self._needed or time.monotonic() - self._read_at > _READ_ANEW_SECONDS:
            told = timings(database, since, entities=needed, until=last)
            self._history, self._needed, self._read_at = RunHistory(graph, told), needed, time.monotonic()
        else:
            wanted = frozenset(needed)
            later = timings(database, since, after=self._read_until, until=last)
            for timing in filter(lambda timing: timing.slice.entity in wanted, later):
                self._history.note(timing)
        self._read_until = last
        return self._history


def upstream_closure(graph: DependencyGraph, names: Iterable[str]) -> tuple[str, ...]:
    """These entities and all their upstream entities, in order."""
    open_ = list(names)
    closure = set(open_)
    while open_:
        for edge in graph.upstream_edges(open_.pop()):
            name = edge.dependency.entity
            if name in graph and name not in closure:
                closure.add(name)
                open_.append(name)
    return tuple(sorted(closure))
