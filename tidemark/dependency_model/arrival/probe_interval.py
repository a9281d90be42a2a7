"""The time of the next probe: often around the expected arrival, less and less often when a slice is late (C8)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

    from tidemark.dependency_model.arrival.learned_arrival import ExpectedArrival

LOOKS: Final = 8
"""The number of probes between the earliest and the latest expected arrival."""
LONGEST: Final = timedelta(minutes=30)
"""The longest time between two probes, unless the declaration has another one."""
_LATE_SHARE: Final = 0.2
_FIRST_BACK_OFF: Final = timedelta(seconds=15)
_MOST_DOUBLINGS: Final = 12


def first_look(end: datetime, expected: ExpectedArrival | None, shortest: timedelta) -> datetime:
    """The first probe of a slice whose window ends at `end`: one interval before the earliest past arrival."""
    if expected is None:
        return end
    return max(end, end + timedelta(seconds=expected.earliest) - _interval(expected, shortest))


def next_look(
    end: datetime,
    now: datetime,
    expected: ExpectedArrival | None,
    shortest: timedelta,
    longest: timedelta = LONGEST,
) -> datetime:
    """The next probe after one at `now` that found nothing, `shortest` to `longest` later.

    `shortest` is the time for which an answer is fresh.
    """
    elapsed = now - end
    if expected is None:
        return now + _clamp(elapsed * _LATE_SHARE, shortest, longest)
    late = elapsed - timedelta(seconds=expected.latest)
    interval = _interval(expected, shortest)
    if late <= timedelta(0):
        return max(now + interval, first_look(end, expected, shortest))
    return now + _clamp(max(interval, late * _LATE_SHARE), shortest, longest)


def back_off(failures: int, longest: timedelta = LONGEST) -> timedelta:
    """The wait after `failures` failures in a row. It doubles with each failure."""
    doublings: int = min(failures - 1, _MOST_DOUBLINGS)
    return min(longest, _FIRST_BACK_OFF * (1 << doublings))


def _interval(expected: ExpectedArrival, shortest: timedelta) -> timedelta:
    return _clamp(timedelta(seconds=expected.spread / LOOKS), shortest)


def _clamp(interval: timedelta, shortest: timedelta, longest: timedelta = LONGEST) -> timedelta:
    return max(shortest, min(interval, longest))
