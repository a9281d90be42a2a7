"""A backfill that goes on: whose turn it is, and what becomes of a slice whose turn has come.

It knows of its own slices only, and costs work in proportion to the slices that are settled. Nothing here asks for a
run: `course.py` says what has to happen, the center does it.
"""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import TYPE_CHECKING

from tidemark.dependency_model.backfill.progress import (
    ACTIVE,
    CHANGED,
    MOVED,
    OPEN,
    UNSUCCESSFUL,
    BackfillPhase,
    SliceProgress,
)
from tidemark.dependency_model.entity.entity import Reprocess

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.dependency_model.backfill.plan import BackfillPlan
    from tidemark.dependency_model.slice import Slice


class TurnVerdict(Enum):
    """What becomes of a slice once all that it reads is settled."""

    REBUILD = "rebuild"
    KEEP = "keep"
    ASK = "ask"
    BLOCK = "block"


class Backfill:
    """`progress` says how far each slice of the plan is; one that is not in it is pending."""

    def __init__(
        self,
        number: int,
        phase: BackfillPhase,
        plan: BackfillPlan,
        progress: Mapping[Slice, SliceProgress] | None = None,
    ) -> None:
        self.number, self.phase, self.plan = number, phase, plan
        self.progress: dict[Slice, SliceProgress] = dict.fromkeys(plan.members, SliceProgress.PENDING)
        self.requested: dict[Slice, None] = {}
        self.turns: dict[Slice, None] = {}
        """Slices that are pending, or asked about and decided, and read nothing that is open."""
        self._users: dict[Slice, list[Slice]] = {}
        self._missing: dict[Slice, int] = {}
        for member in plan.members.values():
            self._missing[member.slice] = len(member.inputs)
            for used in member.inputs:
                self._users.setdefault(used, []).append(member.slice)
            if not member.inputs:
                self.turns[member.slice] = None
        for slice_, known in (progress or {}).items():
            self.note(slice_, known)

    def note(self, slice_: Slice, progress: SliceProgress) -> None:
        """A slice is so far now. What was settled once stays so."""
        before, self.progress[slice_] = self.progress[slice_], progress
        if progress is not SliceProgress.PENDING:
            self.turns.pop(slice_, None)
        self.requested.pop(slice_, None)
        if progress is SliceProgress.REQUESTED:
            self.requested[slice_] = None
        if before in OPEN and progress not in OPEN:
            self._settle(slice_)

    def _settle(self, slice_: Slice) -> None:
        for user in self._users.get(slice_, ()):
            self._missing[user] -= 1
            if not self._missing[user] and self.progress[user] is SliceProgress.PENDING:
                self.turns[user] = None

    def verdict(self, slice_: Slice, repaired: Iterable[Slice] = ()) -> TurnVerdict:
        """What becomes of a slice whose turn has come, by what became of those that it reads.

        `repaired` are those of them that failed here, and that somebody else has computed since.
        """
        member = self.plan.members[slice_]
        inputs = {used: self.progress[used] for used in member.inputs}
        inputs.update(dict.fromkeys(repaired, SliceProgress.REBUILT))
        if any(inputs[used] in UNSUCCESSFUL for used in member.needed):
            return TurnVerdict.BLOCK
        if member.is_root:
            return TurnVerdict.REBUILD
        if MOVED.isdisjoint(inputs.values()) or member.policy is Reprocess.NEVER:
            return TurnVerdict.KEEP
        if member.policy is Reprocess.ALWAYS:
            return TurnVerdict.REBUILD
        if CHANGED.isdisjoint(inputs.values()):
            return TurnVerdict.KEEP
        return TurnVerdict.ASK if member.policy is Reprocess.ASK else TurnVerdict.REBUILD

    def holds(self, slice_: Slice) -> bool:
        """Whether nobody is to launch the slice, as its turn has not come."""
        return self.phase in ACTIVE and self.progress.get(slice_) in (SliceProgress.PENDING, SliceProgress.ASKING)

    def decides(self, slice_: Slice, reader: Slice) -> bool:
        """Whether it alone says what follows for a reader of one of its slices, and no policy.

        While it is being cancelled that is nothing: what is under way of it still sets nothing in motion.
        """
        if slice_ not in self.progress or self.phase not in ACTIVE:
            return False
        is_last_run = self.phase is BackfillPhase.CANCELLING and slice_ in self.requested
        return self.holds(reader) or (is_last_run and reader in self.progress)

    def is_open(self, slice_: Slice) -> bool:
        """Whether it is not done with the slice."""
        return self.phase in ACTIVE and self.progress.get(slice_) in OPEN

    def content_matters(self, slice_: Slice) -> bool:
        """Whether somebody who reads the slice goes by its content, and not by that it was rebuilt."""
        members = self.plan.members
        return any(
            members[user].policy in (Reprocess.IF_CHANGED, Reprocess.ASK) for user in self._users.get(slice_, ())
        )

    @property
    def is_over(self) -> bool:
        """Whether every slice is settled."""
        return OPEN.isdisjoint(self.progress.values())

    @property
    def counts(self) -> Counter[SliceProgress]:
        """How many slices are how far."""
        return Counter(self.progress.values())


def is_held(backfills: Iterable[Backfill], slice_: Slice) -> bool:
    """Whether a slice is not to be launched: before its turn, or while the backfill that asked for it rests."""
    held = False
    for backfill in backfills:
        if slice_ in backfill.requested:
            if backfill.phase is BackfillPhase.RUNNING:
                return False
            held = held or backfill.phase in ACTIVE
        held = held or backfill.holds(slice_)
    return held
