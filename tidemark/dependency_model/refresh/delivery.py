"""What one slice asks of one target: to refresh what was made of it, or to invalidate it.

A delivery is planned where the slice stands otherwise than when it was planned last, and stays open until the target
has taken it. What is superseded while it is open is not delivered: the target gets how the slice stands now. So each
target has one delivery a slice at most, however long it is down.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.retry_wait import retry_wait
from tidemark.dependency_model.status.slice_status import FOREIGN, Quality, RunState, SliceStatus

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from tidemark.dependency_model.slice import Slice

_LONGEST_REASON = 2_000


class RefreshAction(Enum):
    """What becomes of what was made of a slice."""

    REFRESH = "refresh"
    INVALIDATE = "invalidate"


class RefreshState(Enum):
    """How far the newest delivery of a slice is."""

    PLANNED = "planned"
    FAILED = "failed"
    DELIVERED = "delivered"


@dataclass(frozen=True, slots=True)
class SliceStanding:
    """What readers are to see of a slice: `version` of its table, as transition `seq` left it.

    The version is empty where nobody told one.
    """

    action: RefreshAction
    generation: int
    version: str
    seq: int

    def is_as(self, other: SliceStanding) -> bool:
        """Whether there is nothing new for a reader."""
        return (self.action, self.generation, self.version) == (other.action, other.generation, other.version)


@dataclass(frozen=True, slots=True)
class SliceDelivery:
    """`taken` is the standing that the target took last, at `taken_at`; of what failed `reason` says why."""

    slice: Slice
    standing: SliceStanding
    due_at: datetime
    attempts: int = 0
    reason: str = ""
    taken: SliceStanding | None = None
    taken_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        """Whether the target has not taken the newest standing."""
        return self.taken != self.standing

    @property
    def state(self) -> RefreshState:
        """For people."""
        if not self.is_open:
            return RefreshState.DELIVERED
        return RefreshState.FAILED if self.reason else RefreshState.PLANNED

    def failed(self, reason: str, now: datetime) -> SliceDelivery:
        """Tried again after a wait, which doubles each time."""
        due_at = now + retry_wait(self.attempts)
        return replace(self, due_at=due_at, attempts=self.attempts + 1, reason=reason[:_LONGEST_REASON])

    def done(self, now: datetime) -> SliceDelivery:
        """The target has taken it."""
        return replace(self, attempts=0, reason="", taken=self.standing, taken_at=now)


def planned_delivery(
    slice_: Slice, standing: SliceStanding | None, before: SliceDelivery | None, now: datetime
) -> SliceDelivery | None:
    """None where nothing new is to be delivered.

    Nothing was made of a slice that never was fit for use: there is nothing to invalidate.
    """
    if standing is None or (before is None and standing.action is RefreshAction.INVALIDATE):
        return None
    if before is None:
        return SliceDelivery(slice_, standing, now)
    if standing.is_as(before.standing):
        return None
    return replace(before, standing=standing, due_at=now, attempts=0, reason="")


def action_of(slice_: Slice, status: SliceStatus) -> RefreshAction | None:
    """None while the slice is on its way to be the one or the other: what was made of it stays as it is.

    The rows of a run that failed for its rules were never published: what is there is what was there before.
    """
    own = {slice_} if status.run_state is RunState.FAILED else set()
    if status.tainted or status.issues - own or FOREIGN in status.states or status.run_state is RunState.ABSENT:
        return RefreshAction.INVALIDATE
    is_judged = status.quality in (Quality.PASSED, Quality.IGNORED)
    return RefreshAction.REFRESH if COMPLETED in status.states and is_judged else None


def due_deliveries(deliveries: Iterable[SliceDelivery], now: datetime) -> list[SliceDelivery]:
    """Those that are open and due, in the order in which their slices changed."""
    due = (delivery for delivery in deliveries if delivery.is_open and delivery.due_at <= now)
    return sorted(due, key=lambda delivery: (delivery.standing.seq, delivery.slice))
