"""Periods of whole local days: day, week, month, quarter, year."""

from __future__ import annotations

import re
from abc import abstractmethod
from bisect import bisect_left
from datetime import date

from tidemark.dependency_model.suggestion import quote_value
from tidemark.dependency_model.time.grid import Grid
from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.zone import EPOCH_ORDINAL, FIRST_YEAR, LAST_DAY, LAST_YEAR, Zone
from tidemark.errors import NoSuchSliceError, ParseError

WEEK_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_EPOCH_WEEKDAY = WEEK_DAYS.index("thursday")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


class DateGrid(Grid):
    """Slices of whole dates. Days are counted since 1970-01-01."""

    @abstractmethod
    def first_day(self, ordinal: int) -> int:
        """The first local day of a slice."""

    @abstractmethod
    def at_day(self, day: int) -> int:
        """The slice that contains a local day; for a day that the zone skips, the next slice."""

    def end_day(self, ordinal: int) -> int:
        """The local day after the slice's last one."""
        return self.first_day(ordinal + 1)

    def start(self, ordinal: int) -> int:
        return self.zone.midnight(self.first_day(ordinal))

    def at(self, instant: int) -> int:
        return self.at_day(self.zone.day_at(instant))

    @property
    def first(self) -> int:
        return self.at_day(0)

    @property
    def last(self) -> int:
        return self.at_day(LAST_DAY - 1)


class DayGrid(DateGrid):
    """Local days. A day that the zone skipped (Apia, 2011-12-30) is not counted."""

    def __init__(self, zone: Zone) -> None:
        super().__init__(Period.DAY, zone)
        self.skipped = tuple(day for day in sorted(zone.unsettled_days) if zone.midnight(day) == zone.midnight(day + 1))

    def first_day(self, ordinal: int) -> int:
        day = ordinal
        for skipped in self.skipped:
            day += skipped <= day
        return day

    def end_day(self, ordinal: int) -> int:
        return self.first_day(ordinal) + 1

    def at_day(self, day: int) -> int:
        return day - bisect_left(self.skipped, day) if self.skipped else day

    def _print(self, ordinal: int) -> str:
        return date.fromordinal(self.first_day(ordinal) + EPOCH_ORDINAL).isoformat()

    def _parse(self, key: str) -> int:
        day = day_of(key)
        if day in self.skipped:
            raise NoSuchSliceError(f"{self.zone.name} skipped this day", found=quote_value(key))
        return self.at_day(day)


class WeekGrid(DateGrid):
    """Weeks that begin on a chosen day. The key is the first date."""

    def __init__(self, zone: Zone, week_start: str) -> None:
        super().__init__(Period.WEEK, zone)
        self.week_start = week_start
        self._shift = _EPOCH_WEEKDAY - WEEK_DAYS.index(week_start)

    def first_day(self, ordinal: int) -> int:
        return ordinal * 7 - self._shift

    def at_day(self, day: int) -> int:
        return (day + self._shift) // 7

    def _print(self, ordinal: int) -> str:
        return date.fromordinal(self.first_day(ordinal) + EPOCH_ORDINAL).isoformat()

    def _parse(self, key: str) -> int:
        day = day_of(key)
        ordinal = self.at_day(day)
        if self.first_day(ordinal) != day:
            raise NoSuchSliceError(
                f"weeks begin on {self.week_start}", found=quote_value(key), hint=f"its week is {self.key(ordinal)}"
            )
        return ordinal


class MonthsGrid(DateGrid):
    """Calendar months in groups: 1 (month), 3 (quarter) or 12 (year)."""

    def __init__(self, period: Period, zone: Zone) -> None:
        super().__init__(period, zone)
        self._months, self._pattern, self._form = _GROUPS[period]

    def first_day(self, ordinal: int) -> int:
        year, month = divmod(ordinal * self._months, 12)
        return date(FIRST_YEAR + year, month + 1, 1).toordinal() - EPOCH_ORDINAL

    def at_day(self, day: int) -> int:
        as_date = date.fromordinal(day + EPOCH_ORDINAL)
        return ((as_date.year - FIRST_YEAR) * 12 + as_date.month - 1) // self._months

    def _print(self, ordinal: int) -> str:
        year, month = divmod(ordinal * self._months, 12)
        return self._form.format(FIRST_YEAR + year, month // self._months + 1)

    def _parse(self, key: str) -> int:
        match = self._pattern.fullmatch(key)
        if not match:
            raise ParseError(
                f"this is not the key of a {self.period} slice",
                expected=self._form.format(2026, 3),
                found=quote_value(key),
            )
        groups = [int(group) for group in match.groups()]
        return ((groups[0] - FIRST_YEAR) * 12) // self._months + (groups[1] - 1 if len(groups) > 1 else 0)


_GROUPS = {
    Period.MONTH: (1, re.compile(r"(\d{4})-(0[1-9]|1[0-2])", re.ASCII), "{:04}-{:02}"),
    Period.QUARTER: (3, re.compile(r"(\d{4})-Q([1-4])", re.ASCII), "{:04}-Q{}"),
    Period.YEAR: (12, re.compile(r"(\d{4})", re.ASCII), "{:04}"),
}


def day_of(key: str) -> int:
    """Days since 1970-01-01 of a date in ISO form. Raises ParseError."""
    if not _DATE.fullmatch(key):
        raise ParseError("this is not a date", expected="a date such as 2026-03-29", found=quote_value(key))
    try:
        as_date = date.fromisoformat(key)
    except ValueError as error:
        raise NoSuchSliceError("this date does not exist", found=quote_value(key)) from error
    if not FIRST_YEAR <= as_date.year <= LAST_YEAR:
        raise ParseError(f"dates must be from {FIRST_YEAR} to {LAST_YEAR}", found=quote_value(key))
    return as_date.toordinal() - EPOCH_ORDINAL
