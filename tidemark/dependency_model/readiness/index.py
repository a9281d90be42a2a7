"""The readiness index: which slices may start. Its work is proportional to the edges that an event touches.

It holds the status of every known slice, and a counter for each clause of each slice that is not launched yet
(`missing_inputs_counter`). A changed status updates exactly the counters that depend on it. The time is passed in.
Changes by time alone (earliest times, timeouts) are in a heap.

`decide` names the slices to release, and the released slices that must wait again because an input was tainted, failed
its rules or was requested again. Statuses are numbered: one that is observed twice, or after a later one, has no
effect.

It covers the slices of scheduled entities in or after `since`, and older slices that were requested (generation 2 and
later). The cost of a start depends on open and recent slices, not on the whole past. Other slices stay in the archive,
and `checkpoint` says what to store so that the next start goes on from there. Source: seed capabilities A6, A8.
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
    """A slice to be `released` for a state (`partial`: without some inputs), or to be `withdrawn`."""

    slice: Slice
    event: Event
    state: str
    partial: bool = False


class ReadinessIndex:
    """`since` and `now` are aware instants. Slices that ended before `since` start only if they are requested."""

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
        """The number of counted inputs (`Registrations`)."""
        return self._registered.work

    @property
    def statuses(self) -> StatusTable:
        """Every known slice; iteration covers only the slices in memory."""
        return self._statuses

    def waiting_since(self, instant: datetime, most: int) -> tuple[int, list[Slice]]:
        """The number of slices that wait for inputs since before an instant, and the newest `most` of them."""
        limit = seconds_of(instant)
        held = [waiting for waiting in self._waiting.values() if waiting.unmet and waiting.not_before <= limit]
        newest = heapq.nlargest(most, held, key=lambda waiting: waiting.not_before)
        return len(held), [waiting.slice for waiting in newest]

    @property
    def next_time(self) -> datetime | None:
        """The next time at which time alone may change something; None if there is none."""
        times = [time for time in (self._schedule.next_time, self._due[0][0] if self._due else None) if time]
        return datetime.fromtimestamp(min(times), UTC) if times else None

    def status(self, slice_: Slice) -> SliceStatus:
        """The status of a slice; an unknown slice waits."""
        return self._statuses.get(slice_) or _UNKNOWN

    def newest(self, slice_: Slice, accepts: Callable[[SliceStatus], bool]) -> Slice | None:
        """The newest known slice up to this one, of the same entity and sub-partition, whose status is accepted."""
        return self._registered.newest.find(slice_, accepts)

    def load(self, known: Iterable[KnownSlice]) -> None:
        """Loads known statuses after a restart, in any order. The index must be new."""
        for slice_, status, version in known:
            self._statuses.set(slice_, status, version)
        newest = self._registered.newest
        for slice_ in self._statuses:
            if slice_.entity in newest:
                with suppress(ParseError):  # its entity has another period now
                    newest.add(slice_)
        self._follow_all([slice_ for slice_ in self._statuses if self.status(slice_).run_state in _NOT_LAUNCHED])

    def observe(self, slice_: Slice, status: SliceStatus, version: int) -> None:
        """Records a slice's status after its transition number `version`."""
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
        """Advances the clock (never back) and processes at most `limit` due items.

        Returns whether all were processed.
        """
        self._now = max(self._now, seconds_of(now))
        room = _ALL if limit is None else limit
        room -= self._take_scheduled(self._now, room)
        while room and self._take_due(self._now):
            room -= 1
        return room > 0

    def prepare(self, until: datetime, limit: int) -> bool:
        """Counts at most `limit` slices that come due by `until` in advance. Returns whether there are no more."""
        return self._take_scheduled(seconds_of(until), limit) < limit

    def has_to_prepare(self, until: datetime) -> bool:
        """Whether `prepare` has anything to do."""
        time = self._schedule.next_time
        return time is not None and time <= seconds_of(until)

    def checkpoint(self, until: datetime, most: int) -> Checkpoint | None:
        """The state to store so that the schedule may continue after `until`, or after its present time if earlier.

        At most `most` slices and schedules. None while a changed schedule has not caught up with the stored ones.
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
        """Waiting slices that are not stored yet.

        The same ones are returned again until `note_checkpoint` is called.
        """
        self._noting = [waiting for waiting in self._noting if self._is_unnoted(waiting)]
        while len(self._noting) < most and self._unnoted and self._unnoted[0][0] <= limit:
            _, _, waiting = heapq.heappop(self._unnoted)
            if self._is_unnoted(waiting):
                self._noting.append(waiting)
        return [waiting.slice for waiting in self._noting[:most]]

    def _is_unnoted(self, waiting: WaitingSlice) -> bool:
        return self._waiting.get(waiting.slice) is waiting and self._statuses.version(waiting.slice) is None

    def note_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Records that a checkpoint was stored."""
        for slice_ in checkpoint.waiting:
            self._statuses.add(slice_, _UNKNOWN, 0)
        for name in checkpoint.schedules:
            del self._schedule.unnoted[name]
        if checkpoint.is_last:
            self._schedule.until = checkpoint.until

    def let_go(self) -> None:
        """Removes cycles for the garbage collector, before the index is dropped."""
        for waiting in self._waiting.values():
            waiting.counters = ()

    def decide(self) -> list[ReadinessDecision]:
        """The decisions, in the order in which they came up. The caller reports each result with `observe`."""
        undecided, self._undecided = self._undecided, {}
        decisions = (self._decision(slice_) for slice_ in undecided)
        return [decision for decision in decisions if decision]

    def refresh(self, names: Iterable[str]) -> None:
        """Updates entities that were added, changed or removed in the graph, or whose dependencies were."""
        gone = set(names)
        for slice_ in [slice_ for slice_ in self._waiting if slice_.entity in gone]:
            self._forget(slice_)
        for name in sorted(gone):
            self._schedule.refresh(name)
        self._registered.newest.refresh(gone)
        for slice_ in [slice_ for slice_ in self._statuses if slice_.entity in gone]:
            with suppress(UnknownEntityError):  # the entity is gone
                self._follow(slice_, self.status(slice_))
        self.advance(datetime.fromtimestamp(self._now, UTC))

    def _take_scheduled(self, until: int, limit: int) -> int:
        """Counts at most `limit` slices that come due by an instant. Returns their number."""
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
        """Follows many slices, whose inputs are read from the archive together."""
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
        """Begins to count for a slice that is not launched, or ends it for another one."""
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
        """The state that a slice is to reach by itself; None if it is under way, done, or not to start."""
        if status.run_state not in _NOT_LAUNCHED:
            return None
        node = self._graph.node(slice_.entity)
        if not is_released(node, slice_.sub):
            return None
        first = self._schedule.first(slice_.entity, slice_.sub)
        try:
            ordinal = node.ordinal(slice_)
        except ParseError:  # a key of another period, from before the entity was changed
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
        waiting.counters = ()  # leaves no cycle for the garbage collector

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
    """Whether two statuses are the same for all readers of the slice."""
    return (
        status.states == other.states
        and status.quality is other.quality
        and status.issues == other.issues
        and status.tainted is other.tainted
    )
