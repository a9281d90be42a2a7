"""The phases of a backfill, and the progress of each of its slices."""

from __future__ import annotations

from enum import Enum
from typing import Final


class BackfillPhase(Enum):
    """The state of a backfill between its plan and its end."""

    PLANNED = "planned"
    RUNNING = "running"
    PAUSED = "paused"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"
    DONE = "done"


ACTIVE: Final = frozenset({BackfillPhase.RUNNING, BackfillPhase.PAUSED, BackfillPhase.CANCELLING})
"""The phases in which a backfill holds its slices."""
ENDS: Final[dict[BackfillPhase, BackfillPhase]] = {
    BackfillPhase.RUNNING: BackfillPhase.DONE,
    BackfillPhase.PAUSED: BackfillPhase.DONE,
    BackfillPhase.CANCELLING: BackfillPhase.CANCELLED,
}
"""The phase that follows each active phase when the last slice is settled."""


class BackfillAction(Enum):
    """An action of a person on a backfill. The value is used in messages."""

    APPROVE = "approved"
    PAUSE = "paused"
    RESUME = "resumed"
    CANCEL = "cancelled"


FOLLOWING: Final[dict[BackfillAction, dict[BackfillPhase, BackfillPhase]]] = {
    BackfillAction.APPROVE: {BackfillPhase.PLANNED: BackfillPhase.RUNNING},
    BackfillAction.PAUSE: {BackfillPhase.RUNNING: BackfillPhase.PAUSED},
    BackfillAction.RESUME: {BackfillPhase.PAUSED: BackfillPhase.RUNNING},
    BackfillAction.CANCEL: {
        BackfillPhase.PLANNED: BackfillPhase.CANCELLED,
        BackfillPhase.RUNNING: BackfillPhase.CANCELLING,
        BackfillPhase.PAUSED: BackfillPhase.CANCELLING,
    },
}
"""The phases in which each action is allowed, and the phase that follows. A planned backfill holds no slices yet."""


class SliceProgress(Enum):
    """The progress of one slice of a backfill."""

    PENDING = "pending"
    """Its inputs are not settled yet; its data is unchanged."""
    ASKING = "asking"
    """A person has to decide whether it is rebuilt."""
    REQUESTED = "requested"
    """It was requested, and is waiting, ready or under way."""
    GIVEN = "given"
    """Another system made its data, which stays; its readers are rebuilt."""
    REBUILT = "rebuilt"
    """A run computed it, in a later generation."""
    UNCHANGED = "unchanged"
    """It was rebuilt, and its content did not change."""
    KEPT = "kept"
    """It was not rebuilt: its inputs have not changed, or its policy keeps it."""
    FAILED = "failed"
    BLOCKED = "blocked"
    """A slice that it requires failed."""
    CANCELLED = "cancelled"
    GONE = "gone"
    """The project no longer has the slice or no longer computes it."""


OPEN: Final = frozenset({SliceProgress.PENDING, SliceProgress.ASKING, SliceProgress.REQUESTED})
UNSUCCESSFUL: Final = frozenset({SliceProgress.FAILED, SliceProgress.BLOCKED})
CHANGED: Final = frozenset({SliceProgress.GIVEN, SliceProgress.REBUILT})
"""Readers of these slices must be rebuilt from the current data."""
MOVED: Final = CHANGED | {SliceProgress.UNCHANGED}
