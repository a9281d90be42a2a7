"""`Set` and `Range` for a window that the local clock or the calendar does not fill evenly.

Inside the window an offset names a time on the downstream's local clock: in a day by hours, `5` is the hour 05, whether
the day has 23, 24 or 25 hours. The hour that spring skips has no slice, the hour that autumn repeats has two, and
`0..23` is always the whole day. Before and after the window, slices are counted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from tidemark.dependency_model.offset.grid_comparison import sides
from tidemark.dependency_model.time.clock_grid import ClockGrid
from tidemark.dependency_model.time.date_grid import DateGrid, DayGrid
from tidemark.dependency_model.time.zone import DAY_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tidemark.dependency_model.offset.offset import Runs
    from tidemark.dependency_model.time.grid import Grid

_FAR = 1 << 60
_REMEMBERED = 4_096


class CountedInside(ABC):
    """Counts slices before and after the window, and uses clock names inside it."""

    def __init__(self, runs: Runs, down: Grid, up: Grid) -> None:
        self._runs = runs
        self._down, self._up = sides(down, up)
        self._expanded = lru_cache(maxsize=_REMEMBERED)(self._expand)

    @abstractmethod
    def _is_even(self, down: int, anchor: int) -> bool:
        """Whether the window is filled evenly, so that counting is enough."""

    @abstractmethod
    def _length(self, down: int) -> int:
        """The number of names in the window."""

    @abstractmethod
    def _named(self, down: int, first: int, last: int) -> Iterable[int]:
        """The upstream slices of the names `first..last` inside the window."""

    @property
    @abstractmethod
    def _slack(self) -> int:
        """The largest difference between counting and naming, in slices."""

    def expand(self, down: int) -> Sequence[int]:
        return self._expanded(down)

    def _expand(self, down: int) -> Sequence[int]:
        anchor = self._up.at(self._down.start(down))
        if self._is_even(down, anchor):
            if len(self._runs) == 1:
                first, last = self._runs[0]
                return range(anchor + first, anchor + last + 1)
            return [anchor + count for first, last in self._runs for count in range(first, last + 1)]
        return sorted(set(self._uneven(down, anchor)))

    def _uneven(self, down: int, anchor: int) -> Iterator[int]:
        length, after = self._length(down), self._up.from_(self._down.end(down))
        for first, last in self._runs:
            yield from range(anchor + first, anchor + min(last, -1) + 1)
            if first < length and last >= 0:
                yield from self._named(down, max(first, 0), min(last, length - 1))
            yield from range(after + max(first - length, 0), after + last - length + 1)

    def inverse(self, up: int) -> Sequence[int]:
        ordinals: set[int] = set()
        for first, last in self._runs:
            low = self._down.at(self._up.start(up - last - self._slack))
            high = self._down.at(self._up.end(up - first + self._slack))
            ordinals.update(down for down in range(low, high + 1) if up in self.expand(down))
        return sorted(ordinals)


class CountedByDate(CountedInside):
    """Days of a zone that skipped one (Apia, 2011-12-30): inside the window an offset names a date."""

    def __init__(self, runs: Runs, down: DateGrid, up: DayGrid) -> None:
        super().__init__(runs, down, up)
        self._dates, self._days = down, up

    @property
    def _slack(self) -> int:
        return len(self._days.skipped) + 1

    def _is_even(self, down: int, anchor: int) -> bool:
        first, end = self._dates.first_day(down), self._dates.end_day(down)
        return not any(first <= day < end for day in self._days.skipped) and self._days.first_day(anchor) == first

    def _length(self, down: int) -> int:
        return self._dates.end_day(down) - self._dates.first_day(down)

    def _named(self, down: int, first: int, last: int) -> Iterable[int]:
        start = self._dates.first_day(down)
        return (
            self._days.at_day(day) for day in range(start + first, start + last + 1) if day not in self._days.skipped
        )


class CountedByClock(CountedInside):
    """Slices shorter than a day: inside the window an offset names a step of the downstream's local clock."""

    def __init__(self, runs: Runs, down: Grid, up: ClockGrid) -> None:
        super().__init__(runs, down, up)
        self._window, self._steps = down, up
        counted = max(up.extra_slices) - min(up.extra_slices)
        named = 0 if up.zone is down.zone else (max(down.zone.offsets) - min(down.zone.offsets)) // up.step + 4
        self._margin = counted + named

    @property
    def _slack(self) -> int:
        return self._margin

    def _is_even(self, down: int, anchor: int) -> bool:
        if self._steps.zone is self._window.zone:
            return self._steps.is_plain(*self._days(down))
        start, end = self._window.start(down), self._window.start(down + 1)
        zones = (self._steps.zone, self._window.zone)
        unchanged = not any(zone.changes_within(start - DAY_SECONDS, end + DAY_SECONDS) for zone in zones)
        return unchanged and self._steps.start(anchor) == start and end - start == self._length(down) * self._steps.step

    def _days(self, down: int) -> tuple[int, int]:
        if isinstance(self._window, DateGrid):
            return self._window.first_day(down), self._window.end_day(down)
        day = self._window.zone.day_at(self._window.start(down))
        return day, day + 1

    def _length(self, down: int) -> int:
        if isinstance(self._window, ClockGrid):
            return max(1, self._window.step // self._steps.step)
        first, end = self._days(down)
        return (end - first) * self._steps.per_day

    def _named(self, down: int, first: int, last: int) -> Iterable[int]:
        zero, step = self._zero(down), self._steps.step
        low = zero + first * step if first > 0 else -_FAR
        high = zero + (last + 1) * step if last < self._length(down) - 1 else _FAR
        start, end = self._window.start(down), self._window.start(down + 1)
        for left, right in pairwise([start, *self._window.zone.changes_within(start, end), end]):
            offset = self._window.zone.offset_at(left)
            left, right = max(left, low - offset), min(right, high - offset)  # noqa: PLW2901 - cut to the names asked for
            if left < right:
                yield from self._up.overlapping(left, right)

    def _zero(self, down: int) -> int:
        """The local time of the downstream's clock at which its names begin, in seconds."""
        if isinstance(self._window, ClockGrid):
            return self._window.local(down)
        return self._days(down)[0] * DAY_SECONDS
