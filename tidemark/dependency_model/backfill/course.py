"""What a backfill does next, from the statuses of its slices: who is asked for, who is kept, who waits for a person.

Pure: it says steps, and whoever carries them out notes them (`Backfill.note`) once they are durable. A step that was
carried out and not noted is said again, and changes nothing then: its event has an id of its own.
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
    """What has to happen to a slice, beside that its progress is noted."""

    NOTHING = "nothing"
    REQUEST = "request"
    KEEP = "keep"
    ASK = "ask"
    RESTORE = "restore"
    GIVE_UP = "give_up"
    """It failed, and nobody is to try it again: it gets back what it had where that is known."""


EVENT_OF: Final = {
    Act.REQUEST: Event.BACKFILL_REQUESTED,
    Act.KEEP: Event.KEPT,
    Act.ASK: Event.TAINTED,
    Act.RESTORE: Event.RESTORED,
    Act.GIVE_UP: Event.CANCELLED,
}
"""What an act tells of its slice."""


class BackfillStep(NamedTuple):
    """One slice goes on."""

    slice: Slice
    act: Act
    progress: SliceProgress
    why: str


class BackfillEvidence(Protocol):
    """What is known of slices beside the backfill itself."""

    def status(self, slice_: Slice) -> SliceStatus:
        """A slice as it is."""

    def is_exhausted(self, slice_: Slice) -> bool:
        """Whether a failed slice is not tried again."""

    def has_changed(self, slice_: Slice) -> bool:
        """Whether its last run brought other content than was there before."""

    def has_read(self, slice_: Slice, inputs: Sequence[Slice]) -> bool:
        """Whether its last run is known to have read these in the generations that they have now."""

    def holder(self, slice_: Slice) -> int | None:
        """An earlier backfill that is not done with the slice."""


def steps(backfill: Backfill, known: BackfillEvidence, most: int) -> list[BackfillStep]:
    """What is to happen now; of requests so many that no more than `most` slices are on their way."""
    told = [step for slice_ in list(backfill.requested) if (step := _settled(backfill, slice_, known))]
    if backfill.phase is BackfillPhase.CANCELLING:
        return [*told, *_cancelled(backfill, known, {step.slice for step in told})]
    if backfill.phase is BackfillPhase.RUNNING:
        on_its_way = sum(known.status(slice_).run_state in _ON_ITS_WAY for slice_ in backfill.requested)
        told += _turns(backfill, known, most - on_its_way)
    return told


def waits_for(backfill: Backfill, known: BackfillEvidence) -> dict[Slice, int]:
    """Slices whose turn has come, and that an earlier backfill has: its number."""
    held = ((slice_, known.holder(slice_)) for slice_ in backfill.turns)
    return {slice_: holder for slice_, holder in held if holder is not None}


def is_restorable(backfill: Backfill, reads: Sequence[tuple[Slice, int]] | None, known: BackfillEvidence) -> bool:
    """Whether a slice may get back what its last run made of `reads`: only slices of the backfill have changed since.

    It has to be computed in any case where another input has, and goes on waiting for it.
    """
    others = [read for read in reads or () if read[0] not in backfill.plan.members]
    return all(known.status(used).generation == generation for used, generation in others)


def _settled(backfill: Backfill, slice_: Slice, known: BackfillEvidence) -> BackfillStep | None:
    """A requested slice that is done, well or not; flags of slices whose turn is yet to come do not count."""
    status = known.status(slice_)
    if status.run_state is RunState.FAILED:
        if backfill.phase is BackfillPhase.CANCELLING:
            return BackfillStep(slice_, Act.GIVE_UP, SliceProgress.FAILED, "its run failed")
        is_settled = known.is_exhausted(slice_)
        return BackfillStep(slice_, Act.NOTHING, SliceProgress.FAILED, "its run failed") if is_settled else None
    if status.run_state is not RunState.COMPLETED:
        return None
    to_come = {flag for flag in status.issues if flag != slice_ and backfill.is_open(flag)}
    if status.is_flawed_beyond(to_come) or status.quality is Quality.FAILED:
        return BackfillStep(slice_, Act.NOTHING, SliceProgress.FAILED, _flaw(status))
    if status.quality not in _GOOD:
        return None
    return _rebuilt(backfill, slice_, known)


def _rebuilt(backfill: Backfill, slice_: Slice, known: BackfillEvidence) -> BackfillStep:
    is_same = backfill.content_matters(slice_) and not known.has_changed(slice_)
    if is_same:
        return BackfillStep(slice_, Act.NOTHING, SliceProgress.UNCHANGED, "with the content that it had")
    return BackfillStep(slice_, Act.NOTHING, SliceProgress.REBUILT, "")


def _flaw(status: SliceStatus) -> str:
    if status.quality is Quality.FAILED:
        return "its rules failed"
    return "something that it reads is tainted" if status.tainted else "a slice of its series is invalid"


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
    """A slice that reads nothing open any more; None where it has to wait for somebody else who has it."""
    status = known.status(slice_)
    member = backfill.plan.members[slice_]
    if member.is_given:
        return BackfillStep(slice_, Act.NOTHING, SliceProgress.GIVEN, "it is as another system made it")
    if member.after is not None:
        return _settled(backfill, slice_, known) if status.generation > member.after else None
    if status.run_state in _UNDER_WAY or known.holder(slice_) is not None:
        return None
    verdict = backfill.verdict(slice_, [used for used in member.inputs if _is_repaired(backfill, used, known)])
    if verdict is TurnVerdict.BLOCK:
        return BackfillStep(slice_, Act.NOTHING, SliceProgress.BLOCKED, "a slice that it needs failed")
    if verdict is TurnVerdict.KEEP:
        return BackfillStep(slice_, Act.KEEP, SliceProgress.KEPT, "nothing that it goes by has changed")
    return _rebuilding(backfill, slice_, status, known, asks=verdict is TurnVerdict.ASK)


def _is_repaired(backfill: Backfill, slice_: Slice, known: BackfillEvidence) -> bool:
    """Whether somebody has computed a slice with which this backfill had no success."""
    status, progress = known.status(slice_), backfill.progress[slice_]
    is_good = status.run_state is RunState.COMPLETED and status.quality in _GOOD and not status.is_flawed
    if progress is SliceProgress.BLOCKED:
        return is_good and known.has_read(slice_, backfill.plan.members[slice_].inputs)
    return is_good and progress is SliceProgress.FAILED


def _rebuilding(
    backfill: Backfill, slice_: Slice, status: SliceStatus, known: BackfillEvidence, *, asks: bool
) -> BackfillStep:
    """It is to be rebuilt, unless somebody else has asked for it, or has computed it from what is there now.

    A given slice keeps its generation: that its reader has read it says nothing of when, so that is rebuilt.
    """
    member = backfill.plan.members[slice_]
    if status.run_state in _ASKED_FOR and not _is_first(status):
        return BackfillStep(slice_, Act.NOTHING, SliceProgress.REQUESTED, "it is asked for already")
    is_told = not member.is_root and not any(backfill.plan.members[used].is_given for used in member.inputs)
    if is_told and status.run_state is RunState.COMPLETED and known.has_read(slice_, member.inputs):
        return _rebuilt(backfill, slice_, known)
    if asks:
        return BackfillStep(slice_, Act.ASK, SliceProgress.ASKING, "its policy is to ask a person")
    return BackfillStep(slice_, Act.REQUEST, SliceProgress.REQUESTED, "")


def _is_first(status: SliceStatus) -> bool:
    """Whether nobody asked for it yet: its schedule alone may start it."""
    return status.run_state is RunState.WAITING and status.generation == 1


def _cancelled(backfill: Backfill, known: BackfillEvidence, settled: set[Slice]) -> Iterator[BackfillStep]:
    """What has not started gets back what it had; what is under way comes to its end."""
    for slice_, progress in backfill.progress.items():
        if slice_ in settled or progress not in (SliceProgress.PENDING, SliceProgress.ASKING, SliceProgress.REQUESTED):
            continue
        if progress is not SliceProgress.REQUESTED:
            yield BackfillStep(slice_, Act.NOTHING, SliceProgress.CANCELLED, "")
        elif known.status(slice_).run_state in _ASKED_FOR:
            yield BackfillStep(slice_, Act.RESTORE, SliceProgress.CANCELLED, "it had not started")
