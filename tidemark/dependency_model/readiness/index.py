"""The readiness index: which slices may start, kept up to date with work proportional to the edges an event touches.

It holds the status of every known slice, and for those that are not launched yet a counter a clause
(`missing_inputs_counter`). A status that changes reaches, through the slices registered for it, exactly the counters
that it matters for. The clock is a value that is passed in; what time alone changes (earliest times, time-outs) lies in
a heap.

The index compares what a slice is with what it may be: `decide` names the slices that are to be released, and those
that were released and have to wait again (an input was tainted, failed its rules, or was asked for again). Statuses are
told by number: one that is told twice, or after a later one, changes nothing.

Which slices it looks at: those of scheduled entities that lie in or after `since`, and older ones that someone asked
for (generation 2 and on). A start costs what is open and what is near in time, however long the past is: the rest stays
in the archive, and `checkpoint` says what has to be noted for the schedule to begin where it was. Source: seed
capabilities A6, A8.
"""

from __future__ import annotations

import heapq
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count, islice
from typing import TYPE_CHECKING

from tidemark.dependency_model.readiness.checkpoint import Checkpoint
from tidemark.dependency_model.readiness.cold_statuses import Archive, EmptyArchive, KnownSlice
from tidemark.dependency_model.readiness.counter_registrations import Registrations
from tidemark.dependency_model.readiness.missing_inputs_counter import Counter, WaitingSlice
from tidemark.dependency_model.readiness.schedule import Schedule, ScheduleProgress, not_before
from tidemark.dependency_model.readiness.self_starting_slices import is_released, next_state
from tidemark.dependency_model.readiness.status_table import StatusTable
from tidemark.dependency_model.status.slice_status import RunState, SliceStatus
from tidemark.dependency_model.status.transition import Event
from tidemark.dependency_model.time.window import seconds_of
from tidemark.errors import ParseError, UnknownEntityError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tidemark.dependency_model.graph.graph import DependencyGraph
    from tidemark.dependency_model.graph.requirement import Requirement
    from tidemark.dependency_model.readiness.newest_slices import Place
    from tidemark.dependency_model.slice import Slice

_UNKNOWN = SliceStatus()
_NOT_LAUNCHED = (RunState.WAITING, RunState.READY)
_NO_ARCHIVE = EmptyArchive()
_NOTHING_SCHEDULED = ScheduleProgress()
_ALL = 1 << 62
_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class ReadinessDecision:
    """A slice is to be `released` for a state (`partial`: without something that it asked for), or `withdrawn`."""

    slice: Slice
    event: Event
    state: str
    partial: bool = False


class ReadinessIndex:
    """`since` and `now` are aware instants; slices that ended before `since` start only where someone asks for them."""

    def __init__(
        self,
        graph: DependencyGraph,
        since: datetime,
        now: datetime,
        archive: Archive = _NO_ARCHIVE,
        progress: ScheduleProgress = _NOTHING_SCHEDULED,
    ) -> None:
        self._graph = graph
        self._now = seconds_of(now)
        self._statuses = StatusTable(archive)
        self._waiting: dict[Slice, WaitingSlice] = {}
        self._undecided: dict[Slice, None] = {}
        self._due: list[tuple[int, int, WaitingSlice]] = []
        self._unnoted: list[tuple[int, int, WaitingSlice]] = []
        self._noting: list[WaitingSlice] = []
        self._order = count()
        self._registered = Registrations(graph, self._statuses)
        self._schedule = Schedule(graph, seconds_of(since), progress)

    @property
    def work(self) -> int:
        """How often an input was counted (`Registrations`)."""
        return self._registered.work

    @property
    def statuses(self) -> StatusTable:
        """Every known slice; those in memory, where one goes through them."""
        return self._statuses

    def waiting_since(self, instant: datetime, most: int) -> tuple[int, list[Slice]]:
        """How many slices wait for inputs though their earliest time came by then, and the newest of them, so many."""
        limit = seconds_of(instant)
        held = [waiting for waiting in self._waiting.values() if waiting.unmet and waiting.not_before <= limit]
        newest = heapq.nlargest(most, held, key=lambda waiting: waiting.not_before)
        return len(held), [waiting.slice for waiting in newest]

    @property
    def next_time(self) -> datetime | None:
        """When time alone may change something; None where it never does."""
        times = [time for time in (self._schedule.next_time, self._due[0][0] if self._due else None) if time]
        return datetime.fromtimestamp(min(times), UTC) if times else None

    def status(self, slice_: Slice) -> SliceStatus:
        """The status of a slice; one that nothing is known of waits."""
        return self._statuses.get(slice_) or _UNKNOWN

    def newest(self, slice_: Slice, accepts: Callable[[SliceStatus], bool]) -> Slice | None:
        """The newest known slice up to this one, of the same entity and sub-partition, whose status is accepted."""
        return self._registered.newest.find(slice_, accepts)

    def load(self, known: Iterable[KnownSlice]) -> None:
        """What was known before a restart, in any order; for an index that has not been told anything."""
        for slice_, status, version in known:
            self._statuses.set(slice_, status, version)
        newest = self._registered.newest
        for slice_ in self._statuses:
            if slice_.entity in newest:
                with suppress(ParseError):  # of another period
                    newest.add(slice_)
        self._follow_all([slice_ for slice_ in self._statuses if self.status(slice_).run_state in _NOT_LAUNCHED])

    def observe(self, slice_: Slice, status: SliceStatus, version: int) -> None:
        """A slice's status after its transition number `version`."""
        if slice_.entity not in self._graph:
            return
        before = self._statuses.get(slice_)
        if version <= (self._statuses.version(slice_) or 0):
            return
        self._statuses.set(slice_, status, version)
        if status == before:
            return
        if not _look_alike(before or _UNKNOWN, status):
            for waiting in self._registered.tell(slice_, before, status):
                self._undecided[waiting.slice] = None
        self._follow(slice_, status)

    def advance(self, now: datetime, limit: int | None = None) -> bool:
        """Move the clock on (never back); whether all whose time has come was looked at, with at most `limit` of it."""
        self._now = max(self._now, seconds_of(now))
        room = _ALL if limit is None else limit
        room -= self._take_scheduled(self._now, room)
        while room and self._take_due(self._now):
            room -= 1
        return room > 0

    def prepare(self, until: datetime, limit: int) -> bool:
        """Count slices whose time comes by `until` beforehand, at most `limit`; whether there are no more of them."""
        return self._take_scheduled(seconds_of(until), limit) < limit

    def has_to_prepare(self, until: datetime) -> bool:
        """Whether `prepare` has anything to do."""
        time = self._schedule.next_time
        return time is not None and time <= seconds_of(until)

    def checkpoint(self, until: datetime, most: int) -> Checkpoint | None:
        """What has to be noted so that the schedule may begin after `until`, or where it is, if that is earlier.

        At most so many slices and schedules; None while a schedule that is new has not come to where others were noted.
        """
        upcoming = self._schedule.next_time
        limit = min([seconds_of(until), self._now, *([upcoming - 1] if upcoming is not None else [])])
        if limit < self._schedule.until:
            return None
        waiting = self._to_note(limit, most)
        names = islice(self._schedule.unnoted, most - len(waiting))
        schedules = {name: self._schedule.text_of(name) for name in names}
        return Checkpoint(limit, waiting, schedules, is_last=len(waiting) + len(schedules) < most)

    def _to_note(self, limit: int, most: int) -> list[Slice]:
        """Slices that wait since then and are not written down; the same again, unless `note_checkpoint` was called."""
        self._noting = [waiting for waiting in self._noting if self._is_unnoted(waiting)]
        while len(self._noting) < most and self._unnoted and self._unnoted[0][0] <= limit:
            _, _, waiting = heapq.heappop(self._unnoted)
            if self._is_unnoted(waiting):
                self._noting.append(waiting)
        return [waiting.slice for waiting in self._noting[:most]]

    def _is_unnoted(self, waiting: WaitingSlice) -> bool:
        return self._waiting.get(waiting.slice) is waiting and self._statuses.version(waiting.slice) is None

    def note_checkpoint(self, checkpoint: Checkpoint) -> None:
        """A checkpoint is written down."""
        for slice_ in checkpoint.waiting:
            self._statuses.add(slice_, _UNKNOWN, 0)
        for name in checkpoint.schedules:
            del self._schedule.unnoted[name]
        if checkpoint.is_last:
            self._schedule.until = checkpoint.until

    def let_go(self) -> None:
        """The index is not needed any more: leave no cycles for the garbage collector."""
        for waiting in self._waiting.values():
            waiting.counters = ()

    def decide(self) -> list[ReadinessDecision]:
        """What has to change, in the order in which it came up; each is to be told back by `observe`."""
        undecided, self._undecided = self._undecided, {}
        decisions = (self._decision(slice_) for slice_ in undecided)
        return [decision for decision in decisions if decision]

    def refresh(self, names: Iterable[str]) -> None:
        """These entities came, changed or went in the graph, or what they depend on did."""
        gone = set(names)
        for slice_ in [slice_ for slice_ in self._waiting if slice_.entity in gone]:
            self._forget(slice_)
        for name in sorted(gone):
            self._schedule.refresh(name)
        self._registered.newest.refresh(gone)
        for slice_ in [slice_ for slice_ in self._statuses if slice_.entity in gone]:
            with suppress(UnknownEntityError):  # gone
                self._follow(slice_, self.status(slice_))
        self.advance(datetime.fromtimestamp(self._now, UTC))

    def _take_scheduled(self, until: int, limit: int) -> int:
        """Count slices whose time comes by then, at most `limit`; how many there were."""
        taken = 0
        scheduled = iter(lambda: self._schedule.take(until), None)
        while slices := list(islice(scheduled, min(limit - taken, _AT_ONCE))):
            self._follow_all(slices)
            taken += len(slices)
        return taken

    def _take_due(self, now: int) -> bool:
        if not self._due or self._due[0][0] > now:
            return False
        _, _, waiting = heapq.heappop(self._due)
        if self._waiting.get(waiting.slice) is waiting:
            waiting.is_open = waiting.is_open or now >= waiting.not_before
            for counter in waiting.counters:
                counter.come_due(now)
            self._undecided[waiting.slice] = None
        return True

    def _follow_all(self, slices: Sequence[Slice]) -> None:
        """The same for many, whose inputs the archive is asked for together."""
        if not self._statuses.is_whole:
            for start in range(0, len(slices), _AT_ONCE):
                self._fetch_inputs(slices[start : start + _AT_ONCE])
        for slice_ in slices:
            self._follow(slice_, self.status(slice_))

    def _fetch_inputs(self, slices: Sequence[Slice]) -> None:
        self._statuses.fetch(slices)
        inputs: list[Slice] = []
        places: dict[Place, None] = {}
        for slice_ in slices:
            state = self._wanted_state(slice_, self.status(slice_))
            for requirement in self._graph.requirements(slice_, state) if state else ():
                if requirement.or_older:
                    places.update(((slice_.entity, slice_.sub), None) for slice_ in requirement.slices)
                else:
                    inputs.extend(requirement.slices)
        self._statuses.fetch(inputs)
        self._registered.newest.fetch(places)

    def _follow(self, slice_: Slice, status: SliceStatus) -> None:
        """Count for a slice that is not launched; stop counting for one that is."""
        state = self._wanted_state(slice_, status)
        waiting = self._waiting.get(slice_)
        if waiting and state != waiting.state:
            self._forget(slice_)
            waiting = None
        if state is None:
            return
        if waiting is None:
            self._begin(slice_, state)
        self._undecided[slice_] = None

    def _wanted_state(self, slice_: Slice, status: SliceStatus) -> str | None:
        """The state that a slice is to reach by itself; None where it is under way, done, or not to start."""
        if status.run_state not in _NOT_LAUNCHED:
            return None
        node = self._graph.node(slice_.entity)
        if not is_released(node, slice_.sub):
            return None
        first = self._schedule.first(slice_.entity, slice_.sub)
        try:
            ordinal = node.ordinal(slice_)
        except ParseError:  # of another period, from before the entity was changed
            return None
        is_scheduled_one = first is not None and ordinal >= first
        if ordinal not in node.existing_of(slice_.sub) or not (is_scheduled_one or status.generation > 1):
            return None
        return next_state(node.entity, status)

    def _begin(self, slice_: Slice, state: str) -> None:
        node = self._graph.node(slice_.entity)
        time = not_before(node.entity, node.grid_of(slice_.sub), node.ordinal(slice_))
        waiting = WaitingSlice(slice_, state, time)
        waiting.is_open = self._now >= waiting.not_before
        self._waiting[slice_] = waiting
        if self._statuses.version(slice_) is None:
            heapq.heappush(self._unnoted, (waiting.not_before, next(self._order), waiting))
        waiting.counters = tuple(
            [self._count(waiting, requirement) for requirement in self._graph.requirements(slice_, state)]
        )
        times = {counter.due for counter in waiting.counters if counter.due is not None and not counter.is_due}
        for time in times if waiting.is_open else times | {waiting.not_before}:
            heapq.heappush(self._due, (time, next(self._order), waiting))

    def _count(self, waiting: WaitingSlice, requirement: Requirement) -> Counter:
        counter = Counter(waiting, requirement)
        add = self._registered.add_latest if requirement.or_older else self._registered.add
        counter.begin(add(counter), self._now)
        return counter

    def _forget(self, slice_: Slice) -> None:
        waiting = self._waiting.pop(slice_)
        for counter in waiting.counters:
            self._registered.remove(counter)
        waiting.counters = ()  # no cycle is left for the garbage collector

    def _decision(self, slice_: Slice) -> ReadinessDecision | None:
        waiting = self._waiting.get(slice_)
        if waiting is None:
            return None
        run_state = self.status(slice_).run_state
        if waiting.is_released and run_state is RunState.WAITING:
            return ReadinessDecision(slice_, Event.RELEASED, waiting.state, waiting.is_partial)
        if not waiting.is_released and run_state is RunState.READY:
            return ReadinessDecision(slice_, Event.WITHDRAWN, waiting.state)
        return None


def _look_alike(status: SliceStatus, other: SliceStatus) -> bool:
    """Whether two statuses are the same to everyone who may use the slice."""
    return (
        status.states == other.states
        and status.quality is other.quality
        and status.issues == other.issues
        and status.tainted is other.tainted
    )
