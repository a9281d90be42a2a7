"""The rate of queries at the source: the time of a query decides how long the next one waits."""

from collections.abc import Callable
from typing import Final

_MINUTE: Final = 60.0


class AuditPace:
    """Limits queries to a `share` of the time and to `per_minute` (None: no such limit)."""

    def __init__(self, share: float, per_minute: float | None, clock: Callable[[], float]) -> None:
        self._share, self._clock = share, clock
        self._least = _MINUTE / per_minute if per_minute else 0.0
        self._next = clock()
        self.busy = 0.0
        """Seconds that queries have taken so far."""

    @property
    def wait(self) -> float:
        """Seconds until the next query may start."""
        return max(0.0, self._next - self._clock())

    def asked(self, begun: float) -> None:
        """Record that a query ended now; `begun` is its start on the clock."""
        now = self._clock()
        taken = now - begun
        self.busy += taken
        self._next = max(now + taken * (1 / self._share - 1), begun + self._least)
