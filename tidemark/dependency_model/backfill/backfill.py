"""An active backfill: which slices are next, and what to do with each.

It knows only its own slices. Its work is proportional to the number of settled slices. `course.py` decides the steps,
and the center executes them.
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
    """The decision for a slice once all its inputs are settled."""

    REBUILD = "rebuild"
    KEEP = "keep"
    ASK = "ask"
    BLOCK = "block"


class Backfill:
    """`progress` has the state of each slice of the plan; a slice without an entry is pending."""

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
        """Slices that are pending or that a person has approved, and that do not read an open slice."""
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
        """Records the progress of a slice. A slice that is settled stays settled."""
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
        """The decision for a slice, from the progress of its inputs.

        `repaired` are inputs that failed in this backfill and were computed by another run since.
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
        """Whether the slice must not be launched yet, because its inputs are not settled."""
        return self.phase in ACTIVE and self.progress.get(slice_) in (SliceProgress.PENDING, SliceProgress.ASKING)

    def decides(self, slice_: Slice, reader: Slice) -> bool:
        """Whether this backfill, and not the reader's policy, decides what follows from a change of `slice_`.

        While the backfill is cancelled, its last runs still end, and their results trigger nothing in its own slices.
        """
        if slice_ not in self.progress or self.phase not in ACTIVE:
            return False
        is_last_run = self.phase is BackfillPhase.CANCELLING and slice_ in self.requested
        return self.holds(reader) or (is_last_run and reader in self.progress)

    def is_open(self, slice_: Slice) -> bool:
        """Whether the backfill still has work to do on the slice."""
        return self.phase in ACTIVE and self.progress.get(slice_) in OPEN

    def content_matters(self, slice_: Slice) -> bool:
        """Whether a reader of the slice needs a rebuild only if the slice's content changed."""
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
        """The number of slices by progress."""
        return Counter(self.progress.values())


def is_held(backfills: Iterable[Backfill], slice_: Slice) -> bool:
    """Whether a slice must not be launched: its inputs are not settled, or the backfill that requested it is paused."""
    held = False
    for backfill in backfills:
        if slice_ in backfill.requested:
            if backfill.phase is BackfillPhase.RUNNING:
                return False
            held = held or backfill.phase in ACTIVE
        held = held or backfill.holds(slice_)
    return held
