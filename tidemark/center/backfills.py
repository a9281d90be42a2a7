"""Backfills carried out by the center: their steps become facts like any other, and are noted once these are durable.

Facts have ids of their own (`backfill:NUMBER:...`). A process that dies between a fact and the note of it says the fact
again, which changes nothing, and notes it then. Source: seed capability D5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.center.fact import CHANGED, Fact
from tidemark.dependency_model.backfill import Backfill, SliceProgress, plan_on
from tidemark.dependency_model.backfill.course import EVENT_OF, Act, BackfillStep, is_restorable, steps
from tidemark.dependency_model.backfill.progress import OPEN
from tidemark.dependency_model.readiness.self_starting_slices import is_scheduled
from tidemark.dependency_model.status import Event, Quality, RunState, SliceStatus
from tidemark.dependency_model.status.consequence import has_bad_inputs
from tidemark.dependency_model.status.propagation import REPROCESS
from tidemark.dependency_model.status.transition import row_of
from tidemark.state_store.backfills import Backfills
from tidemark.system.crash_points import crash_point

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from tidemark.center.center import DependencyCenter
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.fence import Fence
    from tidemark.state_store.transition import Transition

    IsExhausted = Callable[[Slice], bool]

ON_THEIR_WAY: Final = 200
"""So many slices of a backfill are ready or under way at a time: few have to be given back where it is cancelled."""
_FINISHED: Final = frozenset({Event.COMPLETED, Event.BACKFILLED})


class BackfillDriver:
    """The backfills of one center's store, in memory as far as they go on."""

    def __init__(self, center: DependencyCenter, clock: Callable[[], datetime]) -> None:
        self._center, self._clock = center, clock
        self._stored = Backfills(center.store.database)
        self._known: dict[int, tuple[int, Backfill]] = {}
        self._fence: Fence | None = None

    def refresh(self) -> None:
        """Take in what people changed: plans that were approved, pauses, answers. Raises StateStoreDownError."""
        fence = self._center.store.write.fence
        if fence != self._fence:  # another center may have been active meanwhile
            self._known, self._fence = {}, fence
        known, rows = {}, self._stored.active()
        for row in rows:
            before = self._known.get(row.number)
            is_same = before is not None and before[0] == row.revision
            known[row.number] = before if before and is_same else (row.revision, self._load(row.number))
        if known != self._known or not known:
            self._known = known
            self._center.backfills.replace(backfill for _, backfill in known.values())

    def forget(self) -> None:
        """Read everything again at the next refresh."""
        self._known = {}

    def step(self, is_exhausted: IsExhausted) -> None:
        """Go on with each of them; `is_exhausted` says of a failed slice whether it is not tried again."""
        for backfill in self._center.backfills.all:
            evidence = _Evidence(self._center, backfill, is_exhausted)
            while told := steps(backfill, evidence, ON_THEIR_WAY):
                if not self._carry_out(backfill, told, evidence):
                    break
            if backfill.is_over:
                self._stored.end(backfill.number)
                self._known.pop(backfill.number, None)
                self._center.backfills.replace(own for _, own in self._known.values())

    def _load(self, number: int) -> Backfill:
        """A backfill as the project is now: what this does not have, or does not compute, is settled."""
        stored, graph = self._stored.load(number), self._center.graph
        gone = [
            (place, SliceProgress.GONE, "the project does not have it any more, or does not compute it")
            for place, (slice_, member) in enumerate(stored.plan.members.items())
            if stored.progress[slice_] in OPEN
            and not (graph.has(slice_) and (member.is_given or is_scheduled(graph.entity(slice_.entity))))
        ]
        self._stored.note(number, gone)
        slices = list(stored.plan.members)
        progress = {**stored.progress, **{slices[place]: far for place, far, _ in gone}}
        return Backfill(number, stored.phase, plan_on(graph, stored.plan), progress)

    def _carry_out(self, backfill: Backfill, told: Sequence[BackfillStep], known: _Evidence) -> int:
        """How many of the steps were taken."""
        facts = [fact for step in told for fact in self._facts(backfill, step, known)]
        facts += self._owed(backfill, [step.slice for step in told if step.progress in _LETS_GO], known)
        crash_point("backfill.decided")
        receipt = self._center.report(facts) if facts else None
        crash_point("backfill.reported")
        refused = {fact.slice for fact, _ in receipt.refused} if receipt else set()
        done = [step for step in told if step.slice not in refused]  # the others are looked at again
        places = {slice_: place for place, slice_ in enumerate(backfill.plan.members)}
        self._stored.note(backfill.number, [(places[step.slice], step.progress, step.why) for step in done])
        crash_point("backfill.noted")
        for step in done:
            backfill.note(step.slice, step.progress)
        return len(done)

    def _facts(self, backfill: Backfill, step: BackfillStep, known: _Evidence) -> Iterator[Fact]:
        """What a step tells of its slice; nothing where it is so already."""
        slice_, status = step.slice, known.status(step.slice)
        event = EVENT_OF.get(step.act)
        if event is None:
            return
        is_there = status.run_state is RunState.COMPLETED
        if step.act is Act.KEEP and not (is_there and status.tainted and not self._has_bad_inputs(slice_, known)):
            return
        if step.act is Act.ASK and (not is_there or status.tainted):
            return
        before = self._before(backfill, slice_, known) if step.act in (Act.RESTORE, Act.GIVE_UP) else None
        if step.act is Act.RESTORE and before is None:
            return
        if before is not None:
            event = Event.RESTORED
        yield self._fact(backfill, slice_, event, step.act.value, before)
        if before is not None and before.run_state is RunState.COMPLETED and self._has_bad_inputs(slice_, known):
            yield self._fact(backfill, slice_, Event.TAINTED, "tainted", None)

    def _fact(self, backfill: Backfill, slice_: Slice, event: Event, act: str, before: SliceStatus | None) -> Fact:
        event_id, who = _event_id(backfill.number, act, slice_), f"backfill {backfill.number}"
        return Fact(event_id, slice_, event, self._clock(), who, _WHY.get(act, ""), before=before)

    def _before(self, backfill: Backfill, slice_: Slice, known: _Evidence) -> SliceStatus | None:
        """What a slice was before this backfill asked for it; None where it is to be computed in any case."""
        history = self._center.store.read.history(slice_)
        asked = next((at for at in reversed(range(len(history))) if row_of(history[at].event).new_generation), None)
        if asked is None or history[asked].event_id != _event_id(backfill.number, Act.REQUEST.value, slice_):
            return None
        if known.status(slice_).quality is Quality.FAILED:  # its rows were refused, and its flag has gone on from it
            return None
        if not is_restorable(backfill, self._center.store.read.reads([slice_]).get(slice_), known):
            return None
        return history[asked - 1].status if asked else SliceStatus()

    def _owed(self, backfill: Backfill, slices: Sequence[Slice], known: _Evidence) -> Iterator[Fact]:
        """What follows for slices that it lets go as they are from what others have computed again meanwhile.

        While it held them no policy was asked. What it computed itself sets nothing in motion.
        """
        there = [slice_ for slice_ in slices if known.status(slice_).run_state is RunState.COMPLETED]
        for slice_, reads in (self._center.store.read.reads(there) if there else {}).items():
            newer = (used for used, generation in reads or () if known.status(used).generation > generation)
            if not any(self._is_of_others(backfill, used, known) for used in newer):
                continue
            event = Event(REPROCESS[self._center.graph.entity(slice_.entity).reprocess].changed)
            if event is not Event.KEPT:
                yield self._fact(backfill, slice_, event, "owed", None)

    def _is_of_others(self, backfill: Backfill, used: Slice, known: _Evidence) -> bool:
        """Whether somebody else has computed a slice of the backfill again, and it is there."""
        member, status = backfill.plan.members.get(used), known.status(used)
        if member is None or status.run_state is not RunState.COMPLETED or status.unannounced:
            return False
        if member.after is not None and status.generation == member.after + 1:
            return False
        begun = self._last(used)
        own = _event_id(backfill.number, Act.REQUEST.value, used)
        return begun is not None and begun.event_id != own

    def _last(self, slice_: Slice) -> Transition | None:
        """What began its present generation; None of the first one."""
        history = self._center.store.read.history(slice_)
        return next((step for step in reversed(history) if row_of(step.event).new_generation), None)

    def _has_bad_inputs(self, slice_: Slice, known: _Evidence) -> bool:
        return has_bad_inputs(self._center.graph, slice_, known)


_LETS_GO: Final = frozenset({SliceProgress.BLOCKED, SliceProgress.KEPT, SliceProgress.CANCELLED})
_WHY: Final = {
    Act.REQUEST.value: "it is to be rebuilt",
    Act.KEEP.value: "nothing that it goes by has changed",
    Act.ASK.value: "what it reads has changed, and its policy is to ask a person",
    Act.RESTORE.value: "it was cancelled before this began",
    Act.GIVE_UP.value: "it was cancelled, and its run had failed",
    "tainted": "what it read is not good",
    "owed": "what it reads was computed again by others meanwhile",
}


def _event_id(number: int, act: str, slice_: Slice) -> str:
    return f"backfill:{number}:{act}:{slice_}"


class _Evidence:
    """What one backfill is told of slices."""

    def __init__(self, center: DependencyCenter, backfill: Backfill, is_exhausted: IsExhausted) -> None:
        self._center, self._backfill, self._is_exhausted = center, backfill, is_exhausted

    def status(self, slice_: Slice) -> SliceStatus:
        return self._center.status(slice_)

    def get(self, slice_: Slice, /) -> SliceStatus | None:
        return self._center.status(slice_)

    def is_exhausted(self, slice_: Slice) -> bool:
        return self._is_exhausted(slice_)

    def has_changed(self, slice_: Slice) -> bool:
        finished = self._last(slice_, lambda transition: transition.event in _FINISHED)
        return finished is None or finished.status.unannounced or bool(finished.facts.parameters.get(CHANGED, True))

    def has_read(self, slice_: Slice, inputs: Sequence[Slice]) -> bool:
        told = dict(self._center.store.read.reads([slice_]).get(slice_) or ())
        return bool(inputs) and all(told.get(used) == self.status(used).generation for used in inputs)

    def holder(self, slice_: Slice) -> int | None:
        return self._center.backfills.holder(slice_, self._backfill.number)

    def _last(self, slice_: Slice, wanted: Callable[[Transition], bool]) -> Transition | None:
        history = self._center.store.read.history(slice_)
        return next((transition for transition in reversed(history) if wanted(transition)), None)
