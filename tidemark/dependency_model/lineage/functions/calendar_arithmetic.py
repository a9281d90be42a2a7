"""Steps of the calendar on days since 1970: start of a unit, months later, last day."""

from __future__ import annotations

from calendar import monthrange
from datetime import date
from typing import Final

from tidemark.dependency_model.lineage.type_conversion import days
from tidemark.dependency_model.time.date_shift import shift_day
from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.zone import EPOCH_ORDINAL

_STEPS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
STEP_UNITS: Final = {name.upper(): name for name in _STEPS}
"""Units of `timestampadd`, `dateadd` and `timestampdiff` in Spark: words without quotes."""
INTERVAL_UNITS: Final = {
    word: name for name in _STEPS if name != "quarter" for word in (name.upper(), f"{name.upper()}S")
}
"""Units of an INTERVAL, where Spark has no quarter."""
DATE_UNITS: Final = {
    **dict.fromkeys(("YEAR", "YYYY", "YY"), "year"),
    "QUARTER": "quarter",
    **dict.fromkeys(("MONTH", "MM", "MON"), "month"),
    "WEEK": "week",
}
"""Units of `trunc`; with another one the result is NULL."""
INSTANT_UNITS: Final = {
    **DATE_UNITS,
    **dict.fromkeys(("DAY", "DD"), "day"),
    "HOUR": "hour",
    "MINUTE": "minute",
    "SECOND": "second",
}
"""Units of `date_trunc`; with another one, except milliseconds and microseconds, the result is NULL."""
_NAMES = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
WEEKDAYS: Final = {name[:length]: number for number, name in enumerate(_NAMES) for length in (2, 3, len(name))}
"""Names of days in `next_day`, from 0 for Monday."""


def date_of(day: int) -> date:
    """The date of a day since 1970. Raises OverflowError and ValueError past the calendar's ends."""
    return date.fromordinal(day + EPOCH_ORDINAL)


def first_day(day: int, unit: str) -> int:
    """The first day of the unit that contains a day; weeks begin on Monday, as in Spark."""
    as_date = date_of(day)
    match unit:
        case "year":
            return days(as_date.replace(month=1, day=1))
        case "quarter":
            return days(as_date.replace(month=(as_date.month - 1) // 3 * 3 + 1, day=1))
        case "month":
            return days(as_date.replace(day=1))
        case "week":
            return day - as_date.weekday()
        case "day":
            return day
    raise ValueError(unit)


def months_on(day: int, months: int) -> int:
    """The day `months` months later; in a shorter month, its last day."""
    return shift_day(day, Period.MONTH, months)


def last_day(day: int) -> int:
    """The last day of the month."""
    as_date = date_of(day)
    return days(as_date.replace(day=monthrange(as_date.year, as_date.month)[1]))
