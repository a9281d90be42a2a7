"""The health of the center: one answer for `/health`, `tidemark health` and Prometheus.

Each condition must be observed repeatedly. A condition that was not observed for a minute is a trouble, whether it
failed, hangs, or was never true.
"""

from __future__ import annotations

import time
from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE_SECONDS: Final = 60.0


class HealthCondition(Enum):
    """A condition; its value is the message if it is not true."""

    LED = "no center is known to hold the lease"
    TICKS = "no tick has succeeded"
    WORKERS = "no host of warm workers can start a run"


class HealthWatch:
    """Conditions with the time of their last observation, or of their start."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[HealthCondition, float] = {HealthCondition.LED: clock()}

    def begin(self, *conditions: HealthCondition) -> None:
        """Require these conditions, each within a minute."""
        self._seen.update(dict.fromkeys(conditions, self._clock()))

    def end(self, *conditions: HealthCondition) -> None:
        """Stop requiring these conditions."""
        for condition in conditions:
            self._seen.pop(condition, None)

    def saw(self, condition: HealthCondition, *, holds: bool) -> None:
        """Note an observed condition."""
        if holds and condition in self._seen:
            self._seen[condition] = self._clock()

    def seconds(self, condition: HealthCondition) -> float:
        """Seconds since the last observation; 0 if it is not required."""
        return self._clock() - self._seen.get(condition, self._clock())

    def troubles(self) -> list[str]:
        """Conditions that were false for longer than a minute, as sentences without a full stop."""
        ages = {condition: self.seconds(condition) for condition in list(self._seen)}
        return [f"{what.value} for {age:.0f} s" for what, age in ages.items() if age > PATIENCE_SECONDS]
