"""The next steps of a backfill, from the statuses of its slices.

This module is pure: it returns steps, and the caller notes each step (`Backfill.note`) once it is durable. A step that
was executed and not noted is returned again. It has no effect then, because its event has the same id.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from tidemark.dependency_model.backfill.backfill import Backfill, TurnVerdict
from tidemark.dependency_model.backfill.progress import BackfillPhase, SliceProgress
from tidemark.dependency_model.status.slice_status import Quality, RunState
from tidemark.dependency_model.status.transition import Event

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.slice_status import SliceStatus

_UNDER_WAY: Final = frozenset({RunState.LAUNCHED, RunState.RUNNING})
_ASKED_FOR: Final = frozenset({RunState.WAITING, RunState.READY})
_ON_ITS_WAY: Final = frozenset({RunState.READY, *_UNDER_WAY})
_GOOD: Final = frozenset({Quality.PASSED, Quality.IGNORED})


class Act(Enum):
    """The change of a slice in a step, besides its progress."""

    NOTHING = "nothing"
    REQUEST = "request"
    KEEP = "keep"
    ASK = "ask"
    RESTORE = "restore"
    GIVE_UP = "give_up"
    """It failed and is not retried. It gets back its previous result, if that is known."""


EVENT_OF: Final = {
    Act.REQUEST: Event.BACKFILL_REQUESTED,
    Act.KEEP: Event.KEPT,
    Act.ASK: Event.TAINTED,
    Act.RESTORE: Event.RESTORED,
    Act.GIVE_UP: Event.CANCELLED,
}
"""The event of a slice that each act stores."""


class BackfillStep(NamedTuple):
    """One step for one slice."""

    slice: Slice
    act: Act
    progress: SliceProgress
    why: str


class BackfillEvidence(Protocol):
    """Facts about slices that the backfill itself does not hold."""

    def status(self, slice_: Slice) -> SliceStatus:
        """The slice's current status."""

    def is_exhausted(self, slice_: Slice) -> bool:
        """Whether a failed slice is not retried."""

    def has_changed(self, slice_: Slice) -> bool:
        """Whether the slice's last run changed its content."""

    def has_read(self, slice_: Slice, inputs: Sequence[Slice]) -> bool:
        """Whether the slice's last run read the current generations of these inputs, as far as recorded."""

    def holder(self, slice_: Slice) -> int | None:
        """The number of an earlier backfill that still has to process the slice."""


def steps(backfill: Backfill, known: BackfillEvidence, most: int) -> list[BackfillStep]:
    """The steps to do now. Requests are limited so that at most `most` slices are ready or under way."""
    told = [step for slice_ in list(backfill.requested) if (step := _settled(backfill, slice_, known))]
    if backfill.phase is BackfillPhase.CANCELLING:
        return [*told, *_cancelled(backfill, known, {step.slice for step in told})]
    if backfill.phase is BackfillPhase.RUNNING:
        on_its_way = sum(known.status(slice_).run_state in _ON_ITS_WAY for slice_ in backfill.requested)
        told += _turns(backfill, known, most - on_its_way)
    return told


def waits_for(backfill: Backfill, known: BackfillEvidence) -> dict[Slice, int]:
    """Slices whose inputs are settled and that an earlier backfill still holds, with that backfill's number."""
    held = ((slice_, known.holder(slice_)) for slice_ in backfill.turns)
    return {slice_: holder for slice_, holder in held if holder is not None}


def is_restorable(backfill: Backfill, reads: Sequence[tuple[Slice, int]] | None, known: BackfillEvidence) -> bool:
    """Whether a slice may get back the result that its last run made from `reads`.

    It may not if an input outside this backfill has changed since: the slice must then be computed and keeps waiting.
    """
    others = [read for read in reads or () if read[0] not in backfill.plan.members]
    return all(known.status(used).generation == generation for used, generation in others)


def _settled(backfill: Backfill, slice_: Slice, known: BackfillEvidence) -> BackfillStep | None:
    """The step for a requested slice that has ended. Faults of slices that are still open do not count."""
    status = known.status(slice_)
    if status.run_state is not RunState.COMPLETED:
        return _without_result(backfill, slice_, status, known)
    to_come = {flag for flag in status.issues if flag != slice_ and backfill.is_open(flag)}
    if status.is_flawed_beyond(to_come) or status.quality is Quality.FAILED:
        return BackfillStep(slice_, Act.NOTHING, SliceProgress.FAILED, _flaw(status))
    if status.quality not in _GOOD:
        return None
    return _rebuilt(backfill, slice_, known)


def _without_result(
    backfill: Backfill, slice_: Slice, status: SliceStatus, known: BackfillEvidence
) -> BackfillStep | None:
    if status.run_state is RunState.ABSENT:
        return BackfillStep(slice_, Act.NOTHING, SliceProgress.FAILED, "its data was deleted from storage")
    if status.run_state is not RunState.FAILED:
        return None
    if backfill.phase is BackfillPhase.CANCELLING:
        return BackfillStep(slice_, Act.GIVE_UP, SliceProgress.FAILED, "its run failed")
    is_settled = known.is_exhausted(slice_)
    return BackfillStep(slice_, Act.NOTHING, SliceProgress.FAILED, "its run failed") if is_settled else None


def _rebuilt(backfill: Backfill, slice_: Slice, known: BackfillEvidence) -> BackfillStep:
    is_same = backfill.content_matters(slice_) and not known.has_changed(slice_)
    if is_same:
        return BackfillStep(slice_, Act.NOTHING, SliceProgress.UNCHANGED, "with the content that it had")
    return BackfillStep(slice_, Act.NOTHING, SliceProgress.REBUILT, "")


def _flaw(status: SliceStatus) -> str:
    if status.quality is Quality.FAILED:
        return "its rules failed"
    return "an input is tainted" if status.tainted else "a slice of its series is invalid"


def _turns(backfill: Backfill, known: BackfillEvidence, room: int) -> Iterator[BackfillStep]:
    for slice_ in list(backfill.turns):
        step = _turn(backfill, slice_, known)
        if step is None:
            continue
        if step.act is Act.REQUEST:
            if room <= 0:
                continue
            room -= 1
        yield step


def _turn(backfill: Backfill, slice_: Slice, known: BackfillEvidence) -> BackfillStep | None:
    """The step for a slice with settled inputs. None if it has to wait for another run or backfill."""
    status = known.status(slice_)
    member = backfill.plan.members[slice_]
    if member.is_given:
        return BackfillStep(slice_, Act.NOTHING, SliceProgress.GIVEN, "another system made it")
    if member.after is not None:
        return _of_others(backfill, slice_, status, known) if status.generation > member.after else None
    if status.run_state in _UNDER_WAY or known.holder(slice_) is not None:
        return None
    verdict = backfill.verdict(slice_, [used for used in member.inputs if _is_repaired(backfill, used, known)])
    if verdict is TurnVerdict.BLOCK:
        return BackfillStep(slice_, Act.NOTHING, SliceProgress.BLOCKED, "a slice that it needs failed")
    if verdict is TurnVerdict.KEEP:
        return BackfillStep(slice_, Act.KEEP, SliceProgress.KEPT, "none of its inputs has changed")
    return _rebuilding(backfill, slice_, status, known, asks=verdict is TurnVerdict.ASK)


def _of_others(backfill: Backfill, slice_: Slice, status: SliceStatus, known: BackfillEvidence) -> BackfillStep | None:
    """The step for a slice that a run outside this backfill began again.

    If that run ended without a result, and the slice is asked for, it is launched like the backfill's own ones.
    """
    if status.run_state in _ASKED_FOR:
        return BackfillStep(slice_, Act.NOTHING, SliceProgress.REQUESTED, "its run in Dagster ended without a result")
    return _settled(backfill, slice_, known)


def _is_repaired(backfill: Backfill, slice_: Slice, known: BackfillEvidence) -> bool:
    """Whether another run has computed a slice that failed or was blocked in this backfill."""
    status, progress = known.status(slice_), backfill.progress[slice_]
    is_good = status.run_state is RunState.COMPLETED and status.quality in _GOOD and not status.is_flawed
    if progress is SliceProgress.BLOCKED:
        return is_good and known.has_read(slice_, backfill.plan.members[slice_].inputs)
    return is_good and progress is SliceProgress.FAILED


def _rebuilding(
    backfill: Backfill, slice_: Slice, status: SliceStatus, known: BackfillEvidence, *, asks: bool
) -> BackfillStep:
    """The step that rebuilds a slice, unless it is already requested or computed from the current inputs.

    A given slice keeps its generation when its data changes. So the generation does not show whether a reader has the
    newest data, and the reader is rebuilt.
    """
    member = backfill.plan.members[slice_]
    if status.run_state in _ASKED_FOR and not _is_first(status):
        return BackfillStep(slice_, Act.NOTHING, SliceProgress.REQUESTED, "it is already requested")
    is_told = not member.is_root and not any(backfill.plan.members[used].is_given for used in member.inputs)
    if is_told and status.run_state is RunState.COMPLETED and known.has_read(slice_, member.inputs):
        return _rebuilt(backfill, slice_, known)
    if asks:
        return BackfillStep(slice_, Act.ASK, SliceProgress.ASKING, "its policy is to ask a person")
    return BackfillStep(slice_, Act.REQUEST, SliceProgress.REQUESTED, "")


def _is_first(status: SliceStatus) -> bool:
    """Whether the slice was never requested: only its schedule may start it."""
    return status.run_state is RunState.WAITING and status.generation == 1


def _cancelled(backfill: Backfill, known: BackfillEvidence, settled: set[Slice]) -> Iterator[BackfillStep]:
    """Slices that have not started get back their previous result. Runs that are under way go on to their end."""
    for slice_, progress in backfill.progress.items():
        if slice_ in settled or progress not in (SliceProgress.PENDING, SliceProgress.ASKING, SliceProgress.REQUESTED):
            continue
        if progress is not SliceProgress.REQUESTED:
            yield BackfillStep(slice_, Act.NOTHING, SliceProgress.CANCELLED, "")
        elif known.status(slice_).run_state in _ASKED_FOR:
            yield BackfillStep(slice_, Act.RESTORE, SliceProgress.CANCELLED, "it had not started")
