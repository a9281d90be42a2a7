"""Moves dates by units of the calendar."""

from __future__ import annotations

from calendar import monthrange
from datetime import date
from typing import Final

from tidemark.dependency_model.time.period import Period
from tidemark.dependency_model.time.zone import EPOCH_ORDINAL

_DAYS: Final = {Period.DAY: 1, Period.WEEK: 7}
_MONTHS: Final = {Period.MONTH: 1, Period.QUARTER: 3, Period.YEAR: 12}


def shift_day(day: int, unit: Period, count: int) -> int:
    """A day since 1970-01-01, moved by a count of days, weeks, months, quarters or years.

    In a shorter month it is the last day, as in Spark's `add_months`: a year before 2024-02-29 is 2023-02-28. Raises
    ValueError and OverflowError past the calendar's ends.
    """
    days = _DAYS.get(unit)
    if days is not None:
        return day + days * count
    as_date = date.fromordinal(day + EPOCH_ORDINAL)
    year, month = divmod(as_date.year * 12 + as_date.month - 1 + _MONTHS[unit] * count, 12)
    last = monthrange(year, month + 1)[1]
    return date(year, month + 1, min(as_date.day, last)).toordinal() - EPOCH_ORDINAL


def months_between(day: int, other: int) -> int:
    """The number of months from the month of `day` to the month of `other`."""
    first, second = date.fromordinal(day + EPOCH_ORDINAL), date.fromordinal(other + EPOCH_ORDINAL)
    return (second.year - first.year) * 12 + second.month - first.month
