"""The speed of the replay."""

from __future__ import annotations

from dataclasses import dataclass

_DAY_SECONDS = 86_400


@dataclass(frozen=True)
class Pace:
    """Replays a day in `day_seconds`.

    `begun` (monotonic seconds) is the time at which `first` (epoch seconds) is played.
    """

    first: int
    begun: float
    day_seconds: float

    def at(self, now: float) -> int:
        """The recorded time (epoch seconds) at `now`."""
        return self.first + int((now - self.begun) * _DAY_SECONDS / self.day_seconds)
