"""Past arrival times of one entity's slices, by hour and weekday of the window's end (seed capability C8)."""

from __future__ import annotations

from bisect import insort
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

KEPT: Final = 30
"""The most recent arrivals that are kept for each hour and weekday."""
ENOUGH: Final = 4
"""If there are fewer arrivals, all arrivals of the hour are used, then all arrivals of the entity."""

_USUAL: Final = 0.85
_Bucket = tuple[int, int]
_ANY: Final = -1


@dataclass(frozen=True, slots=True)
class ExpectedArrival:
    """Seconds after the window's end. Few slices arrive before `earliest` or after `latest`."""

    earliest: float
    latest: float

    @property
    def spread(self) -> float:
        """Seconds between `earliest` and `latest`."""
        return self.latest - self.earliest


@dataclass(slots=True)
class LearnedArrival:
    """The recent arrival delays of one entity."""

    _delays: dict[_Bucket, deque[float]] = field(default_factory=dict)

    def learn(self, end: datetime, seen: datetime) -> None:
        """Records that a slice whose window ended at `end` was first seen at `seen`."""
        delay = max(0.0, (seen - end).total_seconds())
        for bucket in _buckets(end):
            self._delays.setdefault(bucket, deque(maxlen=KEPT)).append(delay)

    def expect(self, end: datetime) -> ExpectedArrival | None:
        """The expected arrival of the slice whose window ends at `end`; None with fewer than `ENOUGH` arrivals."""
        for bucket in _buckets(end):
            delays = self._delays.get(bucket, ())
            if len(delays) >= ENOUGH:
                return _expected(delays)
        return None


def _buckets(end: datetime) -> tuple[_Bucket, ...]:
    return ((end.hour, end.weekday()), (end.hour, _ANY), (_ANY, _ANY))


def _expected(delays: deque[float] | tuple[float, ...]) -> ExpectedArrival:
    """The range from the shortest delay to the 85th percentile. Later slices are probed at growing intervals."""
    ordered: list[float] = []
    for delay in delays:
        insort(ordered, delay)
    return ExpectedArrival(ordered[0], ordered[int((len(ordered) - 1) * _USUAL)])
