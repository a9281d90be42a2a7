"""What follows from one event, for all slices that it reaches - worked out from the tables, changing nothing."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.entity.entity import Reprocess
from tidemark.dependency_model.status.input_read import InputRead
from tidemark.dependency_model.status.propagation import BY_POLICY, REPROCESS, To, targets
from tidemark.dependency_model.status.slice_status import BACKFILLED, FOREIGN, PARTIAL, RunState, SliceStatus
from tidemark.dependency_model.status.transition import Event, apply, row_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator
    from datetime import datetime

    from tidemark.dependency_model.graph.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.propagation import Spread

    Decides = Callable[[Slice, Slice], bool]


_UNKNOWN = SliceStatus()
_LIFTED = (Event.CLEARED, Event.KEPT)


class KnownStatuses(Protocol):
    """The statuses before: a mapping will do."""

    def get(self, slice_: Slice, /) -> SliceStatus | None:
        """The status of a slice; None where nothing is known of it."""


@dataclass(frozen=True, slots=True)
class Consequence:
    """An event for a slice; `cause` is the slice whose quality it is about, `asks` whether a taint is a question."""

    slice: Slice
    event: Event
    cause: Slice
    asks: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One consequence that changed something, with the slice's status after it."""

    slice: Slice
    event: Event
    cause: Slice
    status: SliceStatus


def borne_flags(graph: DependencyGraph, slice_: Slice, known: KnownStatuses) -> frozenset[Slice]:
    """Flags of inputs that do not taint a slice: it carries them itself, or they were raised about what it is part of.

    They go from it as from its inputs, and what was computed again by then asks it what it does.
    """
    return (known.get(slice_) or _UNKNOWN).issues | graph.forgiven_flags(slice_)


def has_bad_inputs(graph: DependencyGraph, slice_: Slice, known: KnownStatuses) -> bool:
    """Whether a slice asks for one that is tainted, foreign, or invalid by a flag that it does not bear itself."""
    borne = borne_flags(graph, slice_, known)
    return any((known.get(upstream) or _UNKNOWN).is_flawed_beyond(borne) for upstream in _inputs(graph, slice_))


def _inputs(graph: DependencyGraph, slice_: Slice) -> Iterator[Slice]:
    return (upstream for requirement in graph.requirements(slice_) for upstream in requirement.slices)


def consequences(
    graph: DependencyGraph,
    known: KnownStatuses,
    slice_: Slice,
    event: Event,
    until: datetime,
    *,
    changed: bool = True,
) -> dict[Slice, SliceStatus]:
    """The new status of every slice that an event changes, the slice itself first.

    `known` holds the statuses before (a slice that is not in it waits), `until` is how far slices downstream of static
    ones are looked for, `changed` whether a backfill brought other content. Raises TransitionError where the event
    itself is not possible; what follows from it passes over slices in whose run state it cannot happen.
    """
    return {step.slice: step.status for step in steps(graph, known, slice_, event, until, changed=changed)}


def steps(
    graph: DependencyGraph,
    known: KnownStatuses,
    slice_: Slice,
    event: Event,
    until: datetime,
    *,
    changed: bool = True,
    tainted: Container[str] | None = None,
    state: str | None = None,
    before: SliceStatus | None = None,
    decides: Decides | None = None,
    reads: Container[InputRead] = frozenset(),
    asks: bool = False,
) -> list[Step]:
    """The same one by one, in the order in which they follow.

    `tainted` names the entities with tainted or partial slices, where that is known: it spares looking for slices to
    ask.
    `state` is the state that a run reached, `before` what is restored. `decides` says of a slice and one downstream of
    it whether a backfill of both decides what becomes of the latter: no policy does, then. `reads` holds what was read
    before it is announced, as far as that is known: who did so is not asked. `asks` says that a taint is a question.
    Rows that are the same as before count as changed where those before were never announced.
    """
    changed = changed or (known.get(slice_) or _UNKNOWN).unannounced
    walk = _Walk(graph, known, until, changed=changed, tainted=tainted, decides=decides, reads=reads)
    walk.take(Consequence(slice_, event, slice_, asks), state, before)
    while walk.waiting:
        for follower in walk.followers(walk.waiting.popleft()):
            if walk.status(follower.slice).run_state in row_of(follower.event).run_states:
                walk.take(follower)
    return walk.steps


class _Walk:
    def __init__(
        self,
        graph: DependencyGraph,
        known: KnownStatuses,
        until: datetime,
        *,
        changed: bool,
        tainted: Container[str] | None,
        decides: Decides | None,
        reads: Container[InputRead],
    ) -> None:
        self.graph, self.known, self.until, self.changed = graph, known, until, changed
        self.tainted, self.decides, self.reads = tainted, decides, reads
        self.steps: list[Step] = []
        self.after: dict[Slice, SliceStatus] = {}
        self.waiting: deque[Consequence] = deque()

    def get(self, slice_: Slice, /) -> SliceStatus | None:
        return self.after.get(slice_) or self.known.get(slice_)

    def status(self, slice_: Slice) -> SliceStatus:
        return self.get(slice_) or _UNKNOWN

    def take(self, step: Consequence, state: str | None = None, restored: SliceStatus | None = None) -> None:
        """Apply one event; what changes nothing goes no further."""
        before = self.status(step.slice)
        cause, changed, asks = step.cause, self.changed, step.asks
        after = apply(before, step.event, cause=cause, state=state, before=restored, changed=changed, asks=asks)
        if after != before or row_of(step.event).is_noted:
            self.after[step.slice] = after
            self.steps.append(Step(step.slice, step.event, step.cause, after))
            self.waiting.append(step)

    def followers(self, step: Consequence) -> Iterator[Consequence]:
        for spread in row_of(step.event).spreads:
            if spread.to is To.USERS and self._was_refused(step):
                continue
            if spread.event == BY_POLICY and not self._has_to_ask(step.slice):
                continue
            for target in targets(self.graph, step.slice, spread.to, self.until):
                event = self._event(spread, step, target)
                if event:
                    asks = spread.event == BY_POLICY and event is Event.TAINTED
                    yield Consequence(target, event, step.cause, asks)

    def _was_refused(self, step: Consequence) -> bool:
        """Whether the rows that broke a rule were never published: the table is as it was."""
        return step.event is Event.QUALITY_FAILED and self.status(step.slice).run_state is RunState.FAILED

    def _event(self, spread: Spread, step: Consequence, target: Slice) -> Event | None:
        if spread.event != BY_POLICY:
            return Event(spread.event)
        if self.decides is not None and self.decides(step.slice, target):
            return None
        if not self._asks(step, target):
            return None
        policy = REPROCESS[self.graph.entity(target.entity).reprocess]
        event = Event(policy.changed if self._brings_change(step, target) else policy.unchanged)
        return None if event is Event.KEPT and self._stays_in_doubt(step.slice, target) else event

    def _stays_in_doubt(self, slice_: Slice, target: Slice) -> bool:
        """Whether an input is still bad, or somebody is still to decide about one that was computed again."""
        if self.status(target).asked or has_bad_inputs(self.graph, target, self):
            return True
        return self.graph.entity(target.entity).reprocess is Reprocess.ASK and any(
            BACKFILLED in self.status(input_).states for input_ in _inputs(self.graph, target) if input_ != slice_
        )

    def _asks(self, step: Consequence, target: Slice) -> bool:
        """Whether a slice that is good again matters to one downstream.

        A flag or taint that is lifted brings no rows: it matters to who was held by it, once the slice is there.
        """
        slice_, status = step.slice, self.status(step.slice)
        is_asking = self.status(target).tainted or PARTIAL in self.status(target).states
        if step.event in _LIFTED:
            return is_asking and status.run_state is RunState.COMPLETED
        if is_asking or self._has_read(slice_, target):
            return is_asking
        return BACKFILLED in status.states or self._was_read_before(slice_, target)

    def _has_read(self, slice_: Slice, target: Slice) -> bool:
        """Whether the target was computed from just what the slice holds now."""
        status, reader = self.status(slice_), self.status(target)
        read = InputRead(target, reader.generation, slice_, status.generation, status.unfinished_state)
        return reader.run_state is RunState.COMPLETED and read in self.reads

    def _brings_change(self, step: Consequence, target: Slice) -> bool:
        """Whether the target may hold other rows once it is computed again.

        What was told of content is about the slice that was computed, not about those whose flags went with its own.
        """
        if PARTIAL in self.status(target).states:
            return True
        if step.event in (*_LIFTED, Event.QUALITY_IGNORED):
            return BACKFILLED in self.status(step.slice).states
        return self.changed

    def _has_to_ask(self, slice_: Slice) -> bool:
        """Whether a policy downstream can matter: the slice has other content than before, or someone below asks."""
        has_changed = BACKFILLED in self.status(slice_).states or self._earlier_states(slice_)
        if self.tainted is None or has_changed or len(self.after) > 1:
            return True
        return any(edge.down.name in self.tainted for edge in self.graph.downstream_edges(slice_.entity))

    def _was_read_before(self, slice_: Slice, target: Slice) -> bool:
        """Whether the target takes the slice in a state before the one that it has reached now."""
        earlier = self._earlier_states(slice_)
        edges = self.graph.downstream_edges(slice_.entity) if earlier else ()
        return any(edge.down.name == target.entity and earlier & {*edge.dependency.states} for edge in edges)

    def _earlier_states(self, slice_: Slice) -> set[str]:
        reached = self.status(slice_).states - {PARTIAL, BACKFILLED, FOREIGN}
        if COMPLETED in reached:
            return {*reached} - {COMPLETED}
        declared = [state for state in self.graph.entity(slice_.entity).state_names if state in reached]
        return {*declared[:-1]}
