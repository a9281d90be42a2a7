"""A circuit breaker for one system, as a value (Nygard, Release It!).

After several failures in a row, all probes are refused for a time. Then one probe is allowed: its success closes the
circuit, its failure opens the circuit for twice as long.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.arrival.probe_interval import back_off

if TYPE_CHECKING:
    from datetime import datetime

FAILURES: Final = 5
"""The failures in a row that open the circuit."""


class CircuitState(Enum):
    """Closed: all probes are allowed. Open: none is. Half open: one probe was allowed and has not ended."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True)
class CircuitBreaker:
    """`failures` counts the failures in a row. An open circuit allows one probe at `retry_at`."""

    state: CircuitState = CircuitState.CLOSED
    failures: int = 0
    retry_at: datetime | None = None

    def allows(self, now: datetime) -> bool:
        """Whether a probe may begin."""
        if self.state is CircuitState.OPEN:
            return self.retry_at is None or now >= self.retry_at
        return self.state is CircuitState.CLOSED

    def begin(self) -> CircuitBreaker:
        """Records that an allowed probe begins."""
        return replace(self, state=CircuitState.HALF_OPEN) if self.state is CircuitState.OPEN else self

    def succeed(self) -> CircuitBreaker:
        """Records that a probe was answered."""
        return CircuitBreaker()

    def fail(self, now: datetime) -> CircuitBreaker:
        """Records that a probe failed."""
        failures = self.failures + 1
        if failures < FAILURES and self.state is CircuitState.CLOSED:
            return replace(self, failures=failures)
        return CircuitBreaker(CircuitState.OPEN, failures, now + back_off(failures - FAILURES + 2))
