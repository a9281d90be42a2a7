"""Durations of each entity's slices, or their arrival times after their windows, from the state store."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.center.baseline.declared_slices import groups_of
from tidemark.center.baseline.runs_under_way import RunsUnderWay
from tidemark.center.baseline.slice_sizes import SliceSizes
from tidemark.dependency_model.baseline.learned_times import KEPT, KEPT_OF_HOURS, LearnedTimes, Observed, learn, pooled
from tidemark.dependency_model.readiness.self_starting_slices import is_scheduled
from tidemark.dependency_model.status import Event, RunState
from tidemark.errors import ParseError
from tidemark.state_store.timings import timings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.database import Database
    from tidemark.state_store.timings import Timing

LOOKED_BACK: Final = timedelta(days=90)
_BACKFILLED_AFTER: Final = timedelta(days=3).total_seconds()
"""An arrival this long after its window is a repair or a replay."""
_LOAD_SECONDS: Final = 3_600.0
"""A load of history may take this long, and a quarter of a period."""
_LATELY: Final = 7
_TOGETHER_SECONDS: Final = 2.0


class _EndedTogether(NamedTuple):
    """The last slices of an entity that ended almost together, in one run."""

    run_id: str | None
    at: float
    slices: int


class RunHistory:
    """`failed` counts the failures of a slice's present generation."""

    def __init__(self, graph: DependencyGraph, told: Iterable[Timing]) -> None:
        self._graph = graph
        self._took: dict[str, deque[Observed]] = {}
        self._computed: dict[str, deque[Slice]] = {}
        """The slice of each entry in `_took`, for computed entities."""
        self.sizes = SliceSizes()
        self._runs: dict[str, int] = defaultdict(int)
        self._failures: dict[str, int] = defaultdict(int)
        self._learned: dict[str, LearnedTimes] = {}
        self._there: set[Slice] = set()
        self._first_arrivals: dict[tuple[str, Sub], float] = {}
        self._launched: dict[Slice, float] = {}
        self._under_way = RunsUnderWay()
        self._ended_together: dict[str, _EndedTogether] = {}
        self.failed: dict[Slice, int] = defaultdict(int)
        for timing in told:
            self.note(timing)

    @property
    def running(self) -> Mapping[Slice, float]:
        """Start times of active slices, in seconds since 1970."""
        return self._under_way.since

    @classmethod
    def read(
        cls, graph: DependencyGraph, database: Database, now: datetime, entities: Collection[str] | None = None
    ) -> RunHistory:
        """The last ninety days, of all entities or of some. Raises StateStoreDownError."""
        told = timings(database, now - LOOKED_BACK, entities)
        # For some entities, timings come entity by entity; shared runs need the order of their ends.
        return cls(graph, told if entities is None else sorted(told, key=_instant))

    def times(self, entity: str) -> LearnedTimes:
        """Learned times of an entity; without history, those of the other entities."""
        if entity not in self._learned:
            took = list(self._took.get(entity, ()))
            self._learned[entity] = learn(took) if took else learn((), self._typical)
        return self._learned[entity]

    def runs(self, entity: str) -> Iterator[tuple[Slice, Observed]]:
        """Slices of an entity with their durations, newest first."""
        return zip(reversed(self._computed.get(entity, ())), reversed(self._took.get(entity, ())), strict=True)

    def lately(self, entity: str) -> float:
        """The median seconds of its last runs; 0 for arriving entities and without history."""
        took = self._took.get(entity)
        if not took or not is_scheduled(self._graph.entity(entity)):
            return 0.0
        return median(observed.amount for observed in islice(reversed(took), _LATELY))

    def failing(self, entity: str) -> float:
        """The share of failed runs."""
        return self._failures[entity] / (self._runs[entity] + 2) if entity in self._failures else 0.0

    @cached_property
    def _typical(self) -> float:
        scheduled = [name for name in self._took if is_scheduled(self._graph.entity(name))]
        return pooled([learn(list(self._took[name])) for name in scheduled])

    def note(self, timing: Timing) -> None:
        """Add the next event; unknown entities are ignored."""
        slice_ = timing.slice
        if slice_.entity not in self._graph:
            return
        if timing.event == Event.FAILED.value:
            self._failures[slice_.entity] += 1
            self._runs[slice_.entity] += 1
            self.failed[slice_] += 1
        if timing.run_state is RunState.COMPLETED:
            self._note_completion(timing)
            self._under_way.complete(slice_, timing.at)
        if timing.run_state is RunState.LAUNCHED:
            self._launched[slice_] = timing.at
        if timing.run_state in (RunState.LAUNCHED, RunState.RUNNING):
            self._under_way.begin(slice_, timing.run_id, timing.at)
        else:
            self._under_way.end(slice_)

    def _note_completion(self, timing: Timing) -> None:
        slice_ = timing.slice
        self.failed.pop(slice_, None)
        launched = self._launched.pop(slice_, None)
        entity = self._graph.entity(slice_.entity)
        try:
            window = self._graph.window(slice_)
        except ParseError:  # with another period, from before the entity changed
            return
        groups = groups_of(entity, window)
        if timing.rows is not None:
            self.sizes.note(slice_, timing.rows, timing.at, groups)
        if is_scheduled(entity):
            begun = self._begun(slice_, timing.at, launched)
            if begun is not None:
                self._runs[slice_.entity] += 1
                self._learn(slice_, Observed(timing.at, timing.at - begun, groups, timing.code))
                self._share(slice_.entity, timing)
        elif slice_ not in self._there:
            delay = timing.at - window.end.replace(tzinfo=UTC).timestamp()
            if delay <= _BACKFILLED_AFTER and not self._is_loaded(timing, delay, window.duration.total_seconds()):
                self._learn(slice_, Observed(timing.at, delay, groups))
            self._there.add(slice_)

    def _is_loaded(self, timing: Timing, delay: float, length: float) -> bool:
        """Whether an arrival belongs to a load of history, which says nothing of the times of later arrivals.

        The load is what came with the first arrival of a sub-partition. Its newest slice may be a usual one: it is no
        later than the length of its window.
        """
        first = self._first_arrivals.setdefault((timing.slice.entity, timing.slice.sub), timing.at)
        return delay > length and timing.at - first <= max(length / 4, _LOAD_SECONDS)

    def _learn(self, slice_: Slice, observed: Observed) -> None:
        entity = slice_.entity
        if entity not in self._took:
            kept = KEPT if len(observed.groups) == 1 else KEPT_OF_HOURS
            self._took[entity], self._computed[entity] = deque(maxlen=kept), deque(maxlen=kept)
        self._took[entity].append(observed)
        self._computed[entity].append(slice_)
        self._learned.pop(entity, None)

    def _share(self, entity: str, timing: Timing) -> None:
        """Slices of one query end together: each took an equal share of the time."""
        last, took = self._ended_together.get(entity), self._took[entity]
        is_shared = last and timing.run_id and last.run_id == timing.run_id and timing.at - last.at <= _TOGETHER_SECONDS
        count = min(last.slices + 1, len(took)) if last and is_shared else 1
        self._ended_together[entity] = _EndedTogether(timing.run_id, timing.at, count)
        if count > 1:
            several = [took.pop() for _ in range(count)]
            share = sum(observed.amount for observed in several) / count
            took.extend(replace(observed, amount=share) for observed in reversed(several))

    def _begun(self, slice_: Slice, ended: float, launched: float | None) -> float | None:
        """The time at which a run reached a slice; the launch if the start is only reported with the end."""
        begun = self.running.get(slice_)
        if begun == ended and launched is not None:
            return max(launched, self._under_way.ended_before(slice_))
        return begun


def _instant(timing: Timing) -> float:
    return timing.at
