"""How fast the recorded days go by."""

from __future__ import annotations

from dataclasses import dataclass

_DAY_SECONDS = 86_400


@dataclass(frozen=True)
class Pace:
    """A day in `day_seconds`; `begun` (of a clock that goes on) is when `first` (epoch seconds) is played."""

    first: int
    begun: float
    day_seconds: float

    def at(self, now: float) -> int:
        """The recorded time (epoch seconds) that it is at `now`."""
        return self.first + int((now - self.begun) * _DAY_SECONDS / self.day_seconds)
