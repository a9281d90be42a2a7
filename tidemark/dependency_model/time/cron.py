"""The earliest time of a slice as a cron text: minute, hour, day of month, month, day of week.

`*`, lists, ranges, steps and names (`mon`, `jan`) as in Vixie cron. If date and weekday are both given, a day matches
by either; `?` means `*`. A time that the local clock skips is right after the gap.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from tidemark.dependency_model.suggestion import quote_value
from tidemark.dependency_model.time.zone import DAY_SECONDS, EPOCH_ORDINAL, Zone
from tidemark.errors import ParseError

_NAMES = {
    name: number
    for names in ("sun mon tue wed thu fri sat", "- jan feb mar apr may jun jul aug sep oct nov dec")
    for number, name in enumerate(names.split())
}
_FIELDS = (("minute", 0, 59), ("hour", 0, 23), ("day of month", 1, 31), ("month", 1, 12), ("day of week", 0, 7))
_PART = re.compile(r"(\*|\?|\w{1,3})(?:-(\w{1,3}))?(?:/(\d{1,2}))?", re.ASCII)
_LIMIT = 200
_LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DAYS_AHEAD = 366 * 8 + 3
"""The longest possible wait in days: from one 29 February to the next over a century without one."""


@dataclass(frozen=True, slots=True)
class Cron:
    """The minutes of the local clock that a cron text names."""

    text: str
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int] | None
    months: frozenset[int]
    weekdays: frozenset[int] | None

    @classmethod
    def parse(cls, text: str) -> Cron:
        """Parses a cron text. Raises ParseError, also if the expression never matches a date."""
        return _parse(text)

    def next(self, instant: int, zone: Zone) -> int:
        """The first instant (seconds) at or after `instant` at which the clock of `zone` shows a time of this text.

        In a repeated hour, each time counts.
        """
        day = zone.day_at(instant)
        for ahead in range(_DAYS_AHEAD):
            if self._is_on(day + ahead):
                midnight = (day + ahead) * DAY_SECONDS
                readings = (zone.instants(midnight + minute * 60) for minute in self._minutes_of_day())
                candidates = [shown for reading in readings for shown in reading if shown >= instant]
                if candidates:
                    return min(candidates)
        raise _never(self.text)

    def _is_on(self, day: int) -> bool:
        as_date = date.fromordinal(EPOCH_ORDINAL + day)
        by_date = self.days is None or as_date.day in self.days
        by_weekday = self.weekdays is None or as_date.isoweekday() % 7 in self.weekdays
        both_given = self.days is not None and self.weekdays is not None
        return as_date.month in self.months and (by_date or by_weekday if both_given else by_date and by_weekday)

    def _minutes_of_day(self) -> list[int]:
        return [hour * 60 + minute for hour in sorted(self.hours) for minute in sorted(self.minutes)]


@lru_cache(maxsize=1024)
def _parse(text: str) -> Cron:
    fields = text.lower().split() if isinstance(text, str) and len(text) <= _LIMIT else []
    if len(fields) != len(_FIELDS):
        raise ParseError(
            "this is not a cron expression", expected="five fields, as '30 0 * * *'", found=quote_value(text)
        )
    minutes, hours, days, months, weekdays = (
        _field(field, *bounds) for field, bounds in zip(fields, _FIELDS, strict=True)
    )
    weekdays = frozenset(day % 7 for day in weekdays)
    if fields[4] in "*?" and min(days) > max(_LONGEST[month - 1] for month in months):
        raise _never(text)
    return Cron(
        text,
        minutes,
        hours,
        None if fields[2] in "*?" else days,
        months,
        None if fields[4] in "*?" else weekdays,
    )


def _field(text: str, name: str, low: int, high: int) -> frozenset[int]:
    numbers: set[int] = set()
    for part in text.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise _wrong(text, name, low, high)
        numbers.update(_range(match, text, name, low, high))
    return frozenset(numbers)


def _range(match: re.Match[str], text: str, name: str, low: int, high: int) -> range:
    step = int(match[3] or 1)
    if match[1] in "*?":
        first, last = low, min(high, 6) if name == "day of week" else high
    else:
        first = _number(match[1], name)
        last = _number(match[2], name) if match[2] else high if match[3] else first
    if not (low <= first <= last <= high and step):
        raise _wrong(text, name, low, high)
    return range(first, last + 1, step)


def _number(text: str, name: str) -> int:
    if text.isdecimal():
        return int(text)
    is_name = (name == "month" and text in _NAMES and _NAMES[text] > 0) or name == "day of week"
    return _NAMES.get(text, -1) if is_name else -1


def _never(text: str) -> ParseError:
    return ParseError("the expression never matches a date", found=quote_value(text))


def _wrong(text: str, name: str, low: int, high: int) -> ParseError:
    return ParseError(
        f"the {name} of the cron expression cannot be read", expected=f"{low} to {high}", found=quote_value(text)
    )
