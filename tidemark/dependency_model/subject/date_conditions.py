"""Dates in conditions: `20220101`, `2022010103`, `2022-01-01T03`, `202201`, as ranges of a local clock."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tidemark.dependency_model.offset.mapping import mapping_between
from tidemark.dependency_model.offset.offset import Offset
from tidemark.dependency_model.suggestion import quote_value
from tidemark.dependency_model.time.period import Period
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from tidemark.dependency_model.time.local_calendar import Calendar

Stretch = tuple[int, int]
"""Start and end in seconds since 1970-01-01T00:00Z."""

_COMPACT = re.compile(r"(\d{4})(?:(\d{2})(?:(\d{2})(?:(\d{2})(\d{2})?)?)?)?", re.ASCII)
_FORMS = (
    (Period.DAY, re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)),
    (Period.HOUR, re.compile(r"\d{4}-\d\d-\d\dT\d\d([+-].*)?", re.ASCII)),
    (Period.FIVE_MINUTES, re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d([+-].*)?", re.ASCII)),
    (Period.MONTH, re.compile(r"\d{4}-\d\d", re.ASCII)),
    (Period.QUARTER, re.compile(r"\d{4}-Q\d", re.ASCII)),
)


def stretches(text: str, calendar: Calendar) -> tuple[Stretch, ...]:
    """The time ranges of a date text. A short hour may mean two hours of an autumn night, or no hour of a spring night.

    Raises ParseError.
    """
    for period, form in _FORMS:
        if form.fullmatch(text):
            return (_window(calendar, period, text),)
    match = _COMPACT.fullmatch(text)
    if match is None:
        raise ParseError(
            "this is not a date", expected="a date such as 20220101, or an hour as 2022010103", found=quote_value(text)
        )
    year, month, day, hour, minute = match.groups()
    if month is None:
        return (_window(calendar, Period.YEAR, year),)
    if day is None:
        return (_window(calendar, Period.MONTH, f"{year}-{month}"),)
    if hour is None:
        return (_window(calendar, Period.DAY, f"{year}-{month}-{day}"),)
    if minute is not None:
        return (_window(calendar, Period.FIVE_MINUTES, f"{year}-{month}-{day}T{hour}:{minute}"),)
    return hours_of(f"{year}-{month}-{day}", hour, calendar)


def hours_of(day: str, hour: str, calendar: Calendar) -> tuple[Stretch, ...]:
    """The ranges of a day that the local clock shows as this hour. Raises ParseError."""
    if not re.fullmatch(r"[01]\d|2[0-3]", hour, re.ASCII):
        raise ParseError("this is not an hour", expected="00 to 23", found=quote_value(hour))
    days, hours = calendar.grid(Period.DAY), calendar.grid(Period.HOUR)
    numbers = mapping_between(Offset.of_counts([int(hour)]), (calendar, Period.DAY), hours).expand(days.ordinal(day))
    return tuple((hours.start(number), hours.start(number + 1)) for number in numbers)


def _window(calendar: Calendar, period: Period, key: str) -> Stretch:
    grid = calendar.grid(period)
    ordinal = grid.ordinal(key)
    return grid.start(ordinal), grid.start(ordinal + 1)
