"""Whether the center does its work: one answer for `/health`, `tidemark health` and Prometheus.

Each condition has to be seen to hold again and again. One that was not seen to hold for a minute is a trouble,
whether it broke, hangs, or never held at all.
"""

from __future__ import annotations

import time
from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE_SECONDS: Final = 60.0


class HealthCondition(Enum):
    """What has to hold; the value says for people what is wrong where it does not."""

    LED = "nobody is known to hold the lease of the center"
    TICKS = "no tick has succeeded"
    WORKERS = "no host of warm workers can start a run"


class HealthWatch:
    """Conditions, each with the time at which it was last seen to hold, or at which it began to count."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[HealthCondition, float] = {HealthCondition.LED: clock()}

    def begin(self, *conditions: HealthCondition) -> None:
        """From now on these count; a minute is left until each has to hold."""
        self._seen.update(dict.fromkeys(conditions, self._clock()))

    def end(self, *conditions: HealthCondition) -> None:
        """These do not count any more."""
        for condition in conditions:
            self._seen.pop(condition, None)

    def saw(self, condition: HealthCondition, *, holds: bool) -> None:
        """Note a condition that was looked at."""
        if holds and condition in self._seen:
            self._seen[condition] = self._clock()

    def seconds(self, condition: HealthCondition) -> float:
        """Since it was last seen to hold; 0 where it does not count."""
        return self._clock() - self._seen.get(condition, self._clock())

    def troubles(self) -> list[str]:
        """What has been wrong for longer than a minute, as sentences without a full stop."""
        ages = {condition: self.seconds(condition) for condition in list(self._seen)}
        return [f"{what.value} for {age:.0f} s" for what, age in ages.items() if age > PATIENCE_SECONDS]
