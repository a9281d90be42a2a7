"""One day through the center: what starts, runs for its time, and is reported; work is real, waiting is skipped.

The clock is the day's own. Work moves it on by the time that the work really took; where there is none, it jumps to the
next thing that happens. So a fact that arrives while the center works waits for it, as it would in the real day.
"""

from __future__ import annotations

import heapq
import random
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

from tidemark.center.center import DependencyCenter
from tidemark.center.fact import Fact
from tidemark.dependency_model.status import Event
from tidemark.state_store.transition import Facts

T = TypeVar("T")

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.store import StateStore

_GATHERED: Final = timedelta(seconds=15)
"""Outside the sampled minutes the facts of so long are reported together, to spare time; they are not measured."""
_AHEAD: Final = timedelta(hours=1)
_NOTED_EVERY: Final = timedelta(hours=1)
_PREPARED_AT_ONCE: Final = 250
_LAUNCHED_AT_ONCE: Final = 200
_MEAN_SECONDS: Final = 400.0


@dataclass(slots=True)
class Measured:
    """Milliseconds from a fact's arrival to the commit that holds it with all that it released; and what was done."""

    latency_ms: list[float] = field(default_factory=list)
    due_ms: list[float] = field(default_factory=list)
    facts: int = 0
    busy_seconds: float = 0.0


class Day:
    """`slots` is how many tasks run at the same time."""

    def __init__(self, graph: DependencyGraph, store: StateStore, since: datetime, until: datetime, slots: int) -> None:
        self.now, self._since, self._until, self._slots = since, since, until, slots
        self.center = DependencyCenter(graph, store, since=since, clock=lambda: self.now)
        self._running: list[tuple[datetime, int, str, Slice]] = []
        self._chance = random.Random(42)
        self._runs = 0
        self._note_at = since + _NOTED_EVERY
        self.measured = Measured()

    def run(self, burst: list[float], count: int) -> Measured:
        """Until the day is over; well after midnight, so many facts in one second: their milliseconds go to `burst`."""
        self._work(self.center.ready)
        while self.now < self._until:
            self._step()
            has_settled = self.now > min(self._since + timedelta(hours=3), self._until - timedelta(minutes=2))
            if not burst and has_settled:
                burst += self._burst(min(count, len(self._running)))
        return self.measured

    def _step(self) -> None:
        """Facts go before what time releases, and both before launches: who waits has waited for his inputs already."""
        if not (self._report_arrived() or self._tick_if_due()):
            self._launch()
        if not self._is_something_there():
            self._idle()

    def _burst(self, count: int) -> list[float]:
        begin = self.now
        facts = [self._fact(slice_, run) for _, _, run, slice_ in heapq.nsmallest(count, self._running)]
        self._running = heapq.nlargest(max(0, len(self._running) - count), self._running)
        heapq.heapify(self._running)
        arrivals = [begin + timedelta(seconds=n / count) for n in range(len(facts))]
        delays: list[float] = []
        while len(delays) < len(facts):
            self.now = max(self.now, arrivals[len(delays)])
            arrived = sum(moment <= self.now for moment in arrivals)
            batch = slice(len(delays), arrived)
            self._work(partial(self.center.report, facts[batch]))
            delays += [(self.now - moment).total_seconds() * 1000 for moment in arrivals[batch]]
        self.measured.facts += len(delays)
        return delays

    def _report_arrived(self) -> bool:
        arrived = []
        while self._running and self._running[0][0] <= self.now:
            arrived.append(heapq.heappop(self._running))
        if not arrived:
            return False
        facts = [self._fact(slice_, run) for _, _, run, slice_ in arrived]
        self._work(lambda: self.center.report(facts))
        sampled = [moment for moment, *_ in arrived if self._is_sampled(moment)]
        self.measured.latency_ms += [(self.now - moment).total_seconds() * 1000 for moment in sampled]
        self.measured.facts += len(facts)
        return True

    def _tick_if_due(self) -> bool:
        due = self.center.memory.index.next_time
        if due is None or due > self.now:
            return False
        released, _ = self._work(self.center.tick_once)
        if self._is_sampled(due):
            self.measured.due_ms += [(self.now - due).total_seconds() * 1000] * released
        return True

    def _launch(self) -> None:
        free = min(self._slots - len(self._running), _LAUNCHED_AT_ONCE)
        batch = list(islice(self.center.memory.ready, max(0, free)))
        if batch:
            self._runs += 1
            run = f"run-{self._runs}"
            for slice_ in self._work(lambda: self.center.launch(batch, run, "default")):
                seconds = self._chance.lognormvariate(0, 1) * _MEAN_SECONDS / 1.65
                heapq.heappush(self._running, (self.now + timedelta(seconds=seconds), self._runs, run, slice_))

    def _is_something_there(self) -> bool:
        due = self.center.memory.index.next_time
        arrived = bool(self._running) and self._running[0][0] <= self.now
        can_launch = len(self._running) < self._slots and bool(self.center.memory.ready)
        return arrived or can_launch or (due is not None and due <= self.now)

    def _idle(self) -> None:
        """Note where the schedule is, once in an hour; prepare a little of what comes next, or jump to it."""
        if self.now >= self._note_at:
            _, is_done = self._work(self.center.checkpoint_once)
            self._note_at += _NOTED_EVERY * is_done
            return
        moments = [self._running[0][0]] if self._running else []
        due = self.center.memory.index.next_time
        moments += [due] if due else []
        upcoming = min(moments, default=self._until)
        horizon = min(self.now + _AHEAD, self._until)
        if self.center.memory.index.has_to_prepare(horizon):
            self._work(lambda: self.center.prepare(horizon, _PREPARED_AT_ONCE))
        else:
            is_near = self._is_sampled(upcoming) or self._is_sampled(upcoming + _GATHERED)
            self.now = max(self.now, min(upcoming if is_near else upcoming + _GATHERED, self._until))

    def _is_sampled(self, moment: datetime) -> bool:
        """The minutes in which each fact is taken by itself, as it comes: around midnight, and two of each hour."""
        minute = (moment - self._since).total_seconds() / 60
        return 55 <= minute < 70 or minute % 60 < 2

    def _fact(self, slice_: Slice, run: str) -> Fact:
        return Fact(
            f"{run}:{slice_}", slice_, Event.COMPLETED, self.now, "log", data=Facts(run_id=run, row_count=1_000)
        )

    def _work(self, what: Callable[[], T]) -> T:
        """Do it, and let the clock go on by the time that it took."""
        begun = time.perf_counter()
        result = what()
        seconds = time.perf_counter() - begun
        self.now += timedelta(seconds=seconds)
        self.measured.busy_seconds += seconds
        return result
