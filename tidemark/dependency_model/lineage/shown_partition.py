"""The values of declared partition columns on a box of slices: `ds` as text, as a number, or in several keys.

For several slices it is a range that contains the value of each; for a single slice it is exact.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.functions.calendar_arithmetic import date_of
from tidemark.dependency_model.lineage.value_range import Range, Special, Type, Value, point
from tidemark.dependency_model.time.date_grid import day_of
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.time.partition_columns import PartitionColumn

_LEAST: Final = ("", "01", "01", "00", "00")
_GREATEST: Final = ("9999", "12", "31", "23", "59")
_DATE_UNITS: Final = 3
"""Year, month and day come before hour and minute."""
_TYPES: Final = {"date": Type.DATE, "string": Type.STRING, "int": Type.NUMBER}
_AFTER_ALL: Final = "~"
"""Greater than the greatest hour, which may have an offset: `23+01:00`."""


def shown_values(columns: Sequence[PartitionColumn], box: Sequence[Value]) -> tuple[Value, ...]:
    """The values of columns on a box of days, hours and minutes."""
    return tuple(_shown(column, box) for column in columns)


def day_shown(column: PartitionColumn, type_: Type, value: object) -> int:
    """The day, since 1970, on which a column with the whole date has a value. Raises LookupError."""
    if type_ is not _TYPES[column.type]:
        raise LookupError
    if isinstance(value, int) and column.type == "date":
        return value
    text = str(value)
    if column.pattern not in ("yyyyMMdd", "yyyy-MM-dd") or len(text) != len(column.pattern):
        raise LookupError
    try:
        return day_of(text if "-" in text else f"{text[:4]}-{text[4:6]}-{text[6:]}")
    except ParseError as error:
        raise LookupError from error


def _shown(column: PartitionColumn, box: Sequence[Value]) -> Value:
    days, *clock = box
    if column.type == "date" or not isinstance(days, Range):
        return days
    if column.pattern in ("HH", "mm") and column.type == "string":
        return clock[0 if column.pattern == "HH" else 1]
    if "HH" not in column.units and "mm" not in column.units:
        clock = []
    if days.is_point and all(isinstance(value, Range) and value.is_point for value in clock):
        low = column.value(date_of(days.low), *(value.low for value in clock if isinstance(value, Range)))
        return point(Type.STRING if isinstance(low, str) else Type.NUMBER, low)
    return _between(column, days, clock)


def _between(column: PartitionColumn, days: Range, clock: Sequence[Value]) -> Value:
    if any(not isinstance(value, Range) for value in clock):
        return Special.UNKNOWN
    rises = column.units[0] == "yyyy"
    low, high = _ends(days, [value for value in clock if isinstance(value, Range)], rises=rises)
    if column.type == "string":
        return Range(Type.STRING, column.text(low), column.text(high) + (_AFTER_ALL if "HH" in column.units else ""))
    return Range(Type.NUMBER, int(column.text(low)), int(column.text(high)))


def _ends(days: Range, clock: Sequence[Range], *, rises: bool) -> tuple[Sequence[str], Sequence[str]]:
    """The least and the greatest value of each unit; after a unit that differs, its whole range.

    A column that `rises` with the days begins with the year: its ends are the first and the last day themselves.
    """
    firsts = (*_date_units(days.low), *_clock_units([value.low for value in clock]))
    lasts = (*_date_units(days.high), *_clock_units([value.high for value in clock]))
    low: list[str] = []
    high: list[str] = []
    same = True
    for at, (first, last) in enumerate(zip(firsts, lasts, strict=True)):
        is_exact = same or (rises and at < _DATE_UNITS)
        low.append(first if is_exact and first else _LEAST[at])
        high.append(min(last, _GREATEST[at]) if is_exact and last else _GREATEST[at])
        same = same and first == last
    return low, high


@lru_cache(maxsize=8192)
def _date_units(day: int) -> tuple[str, str, str]:
    moment = date_of(day)
    return f"{moment.year:04}", f"{moment.month:02}", f"{moment.day:02}"


def _clock_units(clock: Sequence[str]) -> tuple[str, str]:
    hour, minute = (*clock, "", "")[:2]
    return hour[:2], minute[:2]
