"""The effects of one event on all slices that it reaches, computed from the tables without changing anything."""

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
    """The statuses before the event; a mapping has this interface."""

    def get(self, slice_: Slice, /) -> SliceStatus | None:
        """The status of a slice; None if it is unknown."""


@dataclass(frozen=True, slots=True)
class Consequence:
    """An event of a slice. `cause` is the slice whose quality it is about; `asks`:

    the taint needs a person's decision.
    """

    slice: Slice
    event: Event
    cause: Slice
    asks: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A consequence that changed something, with the slice's new status."""

    slice: Slice
    event: Event
    cause: Slice
    status: SliceStatus


def borne_flags(graph: DependencyGraph, slice_: Slice, known: KnownStatuses) -> frozenset[Slice]:
    """Flags of inputs that do not taint a slice: flags that it has itself, and forgiven ones (`forgiven_flags`).

    Such a flag is removed from the slice together with its inputs.
    """
    return (known.get(slice_) or _UNKNOWN).issues | graph.forgiven_flags(slice_)


def has_bad_inputs(graph: DependencyGraph, slice_: Slice, known: KnownStatuses) -> bool:
    """Whether an input is tainted, foreign, or invalid by a flag that is not in `borne_flags`."""
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

    `known` has the statuses before (other slices wait). `until` limits the slices downstream of static ones. `changed`:
    whether a backfill changed the content. Raises TransitionError if the event itself is not allowed; slices that
    cannot have a following event are skipped.
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
    """The effects one by one, in the order in which they follow.

    `tainted` names the entities with tainted or partial slices, if known: other entities are then not searched. `state`
    is the state that a run reached, `before` the status to restore. `decides` says whether a backfill of both slices,
    and not a policy, decides about the downstream one. `reads` has recorded reads: a reader that has already read the
    new rows is not asked. `asks`: the taint needs a person's decision. Unchanged rows count as changed if the earlier
    rows were never announced.
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
        """Applies one event. An event that changes nothing has no further effects."""
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
        """Whether the rows that broke a rule were never published, so that the table is unchanged."""
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
        """Whether an input is still bad, or a person still has to decide about an input that was computed again."""
        if self.status(target).asked or has_bad_inputs(self.graph, target, self):
            return True
        return self.graph.entity(target.entity).reprocess is Reprocess.ASK and any(
            BACKFILLED in self.status(input_).states for input_ in _inputs(self.graph, target) if input_ != slice_
        )

    def _asks(self, step: Consequence, target: Slice) -> bool:
        """Whether a valid slice matters to a downstream slice.

        Removing a flag or taint brings no rows. It only matters to slices that were held by it, once the slice is
        completed.
        """
        slice_, status = step.slice, self.status(step.slice)
        is_asking = self.status(target).tainted or PARTIAL in self.status(target).states
        if step.event in _LIFTED:
            return is_asking and status.run_state is RunState.COMPLETED
        if is_asking or self._has_read(slice_, target):
            return is_asking
        return BACKFILLED in status.states or self._was_read_before(slice_, target)

    def _has_read(self, slice_: Slice, target: Slice) -> bool:
        """Whether the target was computed from the slice's present rows."""
        status, reader = self.status(slice_), self.status(target)
        read = InputRead(target, reader.generation, slice_, status.generation, status.unfinished_state)
        return reader.run_state is RunState.COMPLETED and read in self.reads

    def _brings_change(self, step: Consequence, target: Slice) -> bool:
        """Whether the target may get other rows if it is computed again.

        `changed` is about the computed slice, not about slices whose flags were removed with its flag.
        """
        if PARTIAL in self.status(target).states:
            return True
        if step.event in (*_LIFTED, Event.QUALITY_IGNORED):
            return BACKFILLED in self.status(step.slice).states
        return self.changed

    def _has_to_ask(self, slice_: Slice) -> bool:
        """Whether a policy downstream can matter:

        the slice's content has changed, or a downstream entity waits for it.
        """
        has_changed = BACKFILLED in self.status(slice_).states or self._earlier_states(slice_)
        if self.tainted is None or has_changed or len(self.after) > 1:
            return True
        return any(edge.down.name in self.tainted for edge in self.graph.downstream_edges(slice_.entity))

    def _was_read_before(self, slice_: Slice, target: Slice) -> bool:
        """Whether the target reads the slice in an earlier state than the present one."""
        earlier = self._earlier_states(slice_)
        edges = self.graph.downstream_edges(slice_.entity) if earlier else ()
        return any(edge.down.name == target.entity and earlier & {*edge.dependency.states} for edge in edges)

    def _earlier_states(self, slice_: Slice) -> set[str]:
        reached = self.status(slice_).states - {PARTIAL, BACKFILLED, FOREIGN}
        if COMPLETED in reached:
            return {*reached} - {COMPLETED}
        declared = [state for state in self.graph.entity(slice_.entity).state_names if state in reached]
        return {*declared[:-1]}
