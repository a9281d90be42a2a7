"""When to look at a slice next: often while it should arrive, ever less often when it is late (seed capability C8)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

    from tidemark.dependency_model.arrival.learned_arrival import ExpectedArrival

LOOKS: Final = 8
"""So many looks are spread over the time in which the slice should arrive."""
LONGEST: Final = timedelta(minutes=30)
"""So long at most between two looks, where a declaration says nothing else."""
_LATE_SHARE: Final = 0.2
_FIRST_BACK_OFF: Final = timedelta(seconds=15)
_MOST_DOUBLINGS: Final = 12


def first_look(end: datetime, expected: ExpectedArrival | None, shortest: timedelta) -> datetime:
    """The first look at a slice whose window ends at `end`: one interval before the earliest arrival so far."""
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
    """The look after one at `now` that saw nothing: `shortest`, how long an answer is fresh, to `longest` later."""
    elapsed = now - end
    if expected is None:
        return now + _clamp(elapsed * _LATE_SHARE, shortest, longest)
    late = elapsed - timedelta(seconds=expected.latest)
    interval = _interval(expected, shortest)
    if late <= timedelta(0):
        return max(now + interval, first_look(end, expected, shortest))
    return now + _clamp(max(interval, late * _LATE_SHARE), shortest, longest)


def back_off(failures: int, longest: timedelta = LONGEST) -> timedelta:
    """How long to wait after so many failures in a row: twice as long each time."""
    doublings: int = min(failures - 1, _MOST_DOUBLINGS)
    return min(longest, _FIRST_BACK_OFF * (1 << doublings))


def _interval(expected: ExpectedArrival, shortest: timedelta) -> timedelta:
    return _clamp(timedelta(seconds=expected.spread / LOOKS), shortest)


def _clamp(interval: timedelta, shortest: timedelta, longest: timedelta = LONGEST) -> timedelta:
    return max(shortest, min(interval, longest))
