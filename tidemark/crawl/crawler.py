"""One crawler for all readers (seed capability C8): each slice is probed once for all, by one schedule.

Readers get the stored result; a probe runs when it is due. Probes of one system are limited, and a system that does not
answer is not probed for a time. Probes run in other threads, so the caller never waits: `step` takes results and starts
due probes. The caller passes the time.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.crawl.errors import ProbeError
from tidemark.dependency_model.arrival.circuit_breaker import CircuitBreaker
from tidemark.dependency_model.arrival.learned_arrival import LearnedArrival
from tidemark.dependency_model.arrival.probe_interval import back_off, first_look, next_look
from tidemark.dependency_model.arrival.sighting import look_again
from tidemark.errors import TidemarkError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from tidemark.dependency_model.arrival.sighting import Sight, Sighting
    from tidemark.dependency_model.entity.probe import Probe
    from tidemark.dependency_model.slice import Slice

AT_ONCE: Final = 8
"""The most probes of one system at a time."""
_PATIENCE: Final = 3
"""After this many timeouts a probe counts as failed. It keeps its slot until it returns."""
_LEARNS_UNTIL: Final = timedelta(hours=1)
"""If the first probe is later than this after the window's end, the time of arrival is not known."""


class SettledSlice(NamedTuple):
    """A slice that is there, or not there any more, and trusted. `is_witnessed`: its arrival was observed."""

    slice: Slice
    sighting: Sighting
    is_witnessed: bool


@dataclass(slots=True)
class CrawlFigures:
    """Counters since the start."""

    questions: int = 0
    looks: int = 0
    failures: int = 0


@dataclass(slots=True)
class WatchedSlice:
    """The state of one slice. `look` is the number of the running probe, or 0.

    `was_there`: the slice is complete so far, so its removal is reported. `is_asked`: a person trusts the next look.
    """

    slice: Slice
    end: datetime
    probe: Probe
    system: str
    began: datetime
    due: datetime
    sighting: Sighting | None = None
    failures: int = 0
    error: str = ""
    look: int = 0
    is_queued: bool = False
    was_there: bool = False
    is_asked: bool = False


@dataclass(slots=True)
class CrawledSystem:
    """The state of one system:

    its circuit breaker, the slices that wait for a slot, and the number of running probes.
    """

    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)
    queue: deque[Slice] = field(default_factory=deque)
    under_way: int = 0


class _Answer(NamedTuple):
    slice: Slice
    system: str
    look: int
    result: Sight | TidemarkError


class Crawler:
    """`look` is a probe, which `run` may start in another thread. It raises only TidemarkError."""

    def __init__(
        self, look: Callable[[Slice], Sight], run: Callable[[Slice, Callable[[], None]], None], at_once: int = AT_ONCE
    ) -> None:
        self.figures = CrawlFigures()
        self.systems: dict[str, CrawledSystem] = {}
        self._look, self._run, self._at_once = look, run, at_once
        self._watched: dict[Slice, WatchedSlice] = {}
        self.errors: dict[Slice, str] = {}
        """The errors of slices whose last probe failed."""
        self._looked: dict[Slice, WatchedSlice] = {}
        self._learned: dict[str, LearnedArrival] = {}
        self._due: list[tuple[datetime, int, Slice]] = []
        self._answers: SimpleQueue[_Answer] = SimpleQueue()
        self._numbers = count(1)
        self._under_way: dict[int, tuple[WatchedSlice, datetime]] = {}
        self._given_up: set[int] = set()

    def __contains__(self, slice_: object) -> bool:
        return slice_ in self._watched

    def __len__(self) -> int:
        return len(self._watched)

    def learn(self, entity: str, end: datetime, seen: datetime) -> None:
        """Records that a slice whose window ended at `end` arrived at `seen`."""
        self._learned.setdefault(entity, LearnedArrival()).learn(end, seen)

    def watch(
        self, slice_: Slice, end: datetime, probe: Probe, system: str, now: datetime, *, was_there: bool = False
    ) -> None:
        """Adds a slice with a window that ends at `end`. Adding it again has no cost."""
        if slice_ in self._watched:
            self._watched[slice_].was_there |= was_there
            return
        expected = self._of(slice_.entity).expect(end)
        due = max(now, first_look(end, expected, probe.fresh_for), end + probe.ready_after)
        watched = WatchedSlice(slice_, end, probe, system, now, due, was_there=was_there)
        self._watched[slice_] = watched
        self._schedule(watched, due)

    def forget(self, slice_: Slice) -> None:
        """Removes a slice that no reader waits for."""
        self._watched.pop(slice_, None)
        self.errors.pop(slice_, None)

    def look_now(self, slice_: Slice, now: datetime) -> None:
        """Makes the next probe of a watched slice due, and trusts it if the slice is there."""
        watched = self._watched.get(slice_)
        if watched is not None:
            watched.is_asked = True
            self._schedule(watched, now)

    def take_looked(self) -> list[WatchedSlice]:
        """The watched slices with a result since the last call."""
        looked = [watched for slice_, watched in self._looked.items() if slice_ in self._watched]
        self._looked.clear()
        return looked

    def ask(self, slice_: Slice) -> WatchedSlice | None:
        """The state of a slice, without a probe; None if it is not watched."""
        self.figures.questions += 1
        return self._watched.get(slice_)

    def watched(self) -> Iterator[WatchedSlice]:
        """All watched slices."""
        return iter(self._watched.values())

    def step(self, now: datetime) -> list[SettledSlice]:
        """Takes results and starts due probes. Returns the slices that are trusted now."""
        settled = list(self._take_answers(now))
        self._give_up_hanging(now)
        self._queue_due(now)
        looks = -1
        while looks < self.figures.looks:  # results that are already there free slots
            looks = self.figures.looks
            for name, system in self.systems.items():
                self._begin(name, system, now)
            settled += self._take_answers(now)
        return settled

    @property
    def next_due(self) -> datetime | None:
        """The time of the next due probe."""
        return self._due[0][0] if self._due else None

    def _of(self, entity: str) -> LearnedArrival:
        return self._learned.setdefault(entity, LearnedArrival())

    def _schedule(self, watched: WatchedSlice, due: datetime) -> None:
        watched.due = due
        heapq.heappush(self._due, (due, next(self._numbers), watched.slice))

    def _queue_due(self, now: datetime) -> None:
        while self._due and self._due[0][0] <= now:
            due, _, slice_ = heapq.heappop(self._due)
            watched = self._watched.get(slice_)
            if watched is not None and watched.due == due and not watched.look and not watched.is_queued:
                watched.is_queued = True
                self.systems.setdefault(watched.system, CrawledSystem()).queue.append(slice_)

    def _begin(self, name: str, system: CrawledSystem, now: datetime) -> None:
        while system.queue and system.under_way < self._at_once and system.breaker.allows(now):
            watched = self._watched.get(system.queue.popleft())
            if watched is None or not watched.is_queued:
                continue
            system.breaker = system.breaker.begin()
            system.under_way += 1
            self.figures.looks += 1
            watched.is_queued, watched.look = False, next(self._numbers)
            self._under_way[watched.look] = (watched, now)
            self._start(watched.slice, name, watched.look)

    def _start(self, slice_: Slice, system: str, look: int) -> None:
        def work() -> None:
            try:
                result: Sight | TidemarkError = self._look(slice_)
            except TidemarkError as error:
                result = error
            except Exception as error:  # noqa: BLE001 - drivers and readers of files raise what they like
                # Its text may hold a password of the source.
                result = ProbeError("the probe failed unexpectedly", found=type(error).__name__)
            self._answers.put(_Answer(slice_, system, look, result))

        self._run(slice_, work)

    def _take_answers(self, now: datetime) -> Iterator[SettledSlice]:
        while True:
            try:
                answer = self._answers.get_nowait()
            except Empty:
                return
            self.systems[answer.system].under_way -= 1
            watched = self._watched.get(answer.slice)
            self._under_way.pop(answer.look, None)
            is_awaited = watched is not None and watched.look == answer.look
            if isinstance(answer.result, TidemarkError):
                self._count(answer, now)
                if watched is not None and is_awaited:
                    self._look_failed(watched, answer.result, now)
                continue
            self.systems[answer.system].breaker = self.systems[answer.system].breaker.succeed()
            if watched is not None and is_awaited:
                yield from self._look_succeeded(watched, answer.result, now)

    def _count(self, answer: _Answer, now: datetime) -> None:
        """Counts a failure once. The failure of a probe that was given up is counted already."""
        if answer.look in self._given_up:
            self._given_up.discard(answer.look)
        else:
            self._fail(answer.system, now)

    def _fail(self, system: str, now: datetime) -> None:
        self.figures.failures += 1
        self.systems[system].breaker = self.systems[system].breaker.fail(now)

    def _look_failed(self, watched: WatchedSlice, error: TidemarkError, now: datetime) -> None:
        watched.look, watched.failures, watched.error = 0, watched.failures + 1, str(error)
        self.errors[watched.slice] = watched.error
        self._schedule(watched, now + max(back_off(watched.failures), watched.probe.fresh_for))

    def _look_succeeded(self, watched: WatchedSlice, sight: Sight, now: datetime) -> Iterator[SettledSlice]:
        watched.sighting = look_again(watched.sighting, sight, now)
        watched.look, watched.failures, watched.error = 0, 0, ""
        self.errors.pop(watched.slice, None)
        self._looked[watched.slice] = watched
        is_trusted, watched.is_asked = watched.is_asked and sight.is_there, False
        probe, expected = watched.probe, self._of(watched.slice.entity).expect(watched.end)
        if not (sight.is_there or watched.was_there):
            self._schedule(watched, next_look(watched.end, now, expected, probe.fresh_for, probe.longest_wait))
            return
        if not (is_trusted or watched.sighting.is_settled(probe.settle_for)):
            self._schedule(watched, max(now, watched.sighting.since + probe.settle_for))
            return
        watched.was_there = sight.is_there
        self._schedule(watched, next_look(watched.end, now, None, probe.fresh_for, probe.longest_wait))
        yield SettledSlice(watched.slice, watched.sighting, watched.began <= watched.end + _LEARNS_UNTIL)

    def _give_up_hanging(self, now: datetime) -> None:
        """Counts hanging probes as failed. Their slots stay in use until they return."""
        for look, (watched, began) in list(self._under_way.items()):
            longest = timedelta(seconds=_PATIENCE * watched.probe.timeout_seconds)
            if now - began > longest:
                del self._under_way[look]
                self._given_up.add(look)
                self._fail(watched.system, now)
                if watched.look == look:
                    error = ProbeError("the probe did not answer", expected=f"an answer within {longest}")
                    self._look_failed(watched, error, now)
