"""How often the source is asked: what a question took decides how long the next one waits."""

from collections.abc import Callable
from typing import Final

_MINUTE: Final = 60.0


class AuditPace:
    """Questions take `share` of the time at most, and are no more than `per_minute` (None: as many as that allows)."""

    def __init__(self, share: float, per_minute: float | None, clock: Callable[[], float]) -> None:
        self._share, self._clock = share, clock
        self._least = _MINUTE / per_minute if per_minute else 0.0
        self._next = clock()
        self.busy = 0.0
        """Seconds that questions have taken so far."""

    @property
    def wait(self) -> float:
        """Seconds until the next question may be asked."""
        return max(0.0, self._next - self._clock())

    def asked(self, begun: float) -> None:
        """A question that was `begun` then has its answer now."""
        now = self._clock()
        taken = now - begun
        self.busy += taken
        self._next = max(now + taken * (1 / self._share - 1), begun + self._least)
