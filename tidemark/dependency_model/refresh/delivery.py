"""A delivery: what one slice asks of one target, to refresh the objects made from it or to invalidate them.

A delivery is planned when the slice's standing has changed since the last plan. It stays open until the target has
taken it. An open delivery is replaced by a newer one, so the target only gets the present standing. So each target has
at most one delivery a slice, however long the target is down.
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
    """The action on the objects that were made from a slice."""

    REFRESH = "refresh"
    INVALIDATE = "invalidate"


class RefreshState(Enum):
    """The state of the newest delivery of a slice."""

    PLANNED = "planned"
    FAILED = "failed"
    DELIVERED = "delivered"


@dataclass(frozen=True, slots=True)
class SliceStanding:
    """The content of a slice for readers: the `version` of its table after transition `seq`.

    The version is empty if it is not known.
    """

    action: RefreshAction
    generation: int
    version: str
    seq: int

    def is_as(self, other: SliceStanding) -> bool:
        """Whether nothing has changed for a reader."""
        return (self.action, self.generation, self.version) == (other.action, other.generation, other.version)


@dataclass(frozen=True, slots=True)
class SliceDelivery:
    """`taken` is the standing that the target took last, at `taken_at`. `reason` is the reason of a failure."""

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
        """The state, for people."""
        if not self.is_open:
            return RefreshState.DELIVERED
        return RefreshState.FAILED if self.reason else RefreshState.PLANNED

    def failed(self, reason: str, now: datetime) -> SliceDelivery:
        """The delivery after a failure. The wait before the next try doubles each time."""
        due_at = now + retry_wait(self.attempts)
        return replace(self, due_at=due_at, attempts=self.attempts + 1, reason=reason[:_LONGEST_REASON])

    def done(self, now: datetime) -> SliceDelivery:
        """The delivery after the target has taken it."""
        return replace(self, attempts=0, reason="", taken=self.standing, taken_at=now)


def planned_delivery(
    slice_: Slice, standing: SliceStanding | None, before: SliceDelivery | None, now: datetime
) -> SliceDelivery | None:
    """The new delivery, or None if nothing has changed.

    A slice that never was valid has no objects to invalidate.
    """
    if standing is None or (before is None and standing.action is RefreshAction.INVALIDATE):
        return None
    if before is None:
        return SliceDelivery(slice_, standing, now)
    if standing.is_as(before.standing):
        return None
    return replace(before, standing=standing, due_at=now, attempts=0, reason="")


def action_of(slice_: Slice, status: SliceStatus) -> RefreshAction | None:
    """The action for a status; None while the slice is between both, and its objects stay unchanged.

    Rows that a run refused for its rules were never published, so the objects still match the earlier rows.
    """
    own = {slice_} if status.run_state is RunState.FAILED else set()
    if status.tainted or status.issues - own or FOREIGN in status.states or status.run_state is RunState.ABSENT:
        return RefreshAction.INVALIDATE
    is_judged = status.quality in (Quality.PASSED, Quality.IGNORED)
    return RefreshAction.REFRESH if COMPLETED in status.states and is_judged else None


def due_deliveries(deliveries: Iterable[SliceDelivery], now: datetime) -> list[SliceDelivery]:
    """Open deliveries whose time has come, in the order in which their slices changed."""
    due = (delivery for delivery in deliveries if delivery.is_open and delivery.due_at <= now)
    return sorted(due, key=lambda delivery: (delivery.standing.seq, delivery.slice))
