"""A local clock and a first day of the week, which cut business time into windows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from tidemark.dependency_model.suggestion import did_you_mean, quote_value
from tidemark.dependency_model.time.clock_grid import ClockGrid
from tidemark.dependency_model.time.date_grid import WEEK_DAYS, DayGrid, MonthsGrid, WeekGrid
from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.window import Window, seconds_of
from tidemark.dependency_model.time.zone import LAST_DAY, Zone
from tidemark.errors import CalendarError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from tidemark.dependency_model.time.grid import Grid


@dataclass(frozen=True, slots=True)
class Calendar:
    """A time zone (IANA name, or a fixed offset such as `UTC+8`), the first day of the week, a calendar of holidays."""

    time_zone: str = "UTC"
    week_start: str = "monday"
    holidays: str = ""

    def __post_init__(self) -> None:
        Zone.load(self.time_zone)
        if self.week_start not in WEEK_DAYS:
            raise CalendarError(
                "unknown first day of the week",
                expected=f"one of {', '.join(WEEK_DAYS)}",
                found=quote_value(self.week_start),
                hint=did_you_mean(str(self.week_start), WEEK_DAYS),
            )

    def grid(self, period: Period) -> Grid:
        """The numbered slices of a period on this clock. Equal arguments give the same object."""
        return _grid(period, self.time_zone, self.week_start if period is Period.WEEK else "monday")

    def window(self, period: Period, slice_time: str | datetime) -> Window:
        """The window of a key, or of the slice that contains an aware instant. Raises ParseError, CalendarError."""
        return self.grid(period).window(self._ordinal(period, slice_time))

    def start_of(self, text: str) -> datetime:
        """The start of a day (`2026-03-29`) or an hour (`2026-03-29T03`). Raises ParseError, NoSuchSliceError."""
        return self.window(Period.HOUR if "T" in text else Period.DAY, text).start

    def key(self, period: Period, instant: datetime) -> str:
        """The key of the slice that contains an aware instant. Raises CalendarError."""
        return self.grid(period).key(self._ordinal(period, instant))

    def shift(self, period: Period, slice_time: str | datetime, count: int) -> str:
        """The key of the slice `count` slices later (negative: earlier). Raises CalendarError past the ends."""
        grid = self.grid(period)
        shifted = self._ordinal(period, slice_time) + count
        if not grid.first <= shifted <= grid.last:
            raise CalendarError("dates must be from 1970 to 2199", found=f"{count} {period}s from {slice_time}")
        return grid.key(shifted)

    def windows(self, period: Period, start: datetime, end: datetime) -> Iterator[tuple[str, Window]]:
        """Key and window of each slice that overlaps `[start, end)`, in order of time."""
        grid, stop = self.grid(period), seconds_of(end)
        ordinal = self._ordinal(period, start)
        while grid.start(ordinal) < stop:
            yield grid.key(ordinal), grid.window(ordinal)
            ordinal += 1

    def _ordinal(self, period: Period, slice_time: str | datetime) -> int:
        grid = self.grid(period)
        return grid.ordinal(slice_time) if isinstance(slice_time, str) else grid.at(checked_seconds(slice_time))


def checked_seconds(instant: datetime) -> int:
    """Seconds since 1970-01-01T00:00Z of an aware instant. Raises CalendarError outside 1970 to 2199."""
    if instant.tzinfo is None:
        raise CalendarError("an instant needs a time zone", expected="an aware datetime", found=quote_value(instant))
    seconds = seconds_of(instant)
    if not 0 <= seconds < LAST_DAY * 86_400:
        raise CalendarError("dates must be from 1970 to 2199", found=str(instant))
    return seconds


@lru_cache(maxsize=4096)
def _grid(period: Period, time_zone: str, week_start: str) -> Grid:
    zone = Zone.load(time_zone)
    if period.is_clock:
        return ClockGrid(period, zone)
    if period is Period.DAY:
        return DayGrid(zone)
    if period is Period.WEEK:
        return WeekGrid(zone, week_start)
    return MonthsGrid(period, zone)
