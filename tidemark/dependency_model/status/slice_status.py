"""The status of one slice at one time (seed capability D2)."""

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
"""The state of a slice that was computed without some of its inputs."""


FOREIGN = "foreign"
"""The state of a slice whose data another program changed in storage."""


class RunState(Enum):
    """The progress of a slice towards completion."""

    WAITING = "waiting"
    READY = "ready"
    LAUNCHED = "launched"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    ABSENT = "absent"


class Quality(Enum):
    """The result of the rules for a slice's rows. Without rules a completed slice has passed."""

    UNKNOWN = "unknown"
    PASSED = "passed"
    FAILED = "failed"
    IGNORED = "ignored"


_NO_FLAGS: frozenset[Slice] = frozenset()


@dataclass(frozen=True, slots=True)
class SliceStatus:
    """`issues` are the slices whose failed quality affects this one; itself, if its own rules failed.

    `states` are not exclusive: estimated *and* partial. `generation` counts the requests for the slice. `unannounced`:
    it has new rows whose rules have not passed, so the change was not reported downstream. `asked`: its taint is a
    question of `reprocess: ask`, and only a person's decision or new rows remove it.
    `watermark` (seconds since 1970): its sources were complete up to here. It is kept if a reader asks (`beyond`).
    """

    run_state: RunState = RunState.WAITING
    states: frozenset[str] = frozenset()
    quality: Quality = Quality.UNKNOWN
    issues: frozenset[Slice] = frozenset()
    tainted: bool = False
    generation: int = 1
    unannounced: bool = False
    asked: bool = False
    watermark: int | None = None

    @property
    def valid(self) -> bool:
        """Whether it is completed and without a known fault."""
        return COMPLETED in self.states and not self.is_flawed

    @property
    def is_flawed(self) -> bool:
        """Whether a failed quality affects it, an input was found wrong, or another program changed its data."""
        return self.is_flawed_beyond(_NO_FLAGS)

    def is_flawed_beyond(self, flags: AbstractSet[Slice]) -> bool:
        """Like `is_flawed`, but without the flags that these slices raised."""
        return not self.issues <= flags or self.tainted or FOREIGN in self.states

    @property
    def unfinished_state(self) -> str:
        """The states that it has reached before its last one, such as `estimated`;

        empty if it reached the last or none.
        """
        return "" if COMPLETED in self.states else ",".join(sorted(self.states - {PARTIAL, BACKFILLED, FOREIGN}))
