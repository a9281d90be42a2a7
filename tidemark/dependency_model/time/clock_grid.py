"""Periods shorter than a day: the local clock in steps of 5, 10 or 60 minutes.

A slice is the longest range of time, within one local day, in which the offset to UTC and the step on the local clock
do not change. So the hour that spring skips is not a slice, the hour that autumn repeats is two, and a clock that moves
by half an hour (Lord Howe) makes a slice of half an hour. Between changes this is arithmetic; the few days with a
change are in a table.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from datetime import date
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from tidemark.dependency_model.suggestion import quote_value
from tidemark.dependency_model.time.date_grid import day_of
from tidemark.dependency_model.time.grid import Grid
from tidemark.dependency_model.time.zone import DAY_SECONDS, EPOCH_ORDINAL, LAST_DAY, Zone
from tidemark.errors import NoSuchSliceError, ParseError

if TYPE_CHECKING:
    from tidemark.dependency_model.time.period import Period

_HOUR_KEY = re.compile(r"(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3])([+-]\d\d:\d\d(?::\d\d)?)?", re.ASCII)
_MINUTE_KEY = re.compile(r"(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):([0-5]\d)([+-]\d\d:\d\d(?::\d\d)?)?", re.ASCII)


class ChangeDaySlice(NamedTuple):
    """A slice of a day with a change: its start, the step on the local clock (seconds), and its offset."""

    start: int
    local: int
    offset: int


class ClockGrid(Grid):
    """Slices of 5, 10 or 60 minutes on the local clock."""

    def __init__(self, period: Period, zone: Zone) -> None:
        super().__init__(period, zone)
        self.step = 60 * (period.minutes or 0)
        self.per_day = DAY_SECONDS // self.step
        self._times = [self._label(second)[10:] for second in range(0, DAY_SECONDS, self.step)]
        self.change_day_slices = lru_cache(maxsize=64)(self._cut)
        days = [day for day in sorted(zone.unsettled_days) if not self._is_plain(day)]
        counts = [self._count(day) for day in days]
        extra = [0, *accumulate(count - self.per_day for count in counts)]
        self.odd_days = days
        self._counts = counts
        self.extra_slices = tuple(extra)
        self._odd_firsts = [day * self.per_day + more for day, more in zip(days, extra, strict=False)]

    @property
    def first(self) -> int:
        return self.day_start(0)

    @property
    def last(self) -> int:
        return self.day_start(LAST_DAY) - 1

    def day_start(self, day: int) -> int:
        """The first slice of a local day; for a skipped day, of the next one."""
        return day * self.per_day + self.extra_slices[bisect_right(self.odd_days, day - 1)]

    def is_plain(self, first_day: int, end_day: int) -> bool:
        """Whether each day of a range has the usual number of slices, each in its place."""
        index = bisect_right(self.odd_days, first_day - 1)
        return index == len(self.odd_days) or self.odd_days[index] >= end_day

    def start(self, ordinal: int) -> int:
        day, index = self.place(ordinal)
        if self.is_plain(day, day + 1):
            return self.zone.midnight(day) + index * self.step
        return self.change_day_slices(day)[index].start

    def at(self, instant: int) -> int:
        day = self.zone.day_at(instant)
        if self.is_plain(day, day + 1):
            return self.day_start(day) + (instant - self.zone.midnight(day)) // self.step
        starts = [slice_.start for slice_ in self.change_day_slices(day)]
        return self.day_start(day) + bisect_right(starts, instant) - 1

    def place(self, ordinal: int) -> tuple[int, int]:
        """The local day of a slice, and its index in that day."""
        before = bisect_right(self._odd_firsts, ordinal) - 1
        if before < 0:
            return divmod(ordinal, self.per_day)
        index = ordinal - self._odd_firsts[before]
        if index < self._counts[before]:
            return self.odd_days[before], index
        days, index = divmod(index - self._counts[before], self.per_day)
        return self.odd_days[before] + 1 + days, index

    def local(self, ordinal: int) -> int:
        """The local time that names a slice, in seconds since 1970-01-01T00:00 local."""
        day, index = self.place(ordinal)
        if self.is_plain(day, day + 1):
            return day * DAY_SECONDS + index * self.step
        return self.change_day_slices(day)[index].local

    def is_repeat(self, ordinal: int) -> bool:
        """Whether the clock showed this slice's step earlier that day. Its key then has the offset to UTC."""
        day, index = self.place(ordinal)
        return not self.is_plain(day, day + 1) and self._is_repeat(self.change_day_slices(day)[index])

    def _print(self, ordinal: int) -> str:
        day, index = self.place(ordinal)
        if self.is_plain(day, day + 1):
            return self._label(day * DAY_SECONDS + index * self.step)
        slice_ = self.change_day_slices(day)[index]
        return self._label(slice_.local) + (offset_text(slice_.offset) if self._is_repeat(slice_) else "")

    def _print_all(self, ordinals: range) -> list[str]:
        """The keys of a range; days without a change are not processed slice by slice."""
        keys: list[str] = []
        ordinal, stop = ordinals.start, ordinals.stop
        while ordinal < stop:
            day, index = self.place(ordinal)
            if self.is_plain(day, day + 1):
                date_text = date.fromordinal(day + EPOCH_ORDINAL).isoformat()
                keys += [date_text + time_text for time_text in self._times[index : index + stop - ordinal]]
                ordinal += self.per_day - index
            else:
                keys.append(self.key(ordinal))
                ordinal += 1
        return keys

    def _label(self, local: int) -> str:
        day, second = divmod(local, DAY_SECONDS)
        hour, minute = divmod(second // 60, 60)
        label = f"{date.fromordinal(day + EPOCH_ORDINAL).isoformat()}T{hour:02}"
        return label if self.step == 3600 else f"{label}:{minute:02}"

    def _parse(self, key: str) -> int:
        match = (_HOUR_KEY if self.step == 3600 else _MINUTE_KEY).fullmatch(key)
        if not match:
            example = "2026-03-29T03" if self.step == 3600 else "2026-03-29T03:10"
            raise ParseError(f"this is not the key of a {self.period} slice", expected=example, found=quote_value(key))
        minute = int(match[3]) if self.step != 3600 else 0
        local = day_of(match[1]) * DAY_SECONDS + int(match[2]) * 3600 + minute * 60
        ordinal = self.at(self.zone.earliest(local)) if match[match.lastindex or 0][0] not in "+-" else self._named(key)
        if ordinal is None or self.key(ordinal) != key:
            raise NoSuchSliceError(
                f"{self.zone.name} has no such {self.period} slice",
                found=quote_value(key),
                hint="the local clock skips it, or it is not written in its standard form",
            )
        return ordinal

    def _named(self, key: str) -> int | None:
        """The slice of a key with an offset. Only days with a change have such slices."""
        day = day_of(key[:10])
        for near in (day - 1, day, day + 1):
            if not self.is_plain(near, near + 1):
                first = self.day_start(near)
                for ordinal in range(first, first + len(self.change_day_slices(near))):
                    if self.key(ordinal) == key:
                        return ordinal
        return None

    def _is_repeat(self, slice_: ChangeDaySlice) -> bool:
        """Whether the clock showed this step before, with another offset."""
        first = self.zone.earliest(slice_.local)
        return first < slice_.start and (first + self.zone.offset_at(first)) < slice_.local + self.step

    def _stretches(self, day: int) -> list[tuple[int, int, int]]:
        """(start, end, offset) of the ranges of a day with one offset."""
        start, end = self.zone.midnight(day), self.zone.midnight(day + 1)
        cuts = [start, *self.zone.changes_within(start, end), end]
        return [(low, high, self.zone.offset_at(low)) for low, high in pairwise(cuts) if low < high]

    def _is_plain(self, day: int) -> bool:
        start, end = self.zone.midnight(day), self.zone.midnight(day + 1)
        starts_at_zero = (start + self.zone.offset_at(start)) % DAY_SECONDS == 0
        return end - start == DAY_SECONDS and starts_at_zero and not self.zone.changes_within(start, end)

    def _count(self, day: int) -> int:
        return sum(
            (high - 1 + offset) // self.step - (low + offset) // self.step + 1
            for low, high, offset in self._stretches(day)
        )

    def _cut(self, day: int) -> tuple[ChangeDaySlice, ...]:
        slices = []
        for low, high, offset in self._stretches(day):
            first = (low + offset) // self.step * self.step
            slices += [
                ChangeDaySlice(max(low, local - offset), local, offset)
                for local in range(first, high + offset, self.step)
            ]
        return tuple(slices)


def offset_text(offset: int) -> str:
    """An offset to UTC in ISO 8601: `+01:00`."""
    hours, rest = divmod(abs(offset), 3600)
    minutes, seconds = divmod(rest, 60)
    text = f"{'-' if offset < 0 else '+'}{hours:02}:{minutes:02}"
    return f"{text}:{seconds:02}" if seconds else text
