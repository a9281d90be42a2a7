"""When slices of one entity used to arrive, by the hour and weekday of their window's end (seed capability C8)."""

from __future__ import annotations

from bisect import insort
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

KEPT: Final = 30
"""So many of the last arrivals of an hour and weekday are remembered."""
ENOUGH: Final = 4
"""With fewer, what is known of the hour counts, then what is known of the entity."""

_USUAL: Final = 0.85
_Bucket = tuple[int, int]
_ANY: Final = -1


@dataclass(frozen=True, slots=True)
class ExpectedArrival:
    """Seconds after the window's end: hardly any slice came before `earliest`, hardly any after `latest`."""

    earliest: float
    latest: float

    @property
    def spread(self) -> float:
        """How many seconds lie between."""
        return self.latest - self.earliest


@dataclass(slots=True)
class LearnedArrival:
    """What is remembered of one entity."""

    _delays: dict[_Bucket, deque[float]] = field(default_factory=dict)

    def learn(self, end: datetime, seen: datetime) -> None:
        """A slice whose window ended at `end` was first seen at `seen`."""
        delay = max(0.0, (seen - end).total_seconds())
        for bucket in _buckets(end):
            self._delays.setdefault(bucket, deque(maxlen=KEPT)).append(delay)

    def expect(self, end: datetime) -> ExpectedArrival | None:
        """When the slice whose window ends at `end` should arrive; None where too little is known."""
        for bucket in _buckets(end):
            delays = self._delays.get(bucket, ())
            if len(delays) >= ENOUGH:
                return _expected(delays)
        return None


def _buckets(end: datetime) -> tuple[_Bucket, ...]:
    return ((end.hour, end.weekday()), (end.hour, _ANY), (_ANY, _ANY))


def _expected(delays: deque[float] | tuple[float, ...]) -> ExpectedArrival:
    """Between the least delay and one that few exceed: the late ones are waited for at growing intervals."""
    ordered: list[float] = []
    for delay in delays:
        insort(ordered, delay)
    return ExpectedArrival(ordered[0], ordered[int((len(ordered) - 1) * _USUAL)])
