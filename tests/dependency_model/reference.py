"""Slow, obvious time: what the local clock of a zone shows, minute by minute, and what follows from it by looking.

Nothing of `tidemark.dependency_model.time` or `.offset` is used here but the names of the periods.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import numpy as np

from tidemark.dependency_model.time import Period

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

DAY = 86_400
EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, eq=False)
class Clock:
    """Every minute from November before a year to the February after it: its instant, and what the clock shows."""

    name: str
    week_start: int
    instants: Ints
    offsets: Ints
    local: Ints
    days: Ints

    def numbers(self, period: Period) -> Ints:
        """For each minute, a number that changes where a slice ends and the next one begins."""
        return _numbers(self, period)

    def starts(self, period: Period) -> Ints:
        """For each number, the instant of its first minute."""
        return _starts(self, period)


@lru_cache(maxsize=16)
def clock(name: str, year: int, week_start: int = 0) -> Clock:
    start = int(datetime(year - 1, 11, 1, tzinfo=UTC).timestamp())
    end = int(datetime(year + 1, 3, 1, tzinfo=UTC).timestamp())
    instants = np.arange(start, end, 60)
    with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as data:
        zone = ZoneInfo.from_file(data, key=name)
    offsets = np.concatenate([_offsets(zone, hour) for hour in range(start, end, 3600)])
    # A day begins when the clock first shows its midnight or later; turning the clock back does not bring it back.
    local = instants + offsets
    return Clock(name, week_start, instants, offsets, local, np.maximum.accumulate(local // DAY))


def _offsets(zone: ZoneInfo, hour: int) -> Ints:
    first, last = _offset(zone, hour), _offset(zone, hour + 3600)
    if first == last:
        return np.full(60, first)
    return np.array([_offset(zone, hour + 60 * minute) for minute in range(60)])


def _offset(zone: ZoneInfo, instant: int) -> int:
    return int((datetime.fromtimestamp(instant, zone).utcoffset() or timedelta()).total_seconds())


@lru_cache(maxsize=128)
def _numbers(shown: Clock, period: Period) -> Ints:
    if period.minutes:
        looks = [shown.days, shown.offsets, shown.local // (period.minutes * 60)]
    else:
        looks = [_labels(shown.days, period, shown.week_start)]
    changes = np.any([np.diff(look) != 0 for look in looks], axis=0)
    return np.concatenate([[0], np.cumsum(changes)])


@lru_cache(maxsize=128)
def _starts(shown: Clock, period: Period) -> Ints:
    first_minutes = np.flatnonzero(np.diff(_numbers(shown, period), prepend=-1))
    return np.asarray(shown.instants[first_minutes])


def _labels(days: Ints, period: Period, week_start: int) -> Ints:
    distinct, where = np.unique(days, return_inverse=True)
    return np.array([label(int(day), period, week_start) for day in distinct])[where]


def label(day: int, period: Period, week_start: int) -> int:
    """The first date of the day, week, month, quarter or year that a date lies in, as days since 1970."""
    result = EPOCH + timedelta(days=day)
    first = {
        Period.DAY: result,
        Period.WEEK: result - timedelta(days=(result.weekday() - week_start) % 7),
        Period.MONTH: result.replace(day=1),
        Period.QUARTER: result.replace(month=(result.month - 1) // 3 * 3 + 1, day=1),
        Period.YEAR: result.replace(month=1, day=1),
    }[period]
    return (first - EPOCH).days
