"""A center without a store: statuses, runs and backfills in memory, which a test advances in any order."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.dependency_model.backfill import Backfill, BackfillPhase, BackfillPlan, SliceProgress, plan_backfill
from tidemark.dependency_model.backfill.backfill import is_held
from tidemark.dependency_model.backfill.course import EVENT_OF, Act, BackfillStep, is_restorable, steps
from tidemark.dependency_model.backfill.progress import ACTIVE
from tidemark.dependency_model.entity import Reprocess
from tidemark.dependency_model.impact import downstream_closure
from tidemark.dependency_model.readiness.release import release
from tidemark.dependency_model.status import Event, Quality, RunState, SliceStatus, consequence
from tidemark.dependency_model.status.report_to_events import events_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice

THERE = SliceStatus(RunState.COMPLETED, frozenset({"completed"}), Quality.PASSED)
NOBODY = 0
"""The number of no backfill: the request of the last one was taken back."""
UNDER_WAY = (RunState.LAUNCHED, RunState.RUNNING)


class TwoWritersError(AssertionError):
    """A slice that two runs write."""


class SimulatedCenter:
    """Every slice of a small world; `writers` are the runs under way by slice. It is the evidence of its backfills."""

    def __init__(self, graph: DependencyGraph, slices: Sequence[Slice], until: datetime) -> None:
        self.graph, self.slices, self.until = graph, slices, until
        self.statuses: dict[Slice, SliceStatus] = dict.fromkeys(slices, THERE)
        self.before: dict[Slice, SliceStatus] = {}
        self.asked_by: dict[Slice, int] = {}
        self.known: set[object] = set()
        self.writers: defaultdict[Slice, int] = defaultdict(int)
        self.reads: dict[Slice, list[tuple[Slice, int]]] = {s: self._inputs_now(s) for s in slices}
        self.changed: dict[Slice, bool] = {}
        self.exhausted: set[Slice] = set()
        self.backfills: dict[int, Backfill] = {}
        self.computed: list[Slice] = []
        self._stepping = 0

    def get(self, slice_: Slice, /) -> SliceStatus | None:
        return self.statuses.get(slice_)

    def status(self, slice_: Slice) -> SliceStatus:
        return self.statuses.get(slice_) or SliceStatus()

    def newest(self, slice_: Slice, accepts: Callable[[SliceStatus], bool]) -> Slice | None:
        return slice_ if accepts(self.status(slice_)) else None

    def is_exhausted(self, slice_: Slice) -> bool:
        return slice_ in self.exhausted

    def has_changed(self, slice_: Slice) -> bool:
        return self.changed.get(slice_, True)

    def has_read(self, slice_: Slice, inputs: Sequence[Slice]) -> bool:
        told = dict(self.reads[slice_])
        return bool(inputs) and all(told.get(used) == self.status(used).generation for used in inputs)

    def holder(self, slice_: Slice) -> int | None:
        earlier = (backfill for number, backfill in self.backfills.items() if number < self._stepping)
        return next((backfill.number for backfill in earlier if backfill.is_open(slice_)), None)

    def plan(self, roots: Sequence[Slice], phase: BackfillPhase = BackfillPhase.RUNNING) -> Backfill:
        down = list(downstream_closure(self.graph, roots, self.until))
        plan = plan_backfill(self.graph, roots, down, self, self.reads)
        number = len(self.backfills) + 1
        self.backfills[number] = Backfill(number, phase, plan)
        return self.backfills[number]

    def carry_out(self, backfill: Backfill, *, room: int = 100, dies_after: int | None = None) -> list[BackfillStep]:
        """What the driver does in one step; it may die after so many acts, before anything is noted."""
        self._stepping = backfill.number
        told = steps(backfill, self, room)
        noted = []
        for at, step in enumerate(told):
            if dies_after is not None and at >= dies_after:
                return []
            if self._act(backfill, step):
                noted.append(step)
        if dies_after is None:
            for step in noted:
                backfill.note(step.slice, step.progress)
            if backfill.is_over and backfill.phase in ACTIVE:
                backfill.phase = (
                    BackfillPhase.CANCELLED if backfill.phase is BackfillPhase.CANCELLING else BackfillPhase.DONE
                )
        return noted

    def _act(self, backfill: Backfill, step: BackfillStep) -> bool:
        slice_, status = step.slice, self.status(step.slice)
        if step.act is Act.NOTHING:
            return True
        if step.act in (Act.RESTORE, Act.GIVE_UP):
            if self.asked_by.get(slice_) == NOBODY:
                return True
            before = self.before.get(slice_)
            is_own = self.asked_by.get(slice_) == backfill.number and before is not None
            if is_own and is_restorable(backfill, self.reads[slice_], self):
                self.apply(slice_, Event.RESTORED)
                self.asked_by[slice_] = NOBODY
            elif step.act is Act.GIVE_UP:
                self.apply(slice_, Event.CANCELLED)
                self.exhausted.add(slice_)
            return True
        if step.act is Act.KEEP and not (status.tainted and status.run_state is RunState.COMPLETED):
            return True
        if step.act is Act.ASK and status.run_state is not RunState.COMPLETED:
            return True
        event_id = (backfill.number, slice_, step.act)
        if event_id not in self.known:
            self.known.add(event_id)
            for event in events_of(EVENT_OF[step.act], status):
                self.apply(slice_, event)
                self.asked_by[slice_] = backfill.number
        return True

    def apply(self, slice_: Slice, event: Event, *, changed: bool = True) -> None:
        """One event and all that follows from it."""
        before = self.before.get(slice_)
        done = consequence.steps(
            self.graph, self, slice_, event, self.until, changed=changed, before=before, decides=self.decides
        )
        for step in done:
            if step.status.generation > self.status(step.slice).generation:
                self.before[step.slice] = self.status(step.slice)
                self.asked_by.pop(step.slice, None)
            self.statuses[step.slice] = step.status

    def decides(self, up: Slice, down: Slice) -> bool:
        return any(backfill.decides(up, down) for backfill in self.backfills.values())

    def is_held(self, slice_: Slice) -> bool:
        return is_held(self.backfills.values(), slice_)

    def launch(self, slice_: Slice) -> bool:
        """The index and the dispatch: release what may start, and launch it where nobody holds it."""
        status = self.status(slice_)
        if status.run_state is RunState.WAITING and self._decided(slice_):
            self.apply(slice_, Event.RELEASED)
        elif status.run_state is RunState.READY and not self._decided(slice_):
            self.apply(slice_, Event.WITHDRAWN)
        if self.status(slice_).run_state is not RunState.READY or self.is_held(slice_):
            return False
        self._begin(slice_, Event.LAUNCHED)
        return True

    def launch_by_hand(self, slice_: Slice) -> bool:
        """Somebody's own run, from Dagster's pages: refused where another one is under way."""
        status = self.status(slice_)
        if status.run_state in UNDER_WAY:
            return False
        if status.run_state in (RunState.COMPLETED, RunState.ABSENT):
            self.apply(slice_, Event.BACKFILL_REQUESTED)
        self._begin(slice_, Event.FORCED)
        return True

    def end(self, slice_: Slice, how: Event, *, changed: bool = True, exhausted: bool = True) -> None:
        """A run under way ends: completed, failed, or lost."""
        if self.status(slice_).run_state is RunState.LAUNCHED:
            self.apply(slice_, Event.STARTED)
        self.writers[slice_] -= 1
        if how in (Event.FAILED, Event.LOST):
            self.apply(slice_, how)
            if how is Event.FAILED and exhausted:
                self.exhausted.add(slice_)
            return
        self.computed.append(slice_)
        self.changed[slice_] = changed
        self.exhausted.discard(slice_)
        self.apply(slice_, Event.BACKFILLED, changed=changed)
        self.apply(slice_, Event.QUALITY_PASSED, changed=changed)

    def _begin(self, slice_: Slice, event: Event) -> None:
        self.apply(slice_, event)
        self.writers[slice_] += 1
        if self.writers[slice_] > 1:
            raise TwoWritersError(str(slice_))
        self.reads[slice_] = self._inputs_now(slice_)

    def _decided(self, slice_: Slice) -> bool:
        return release(self.graph.requirements(slice_), self, self.until, self.until).is_released

    def _inputs_now(self, slice_: Slice) -> list[tuple[Slice, int]]:
        return [
            (used, self.status(used).generation)
            for requirement in self.graph.requirements(slice_)
            for used in requirement.slices
        ]


def drain(center: SimulatedCenter, changes: Callable[[Slice], bool] = lambda _: True) -> None:
    """Let everything come to its end: each run completes, nobody interferes, whoever is asked says yes."""
    for _ in range(1_000):
        is_idle = True
        for backfill in list(center.backfills.values()):
            if backfill.phase is BackfillPhase.PAUSED:
                backfill.phase = BackfillPhase.RUNNING
            if backfill.phase in ACTIVE:
                is_idle = not center.carry_out(backfill) and is_idle
                is_idle = not answer(center, backfill) and is_idle
        for slice_ in center.slices:
            if center.status(slice_).run_state in UNDER_WAY:
                center.end(slice_, Event.COMPLETED, changed=changes(slice_))
                is_idle = False
            if center.status(slice_).run_state is RunState.FAILED and not center.is_exhausted(slice_):
                center.apply(slice_, Event.RETRIED)
            is_idle = not center.launch(slice_) and is_idle
        if is_idle and not a_person_helps(center):
            return
    raise AssertionError("it does not come to an end")


def a_person_helps(center: SimulatedCenter) -> bool:
    """Keep what is tainted outside of any backfill as it is, retry what failed; whether there was any."""
    failed = [slice_ for slice_ in center.slices if center.status(slice_).run_state is RunState.FAILED]
    for slice_ in failed:
        center.exhausted.discard(slice_)
        center.apply(slice_, Event.RETRIED)
    tainted = [slice_ for slice_ in center.slices if _is_tainted(center, slice_)]
    for slice_ in tainted:
        if _is_tainted(center, slice_):
            center.apply(slice_, Event.KEPT)
    return bool(tainted or failed)


def _is_tainted(center: SimulatedCenter, slice_: Slice) -> bool:
    status = center.status(slice_)
    return status.tainted and status.run_state is RunState.COMPLETED


def answer(center: SimulatedCenter, backfill: Backfill, *, rebuild: bool = True) -> bool:
    """A person decides about all slices that wait for one; whether there was any."""
    asking = [slice_ for slice_, progress in backfill.progress.items() if progress is SliceProgress.ASKING]
    if asking:
        policy = Reprocess.ALWAYS if rebuild else Reprocess.NEVER
        decided = {slice_: replace(backfill.plan.members[slice_], policy=policy) for slice_ in asking}
        plan = BackfillPlan({**backfill.plan.members, **decided})
        progress = {**backfill.progress, **dict.fromkeys(asking, SliceProgress.PENDING)}
        center.backfills[backfill.number] = Backfill(backfill.number, backfill.phase, plan, progress)
    return bool(asking)
