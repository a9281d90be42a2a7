"""How far a backfill is, and how far each of its slices."""

from __future__ import annotations

from enum import Enum
from typing import Final


class BackfillPhase(Enum):
    """Where a backfill is between its plan and its end."""

    PLANNED = "planned"
    RUNNING = "running"
    PAUSED = "paused"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"
    DONE = "done"


ACTIVE: Final = frozenset({BackfillPhase.RUNNING, BackfillPhase.PAUSED, BackfillPhase.CANCELLING})
"""It holds its slices."""
ENDS: Final[dict[BackfillPhase, BackfillPhase]] = {
    BackfillPhase.RUNNING: BackfillPhase.DONE,
    BackfillPhase.PAUSED: BackfillPhase.DONE,
    BackfillPhase.CANCELLING: BackfillPhase.CANCELLED,
}
"""By the phase in which the last slice of a backfill is settled, the phase that ends it."""


class BackfillAction(Enum):
    """What a person does with a backfill; the value is what is said of it then."""

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
"""From which phase to which; what was only planned has nothing to give back."""


class SliceProgress(Enum):
    """How far one slice of a backfill is."""

    PENDING = "pending"
    """The slices before it are not settled yet; it holds what it held."""
    ASKING = "asking"
    """A person has to say whether it is rebuilt."""
    REQUESTED = "requested"
    """It was asked for, and is waiting, ready or under way."""
    GIVEN = "given"
    """It is as another system made it; what was built from it is rebuilt."""
    REBUILT = "rebuilt"
    """By a run, in a generation later than the one that it had."""
    UNCHANGED = "unchanged"
    """Rebuilt, with the content that it had before."""
    KEPT = "kept"
    """Not rebuilt: nothing that it reads has changed, or its policy keeps it as it is."""
    FAILED = "failed"
    BLOCKED = "blocked"
    """A slice that it needs failed."""
    CANCELLED = "cancelled"
    GONE = "gone"
    """The project does not have it any more, or does not compute it."""


OPEN: Final = frozenset({SliceProgress.PENDING, SliceProgress.ASKING, SliceProgress.REQUESTED})
UNSUCCESSFUL: Final = frozenset({SliceProgress.FAILED, SliceProgress.BLOCKED})
CHANGED: Final = frozenset({SliceProgress.GIVEN, SliceProgress.REBUILT})
"""What reads it has to be built from what it holds now."""
MOVED: Final = CHANGED | {SliceProgress.UNCHANGED}
