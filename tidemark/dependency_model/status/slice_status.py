"""What is known of one slice at one time (seed capability D2)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.dependency import COMPLETED

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from tidemark.dependency_model.slice import Slice

BACKFILLED = "backfilled"
"""The state of a slice that was computed again."""
PARTIAL = "partial"
"""The state of a slice that was computed without all of its inputs."""


FOREIGN = "foreign"
"""The state of a slice whose data somebody else has changed in storage."""


class RunState(Enum):
    """Where a slice is on the way from 'not yet' to 'there'."""

    WAITING = "waiting"
    READY = "ready"
    LAUNCHED = "launched"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    ABSENT = "absent"


class Quality(Enum):
    """What the rules said about a slice's rows. Without rules a completed slice has passed."""

    UNKNOWN = "unknown"
    PASSED = "passed"
    FAILED = "failed"
    IGNORED = "ignored"


_NO_FLAGS: frozenset[Slice] = frozenset()


@dataclass(frozen=True, slots=True)
class SliceStatus:
    """`issues` holds the slices whose failed quality reaches this one, itself among them where its own rules failed.

    `states` are not exclusive: estimated *and* partial. `generation` counts how often the slice was asked for.
    `unannounced` are rows that came after its rules last held: nobody downstream was told that they are others.
    `asked` is a taint that is a question of `reprocess: ask`: only a person's answer, or new rows, lift it.
    """

    run_state: RunState = RunState.WAITING
    states: frozenset[str] = frozenset()
    quality: Quality = Quality.UNKNOWN
    issues: frozenset[Slice] = frozenset()
    tainted: bool = False
    generation: int = 1
    unannounced: bool = False
    asked: bool = False

    @property
    def valid(self) -> bool:
        """There, and fit for use."""
        return COMPLETED in self.states and not self.is_flawed

    @property
    def is_flawed(self) -> bool:
        """A failed quality reaches it, an input of it was found wrong, or somebody else has changed its data."""
        return self.is_flawed_beyond(_NO_FLAGS)

    def is_flawed_beyond(self, flags: AbstractSet[Slice]) -> bool:
        """The same, but for flags that these slices raised."""
        return not self.issues <= flags or self.tainted or FOREIGN in self.states

    @property
    def unfinished_state(self) -> str:
        """What it has reached before its last state, such as `estimated`; empty where that is reached, or nothing."""
        return "" if COMPLETED in self.states else ",".join(sorted(self.states - {PARTIAL, BACKFILLED, FOREIGN}))
