"""Carries out backfills: their steps become facts, and are recorded after the facts are durable.

Facts have their own ids (`backfill:NUMBER:...`). After a crash between a fact and its record, the fact is reported
again, which changes nothing, and then recorded. Source: seed capability D5.
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
"""Most slices of a backfill that are ready or active, so that a cancel has to return few."""
_FINISHED: Final = frozenset({Event.COMPLETED, Event.BACKFILLED})
_RETURNS: Final = (Act.RESTORE, Act.GIVE_UP)


class BackfillDriver:
    """The backfills of one center's store; active ones are in memory."""

    def __init__(self, center: DependencyCenter, clock: Callable[[], datetime]) -> None:
        self._center, self._clock = center, clock
        self._stored = Backfills(center.store.database)
        self._known: dict[int, tuple[int, Backfill]] = {}
        self._fence: Fence | None = None

    def refresh(self) -> None:
        """Read users' changes: approved plans, pauses, answers. Raises StateStoreDownError."""
        fence = self._center.store.write.fence
        if fence != self._fence:  # another center may have been active in between
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
        """Take the next steps of each; `is_exhausted` says whether a failed slice is not retried any more."""
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
        """A backfill adapted to the project: slices that it no longer has or computes are settled."""
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
        """The number of steps taken."""
        facts = [fact for step in told for fact in self._facts(backfill, step, known)]
        facts += self._owed(backfill, [step.slice for step in told if step.progress in _LETS_GO], known)
        crash_point("backfill.decided")
        receipt = self._center.report(facts) if facts else None
        crash_point("backfill.reported")
        refused = {fact.slice for fact, _ in receipt.refused} if receipt else set()
        done = [step for step in told if step.slice not in refused]  # other backfills are checked again
        places = {slice_: place for place, slice_ in enumerate(backfill.plan.members)}
        self._stored.note(backfill.number, [(places[step.slice], step.progress, step.why) for step in done])
        crash_point("backfill.noted")
        for step in done:
            backfill.note(step.slice, step.progress)
        return len(done)

    def _facts(self, backfill: Backfill, step: BackfillStep, known: _Evidence) -> Iterator[Fact]:
        """Facts of a step about its slice; none if the slice has these states already."""
        slice_, status = step.slice, known.status(step.slice)
        event = EVENT_OF.get(step.act)
        if event is None:
            return
        is_there = status.run_state is RunState.COMPLETED
        is_question = status.asked and not backfill.plan.members[slice_].is_decided  # a question from outside
        is_kept = is_there and status.tainted and not is_question and not self._has_bad_inputs(slice_, known)
        if step.act is Act.KEEP and not is_kept:
            return
        if step.act is Act.ASK and (not is_there or status.tainted):
            return
        if step.act in _RETURNS and self._is_restored(backfill, slice_):
            return
        before = self._before(backfill, slice_, known) if step.act in _RETURNS else None
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

    def _is_restored(self, backfill: Backfill, slice_: Slice) -> bool:
        """Whether this backfill has returned the slice already: a crash came between the fact and its record."""
        last = self._last(slice_, Event.RESTORED)
        own = [_event_id(backfill.number, act.value, slice_) for act in _RETURNS]
        return last is not None and last.event_id in own

    def _before(self, backfill: Backfill, slice_: Slice, known: _Evidence) -> SliceStatus | None:
        """The slice's state before this backfill requested it; None if it must be computed anyway."""
        history = self._center.store.read.history(slice_)
        asked = next((at for at in reversed(range(len(history))) if row_of(history[at].event).new_generation), None)
        if asked is None or history[asked].event_id != _event_id(backfill.number, Act.REQUEST.value, slice_):
            return None
        if known.status(slice_).quality is Quality.FAILED:  # its rows were refused, and its flag has spread since
            return None
        if not is_restorable(backfill, _inputs_of(history[:asked]), known):
            return None
        return history[asked - 1].status if asked else SliceStatus()

    def _owed(self, backfill: Backfill, slices: Sequence[Slice], known: _Evidence) -> Iterator[Fact]:
        """Effects of other computations on slices that the backfill releases without a computation.

        Policies were not applied while it held them. Its own computations have no further effects.
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
        """Whether a slice of the backfill was computed again without it, and is complete."""
        member, status = backfill.plan.members.get(used), known.status(used)
        if member is None or status.run_state is not RunState.COMPLETED or status.unannounced:
            return False
        if backfill.progress[used] is SliceProgress.GONE:  # others make it now, and its last run ended after the change
            return True
        if member.after is not None and status.generation == member.after + 1:
            return False
        if backfill.progress[used] is SliceProgress.FAILED:  # it was repaired since
            return True
        begun = self._last(used, Event.FORCED)
        own = _event_id(backfill.number, Act.REQUEST.value, used)
        return begun is not None and begun.event_id != own

    def _last(self, slice_: Slice, *others: Event) -> Transition | None:
        """The transition that started its present generation, or a later one of the others; None if there is none."""
        history = self._center.store.read.history(slice_)
        return next(
            (step for step in reversed(history) if row_of(step.event).new_generation or step.event in others), None
        )

    def _has_bad_inputs(self, slice_: Slice, known: _Evidence) -> bool:
        return has_bad_inputs(self._center.graph, slice_, known)


_LETS_GO: Final = frozenset({SliceProgress.BLOCKED, SliceProgress.KEPT, SliceProgress.CANCELLED})
_WHY: Final = {
    Act.REQUEST.value: "it is to be rebuilt",
    Act.KEEP.value: "its inputs have not changed",
    Act.ASK.value: "its inputs have changed, and its policy is to ask a person",
    Act.RESTORE.value: "the backfill was cancelled before this slice began",
    Act.GIVE_UP.value: "the backfill was cancelled, and the run had failed",
    "tainted": "its input is not valid",
    "owed": "its input was computed again by another run",
}


def _inputs_of(history: Sequence[Transition]) -> list[tuple[Slice, int]]:
    """The inputs of the last result of a slice; empty if they were not reported."""
    generation = history[-1].status.generation if history else 0
    runs = (step for step in reversed(history) if step.status.generation <= generation)
    manifest = next((step.facts.manifest for step in runs if step.facts.manifest), None)
    used = (own for of_entity in manifest.used_slices.values() for own in of_entity) if manifest else ()
    return [(own.slice, own.generation) for own in used]


def _event_id(number: int, act: str, slice_: Slice) -> str:
    return f"backfill:{number}:{act}:{slice_}"


class _Evidence:
    """Facts about slices for one backfill."""

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
