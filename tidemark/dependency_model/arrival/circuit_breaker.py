"""A circuit breaker for one system, as a value (Nygard, Release It!): after failures in a row nobody asks for a while.

Then one probe goes through: its answer closes the circuit, its failure opens it for twice as long.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.arrival.probe_interval import back_off

if TYPE_CHECKING:
    from datetime import datetime

FAILURES: Final = 5
"""So many failures in a row open the circuit."""


class CircuitState(Enum):
    """Closed: all may ask. Open: nobody may. Half open: one has been let through, and its answer is awaited."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True)
class CircuitBreaker:
    """`failures` are those in a row, `retry_at` is when an open circuit lets one through."""

    state: CircuitState = CircuitState.CLOSED
    failures: int = 0
    retry_at: datetime | None = None

    def allows(self, now: datetime) -> bool:
        """Whether a probe may begin."""
        if self.state is CircuitState.OPEN:
            return self.retry_at is None or now >= self.retry_at
        return self.state is CircuitState.CLOSED

    def begin(self) -> CircuitBreaker:
        """A probe that was allowed begins."""
        return replace(self, state=CircuitState.HALF_OPEN) if self.state is CircuitState.OPEN else self

    def succeed(self) -> CircuitBreaker:
        """A probe was answered."""
        return CircuitBreaker()

    def fail(self, now: datetime) -> CircuitBreaker:
        """A probe was not answered."""
        failures = self.failures + 1
        if failures < FAILURES and self.state is CircuitState.CLOSED:
            return replace(self, failures=failures)
        return CircuitBreaker(CircuitState.OPEN, failures, now + back_off(failures - FAILURES + 2))
