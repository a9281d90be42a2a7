"""Casts between dates, timestamps, texts and numbers, as Spark makes them in a session with a time zone."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.clock_span import (
    DAY_MICROS,
    MICROS,
    ClockSpan,
    instant_of,
    instants_of,
    pieces_near_ends,
    shown,
)
from tidemark.dependency_model.lineage.value_range import (
    Range,
    Special,
    Type,
    Value,
    exact_number,
    hull,
    monotone,
    point,
    pointwise,
)
from tidemark.dependency_model.time.zone import EPOCH_ORDINAL

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.dependency_model.time.zone import Zone

_IN_ALL_MONTHS: Final = 29
"""The first day of a month that some months lack."""
_DATE = re.compile(r"\s*(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?\s*", re.ASCII)
_TIME = re.compile(
    r"\s*(\d{4}-\d{1,2}-\d{1,2})(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6}))?)?)?"
    r"\s*(Z|UTC|[+-]\d{1,2}:?\d{2})?\s*",
    re.ASCII,
)

_SHAPED_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?", re.ASCII)


class Conversion:
    """Casts in a session whose local clock is `zone`."""

    def __init__(self, zone: Zone) -> None:
        self.zone = zone
        self._casts: dict[tuple[Type, Type], Callable[[Range], Value]] = {
            (Type.DATE, Type.TIMESTAMP): self._midnight,
            (Type.TIMESTAMP, Type.DATE): self._local_date,
            (Type.TIMESTAMP, Type.STRING): lambda value: point(Type.STRING, self.local_text(value.low)),
            (Type.STRING, Type.DATE): _text_to_date,
            (Type.STRING, Type.TIMESTAMP): self._text_to_timestamp,
            (Type.NUMBER, Type.STRING): _number_to_text,
            (Type.STRING, Type.NUMBER): lambda value: exact_number(value.low),
            (Type.TIMESTAMP, Type.NUMBER): lambda value: point(Type.NUMBER, value.low // MICROS),
            (Type.INTERVAL, Type.DURATION): lambda value: point(Type.DURATION, value.low),
        }

    def cast(self, value: Value, target: Type) -> Value:
        """The value as another type; unknown if Spark would fail or the cast is not supported."""
        if not isinstance(value, Range) or value.type is target:
            return value
        if value.type is Type.DATE and target is Type.STRING:
            return _dates_as_texts(value)
        convert = self._casts.get((value.type, target))
        if convert is None:
            return Special.UNKNOWN
        if value.type is Type.STRING and not value.is_point and target in (Type.DATE, Type.TIMESTAMP):
            return self._between_texts(value, target)
        if value.type is Type.TIMESTAMP and target is not Type.NUMBER:
            return self.by_clock(convert, value)
        if value.type is Type.NUMBER:
            ordered = target is not Type.STRING or _have_as_many_digits(value)
        else:
            is_digits = value.type is Type.STRING and value.is_shaped and value.low.isdecimal()
            ordered = is_digits or (value.type, target) != (Type.STRING, Type.NUMBER)
        return (monotone if ordered else pointwise)(convert, value)

    def by_clock(self, compute: Callable[..., Value], first: Value, *others: Value) -> Value:
        """Applies a function that never falls while the session's clock goes on, to the clock time of instants."""
        if not isinstance(first, Range) or first.type is not Type.TIMESTAMP or first.is_point:
            return monotone(compute, first, *others)
        spans = pieces_near_ends(self.zone, ClockSpan(first.low, first.high))
        return hull(monotone(compute, Range(Type.TIMESTAMP, *span), *others) for span in spans)

    def local(self, micros: int) -> tuple[int, int]:
        """The day since 1970 and the microsecond of the day on the session's clock."""
        return divmod(shown(self.zone, micros), DAY_MICROS)

    def instant(self, day: int, micros: int) -> int:
        """The first instant of a time on the session's clock; in a gap, later by the length of the gap."""
        return instant_of(self.zone, day * DAY_MICROS + micros)

    def instants(self, readings: ClockSpan) -> Range:
        """All instants of a range of times on the session's clock."""
        return Range(Type.TIMESTAMP, *instants_of(self.zone, readings))

    def local_text(self, micros: int) -> str:
        """A timestamp as Spark prints it."""
        day, rest = self.local(micros)
        seconds, fraction = divmod(rest, MICROS)
        text = f"{iso_date(day)} {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        return f"{text}.{fraction:06}".rstrip("0") if fraction else text

    def _midnight(self, value: Range) -> Value:
        return point(Type.TIMESTAMP, self.zone.midnight(value.low) * MICROS)

    def _local_date(self, value: Range) -> Value:
        return point(Type.DATE, self.local(value.low)[0])

    def _text_to_timestamp(self, value: Range) -> Value:
        read = _reading(value.low)
        if read is None:
            return Special.UNKNOWN
        reading, offset = read
        return point(Type.TIMESTAMP, instant_of(self.zone, reading) if offset is None else reading - offset)

    def _between_texts(self, value: Range, target: Type) -> Value:
        """The dates between texts that begin with dates, or the instants of those dates."""
        if target is Type.DATE:
            return dates_between(value, _text_to_date)
        low, high = _DATE.match(value.low[:10]), _DATE.match(value.high[:10])
        if not low or not high or len(value.low) < 10 or len(value.high) < 10:
            return Special.IMPRECISE
        dates = dates_between(Range(Type.STRING, value.low[:10], value.high[:10]), _text_to_date)
        if not isinstance(dates, Range):
            return Special.IMPRECISE
        if value.is_shaped and (readings := _readings(value)):
            return self.instants(readings)
        start, end = self.zone.midnight(dates.low - 1) * MICROS, self.zone.midnight(dates.high + 2) * MICROS
        return Range(Type.TIMESTAMP, start, end)


def dates_between(texts: Range, read: Callable[[Range], Value]) -> Value:
    """The dates between two texts; IMPRECISE if both are the same 29th, 30th or 31st: a text between may be invalid."""
    dates = monotone(read, texts)
    if texts.is_point or not isinstance(dates, Range):
        return dates
    first, last = (date.fromordinal(day + EPOCH_ORDINAL).day for day in (dates.low, dates.high))
    return Special.IMPRECISE if first == last >= _IN_ALL_MONTHS else dates


def iso_date(day: int) -> str:
    """A day since 1970 as text."""
    return date.fromordinal(day + EPOCH_ORDINAL).isoformat()


def days(day: date) -> int:
    """A date as days since 1970."""
    return day.toordinal() - EPOCH_ORDINAL


def _dates_as_texts(dates: Range) -> Value:
    texts = monotone(lambda value: point(Type.STRING, iso_date(value.low)), dates)
    return texts._replace(is_shaped=True) if isinstance(texts, Range) else texts


def _text_to_date(value: Range) -> Range:
    match = _DATE.fullmatch(value.low)
    if match is None:
        raise ValueError(value.low)
    return point(Type.DATE, days(date(int(match[1]), int(match[2] or 1), int(match[3] or 1))))


def _reading(text: str) -> tuple[int, int | None] | None:
    """The clock time of a text and its offset to UTC, in microseconds. Raises ValueError."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    hour, minute, second = (int(match[index] or 0) for index in (2, 3, 4))
    if hour > 23 or minute > 59 or second > 59:
        return None
    micros = (hour * 3600 + minute * 60 + second) * MICROS + int((match[5] or "0").ljust(6, "0"))
    day = _text_to_date(point(Type.STRING, match[1])).low
    return day * DAY_MICROS + micros, _offset(match[6]) if match[6] else None


def _readings(texts: Range) -> ClockSpan | None:
    """The clock times of texts of one shape without an offset; None for another shape."""
    if not _SHAPED_TIME.fullmatch(texts.low):
        return None
    ends = _reading(texts.low), _reading(texts.high)
    if ends[0] is None or ends[1] is None:
        return None
    return ClockSpan(ends[0][0], ends[1][0])


def _number_to_text(value: Range) -> Value:
    return point(Type.STRING, str(int(value.low))) if value.low == int(value.low) else Special.UNKNOWN


def _have_as_many_digits(value: Range) -> bool:
    """Whether the texts of numbers have the order of the numbers, as 20260329 does."""
    return bool(value.low >= 0) and len(str(int(value.low))) == len(str(int(value.high)))


def _offset(text: str) -> int:
    """Microseconds east of UTC."""
    if text in ("Z", "UTC"):
        return 0
    sign, digits = (-1 if text[0] == "-" else 1), text[1:].replace(":", "")
    return sign * (int(digits[:-2]) * 3600 + int(digits[-2:]) * 60) * MICROS
