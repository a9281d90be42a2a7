"""The readiness index: which slices may start, kept up to date with work proportional to the edges an event touches.

It holds the status of every known slice, and for those that are not launched yet a counter a clause (`counter.py`). A
status that changes reaches, through the slices registered for it, exactly the counters that it matters for. The clock
is a value that is passed in; what time alone changes (earliest times, time-outs) lies in a heap.

The index compares what a slice is with what it may be: `decide` names the slices that are to be released, and those
that were released and have to wait again (an input was tainted, failed its rules, or was asked for again). Statuses are
told by number: one that is told twice, or after a later one, changes nothing.

Which slices it looks at: those of scheduled entities that lie in or after `since`, and older ones that someone asked
for (generation 2 and on). Source: seed capabilities A6, A8.
"""

from __future__ import annotations

import heapq
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING

from dependency_model.errors import ParseError, UnknownEntityError
from dependency_model.garbage import collection_paused
from dependency_model.readiness.counter import Counter, Waiting
from dependency_model.readiness.registrations import Registrations
from dependency_model.readiness.schedule import Schedule, not_before
from dependency_model.readiness.scheduled import is_scheduled, next_state
from dependency_model.status.slice_status import Life, SliceStatus
from dependency_model.status.transition import Event
from dependency_model.time.window import seconds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from dependency_model.graph.graph import DependencyGraph
    from dependency_model.graph.requirement import Requirement
    from dependency_model.slice import Slice

_UNKNOWN = SliceStatus()
_NOT_LAUNCHED = (Life.WAITING, Life.READY)


@dataclass(frozen=True, slots=True)
class Decision:
    """A slice is to be `released` for a state (`partial`: without something that it asked for), or `withdrawn`."""

    piece: Slice
    event: Event
    state: str
    partial: bool = False


class ReadinessIndex:
    """`since` and `now` are aware instants; slices that ended before `since` start only where someone asks for them."""

    def __init__(self, graph: DependencyGraph, since: datetime, now: datetime) -> None:
        self._graph = graph
        self._now = seconds_of(now)
        self._statuses: dict[Slice, SliceStatus] = {}
        self._versions: dict[Slice, int] = {}
        self._waiting: dict[Slice, Waiting] = {}
        self._undecided: dict[Slice, None] = {}
        self._due: list[tuple[int, int, Waiting]] = []
        self._order = count()
        self._registered = Registrations(graph, self._statuses)
        self._schedule = Schedule(graph, seconds_of(since))

    @property
    def work(self) -> int:
        """How many counters were touched by statuses that changed."""
        return self._registered.work

    @property
    def statuses(self) -> Mapping[Slice, SliceStatus]:
        """Every known slice."""
        return self._statuses

    @property
    def waiting_count(self) -> int:
        """How many slices are not launched yet, and counted."""
        return len(self._waiting)

    @property
    def next_time(self) -> datetime | None:
        """When time alone may change something; None where it never does."""
        times = [time for time in (self._schedule.next_time, self._due[0][0] if self._due else None) if time]
        return datetime.fromtimestamp(min(times), UTC) if times else None

    def status(self, piece: Slice) -> SliceStatus:
        """The status of a slice; one that nothing is known of waits."""
        return self._statuses.get(piece, _UNKNOWN)

    def newest(self, piece: Slice, accepts: Callable[[SliceStatus], bool]) -> Slice | None:
        """The newest known slice up to this one, of the same entity and part, whose status is accepted."""
        return self._registered.newest.find(piece, accepts)

    def load(self, known: Iterable[tuple[Slice, SliceStatus, int]]) -> None:
        """What was known before a restart, in any order; for an index that has not been told anything."""
        with collection_paused():
            for piece, status, version in known:
                self._statuses[piece] = status
                self._versions[piece] = version
            newest = self._registered.newest
            for piece in self._statuses:
                if piece.entity in newest:
                    newest.add(piece)
            for piece, status in self._statuses.items():
                if status.life in _NOT_LAUNCHED:
                    self._follow(piece, status)

    def observe(self, piece: Slice, status: SliceStatus, version: int) -> None:
        """A slice's status after its transition number `version`."""
        if version <= self._versions.get(piece, 0) or piece.entity not in self._graph:
            return
        before = self._statuses.get(piece)
        self._statuses[piece], self._versions[piece] = status, version
        if status == before:
            return
        if not _look_alike(before or _UNKNOWN, status):
            for waiting in self._registered.tell(piece, before, status):
                self._undecided[waiting.piece] = None
        self._follow(piece, status)

    def advance(self, now: datetime, limit: int | None = None) -> bool:
        """Move the clock on (never back); whether all whose time has come was looked at, with at most `limit` of it."""
        self._now = max(self._now, seconds_of(now))
        steps = range(limit) if limit is not None else count()
        return any(not self._step(self._now) for _ in steps)

    def prepare(self, until: datetime, limit: int) -> bool:
        """Count slices whose time comes by `until` beforehand, at most `limit`; whether there are no more of them."""
        return any(not self._take_scheduled(seconds_of(until)) for _ in range(limit))

    def has_to_prepare(self, until: datetime) -> bool:
        """Whether `prepare` has anything to do."""
        time = self._schedule.next_time
        return time is not None and time <= seconds_of(until)

    def decide(self) -> list[Decision]:
        """What has to change, in the order in which it came up; each is to be told back by `observe`."""
        undecided, self._undecided = self._undecided, {}
        found = (self._decision(piece) for piece in undecided)
        return [decision for decision in found if decision]

    def refresh(self, names: Iterable[str]) -> None:
        """These entities came, changed or went in the graph, or what they depend on did."""
        gone = set(names)
        for piece in [piece for piece in self._waiting if piece.entity in gone]:
            self._forget(piece)
        for name in sorted(gone):
            self._schedule.refresh(name)
        self._registered.newest.refresh(gone)
        for piece in [piece for piece in self._statuses if piece.entity in gone]:
            with suppress(ParseError, UnknownEntityError):  # of another period, or of an entity that is gone
                self._follow(piece, self._statuses[piece])
        self.advance(datetime.fromtimestamp(self._now, UTC))

    def _step(self, now: int) -> bool:
        return self._take_scheduled(now) or self._take_due(now)

    def _take_scheduled(self, until: int) -> bool:
        piece = self._schedule.take(until)
        if piece is None:
            return False
        self._follow(piece, self.status(piece))
        return True

    def _take_due(self, now: int) -> bool:
        if not self._due or self._due[0][0] > now:
            return False
        _, _, waiting = heapq.heappop(self._due)
        if self._waiting.get(waiting.piece) is waiting:
            waiting.is_open = waiting.is_open or now >= waiting.not_before
            for counter in waiting.counters:
                counter.come_due(now)
            self._undecided[waiting.piece] = None
        return True

    def _follow(self, piece: Slice, status: SliceStatus) -> None:
        """Count for a slice that is not launched; stop counting for one that is."""
        state = self._wanted_state(piece, status)
        waiting = self._waiting.get(piece)
        if waiting and state != waiting.state:
            self._forget(piece)
            waiting = None
        if state is None:
            return
        if waiting is None:
            self._begin(piece, state)
        self._undecided[piece] = None

    def _wanted_state(self, piece: Slice, status: SliceStatus) -> str | None:
        """The state that a slice is to reach by itself; None where it is under way, done, or not to start."""
        if status.life not in _NOT_LAUNCHED:
            return None
        node = self._graph.node(piece.entity)
        if not is_scheduled(node.entity):
            return None
        first = self._schedule.first(piece.entity, piece.sub)
        ordinal = node.ordinal(piece)
        is_scheduled_one = first is not None and ordinal >= first
        if ordinal not in node.existing_of(piece.sub) or not (is_scheduled_one or status.generation > 1):
            return None
        return next_state(node.entity, status)

    def _begin(self, piece: Slice, state: str) -> None:
        node = self._graph.node(piece.entity)
        grid = node.grid_of(piece.sub)
        if grid is None:
            return
        waiting = Waiting(piece, state, not_before(node.entity, grid, node.ordinal(piece)))
        waiting.is_open = self._now >= waiting.not_before
        self._waiting[piece] = waiting
        waiting.counters = tuple([self._count(waiting, one) for one in self._graph.requirements(piece, state)])
        times = {counter.due for counter in waiting.counters if counter.due is not None and not counter.is_due}
        for time in times if waiting.is_open else times | {waiting.not_before}:
            heapq.heappush(self._due, (time, next(self._order), waiting))

    def _count(self, waiting: Waiting, requirement: Requirement) -> Counter:
        counter = Counter(waiting, requirement.dependency, requirement.slices)
        add = self._registered.add_latest if requirement.or_older else self._registered.add
        counter.begin(add(counter), self._now)
        return counter

    def _forget(self, piece: Slice) -> None:
        for counter in self._waiting.pop(piece).counters:
            self._registered.remove(counter)

    def _decision(self, piece: Slice) -> Decision | None:
        waiting = self._waiting.get(piece)
        if waiting is None:
            return None
        life = self.status(piece).life
        if waiting.is_released and life is Life.WAITING:
            return Decision(piece, Event.RELEASED, waiting.state, waiting.is_partial)
        if not waiting.is_released and life is Life.READY:
            return Decision(piece, Event.WITHDRAWN, waiting.state)
        return None


def _look_alike(one: SliceStatus, other: SliceStatus) -> bool:
    """Whether two statuses are the same to everyone who may use the slice."""
    return (
        one.states == other.states
        and one.quality is other.quality
        and one.issues == other.issues
        and one.tainted is other.tainted
    )
