"""Functions on instants: texts with a pattern, seconds since 1970, time between two instants."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.clock_span import MICROS, ClockSpan
from tidemark.dependency_model.lineage.functions.calendar_arithmetic import date_of
from tidemark.dependency_model.lineage.functions.formats import (
    date_prefix,
    is_ordered,
    parse_day,
    parse_instant,
    print_instant,
)
from tidemark.dependency_model.lineage.type_conversion import Conversion, days
from tidemark.dependency_model.lineage.value_range import (
    Range,
    Special,
    Type,
    Value,
    monotone,
    point,
    pointwise,
    spanning,
)
from tidemark.dependency_model.time.zone import DAY_SECONDS, Zone
from tidemark.errors import CalendarError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.dependency_model.lineage.functions.signature import Function

_DAY_MICROS: Final = DAY_SECONDS * MICROS
LENGTHS: Final = {
    "WEEK": 7 * _DAY_MICROS,
    "DAY": _DAY_MICROS,
    "HOUR": 3600 * MICROS,
    "MINUTE": 60 * MICROS,
    "SECOND": MICROS,
}
_MONTHS: Final = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


def to_timestamp(conversion: Conversion, value: Value, form: Value | None = None) -> Value:
    """`to_timestamp(x)`; with a pattern, for a text."""
    if form is None or (isinstance(value, Range) and value.type is not Type.STRING):
        return conversion.cast(value, Type.TIMESTAMP)
    if not isinstance(value, Range) or not isinstance(form, Range) or not form.is_point:
        return pointwise(lambda *_: Special.UNKNOWN, value, form)
    if not value.is_point:
        return _between_texts(conversion, value, form.low)
    return pointwise(lambda text: _instant(conversion, text.low, form.low), value)


def _instant(conversion: Conversion, text: str, form: str) -> Value:
    day, second = parse_instant(text, form)
    return point(Type.TIMESTAMP, conversion.instant(day, second * MICROS))


def _between_texts(conversion: Conversion, texts: Range, form: str) -> Value:
    """The instants between texts that begin with dates:

    instants of those dates, or exact ones on a clock without changes.
    """
    if is_ordered(form) and (texts.is_shaped or not conversion.zone.unsettled_days):
        with suppress(ValueError):
            ends = [parse_instant(text, form) for text in (texts.low, texts.high)]
            return conversion.instants(ClockSpan(*(day * _DAY_MICROS + second * MICROS for day, second in ends)))
    prefix = date_prefix(form)
    if prefix is None:
        return Special.IMPRECISE
    length = len(print_instant(0, 0, prefix))
    try:
        first, last = (parse_day(text[:length], prefix) for text in (texts.low, texts.high))
    except (ValueError, OverflowError):
        return Special.IMPRECISE
    midnight = conversion.zone.midnight
    return Range(Type.TIMESTAMP, midnight(first - 1) * MICROS, midnight(last + 2) * MICROS)


def unix_seconds(conversion: Conversion, value: Value, form: Value | None = None) -> Value:
    """`unix_timestamp(x, pattern)`: whole seconds since 1970, in UTC."""
    instant = to_timestamp(conversion, value, form)
    return monotone(lambda moment: point(Type.NUMBER, moment.low // MICROS), instant)


def from_unix_seconds(conversion: Conversion, value: Value, form: Value) -> Value:
    """`from_unixtime(seconds, pattern)`: the text that the session's clock shows."""

    def shown(seconds: Range, pattern: Range) -> Value:
        day, micros = conversion.local(int(seconds.low) * MICROS)
        return point(Type.STRING, print_instant(day, micros // MICROS, pattern.low))

    return pointwise(shown, conversion.cast(value, Type.NUMBER), form)


def timestamp_of_seconds(conversion: Conversion, value: Value) -> Value:
    """`timestamp_seconds(seconds)`."""
    seconds = conversion.cast(value, Type.NUMBER)
    return monotone(lambda number: point(Type.TIMESTAMP, int(number.low * MICROS)), seconds)


def from_utc_timestamp(conversion: Conversion, value: Value, zone: Value) -> Value:
    """`from_utc_timestamp(x, 'Asia/Shanghai')`: the instant at which UTC's clock shows what the zone's shows at x."""

    def shown(instants: Range, name: Range) -> Value:
        if instants.is_point:
            offset = _zone(name.low).offset_at(instants.low // MICROS)
            return point(Type.TIMESTAMP, instants.low + offset * MICROS)
        offsets = _offsets_around(_zone(name.low), instants)
        return Range(Type.TIMESTAMP, instants.low + min(offsets) * MICROS, instants.high + max(offsets) * MICROS)

    return spanning(shown, conversion.cast(value, Type.TIMESTAMP), zone)


def to_utc_timestamp(conversion: Conversion, value: Value, zone: Value) -> Value:
    """`to_utc_timestamp(x, 'Asia/Shanghai')`: the instant at which the zone's clock shows what UTC's shows at x."""

    def meant(instants: Range, name: Range) -> Value:
        if instants.is_point:
            offset = _zone(name.low).offset_before(instants.low // MICROS)
            return point(Type.TIMESTAMP, instants.low - offset * MICROS)
        offsets = _offsets_around(_zone(name.low), instants)
        return Range(Type.TIMESTAMP, instants.low - max(offsets) * MICROS, instants.high - min(offsets) * MICROS)

    return spanning(meant, conversion.cast(value, Type.TIMESTAMP), zone)


def _offsets_around(zone: Zone, instants: Range) -> tuple[int, ...]:
    """A zone's offsets to UTC, in seconds, from two days before a range of instants to two days after it."""
    first, last = instants.low // MICROS - 2 * DAY_SECONDS, instants.high // MICROS + 2 * DAY_SECONDS
    return zone.offsets_within(first, last)


def _zone(name: str) -> Zone:
    """A zone by its name. Raises ValueError for an unknown name."""
    try:
        return Zone.load(name)
    except CalendarError as error:
        raise ValueError(name) from error


def make_timestamp(conversion: Conversion, *parts: Value) -> Value:
    """`make_timestamp(year, month, day, hour, minute, second)` on the session's clock."""

    def made(*ranges: Range) -> Value:
        year, month, day, hour, minute, second = (range_.low for range_ in ranges)
        if not (0 <= hour < 24 and 0 <= minute < 60 and 0 <= second < 60):
            return Special.UNKNOWN
        micros = (int(hour) * 3600 + int(minute) * 60) * MICROS + int(second * MICROS)
        return point(
            Type.TIMESTAMP, conversion.instant(days(date_of(0).replace(int(year), int(month), int(day))), micros)
        )

    return (
        pointwise(made, *(conversion.cast(part, Type.NUMBER) for part in parts)) if len(parts) == 6 else Special.UNKNOWN
    )


def whole_units_between(conversion: Conversion, unit: Value, start: Value, end: Value) -> Value:
    """`timestampdiff(UNIT, start, end)` of weeks and shorter units, on the session's clock."""
    return _passed(conversion, lambda first, last, name: _whole(last - first, LENGTHS[name]), unit, start, end)


def whole_months_between(conversion: Conversion, unit: Value, start: Value, end: Value) -> Value:
    """`timestampdiff(UNIT, start, end)` of months, quarters and years: whole ones, as Java's calendar counts."""

    def passed(first: int, last: int, name: str) -> int:
        (first_day, first_micros), (last_day, last_micros) = divmod(first, _DAY_MICROS), divmod(last, _DAY_MICROS)
        if last_day > first_day and last_micros < first_micros:
            last_day -= 1
        elif last_day < first_day and last_micros > first_micros:
            last_day += 1
        return _whole(_whole(_month_days(last_day) - _month_days(first_day), 32), _MONTHS[name])

    return _passed(conversion, passed, unit, start, end)


def _passed(
    conversion: Conversion, count: Callable[[int, int, str], int], unit: Value, start: Value, end: Value
) -> Value:
    """Applies a count that rises with the end and falls with the start: microseconds of the session's clock."""

    def passed(first: Range, last: Range, name: Range) -> Value:
        fewest = count(_shown(conversion, first.high), _shown(conversion, last.low), name.low)
        return Range(Type.NUMBER, fewest, count(_shown(conversion, first.low), _shown(conversion, last.high), name.low))

    first, last = (conversion.cast(instant, Type.TIMESTAMP) for instant in (start, end))
    if isinstance(first, Range) and isinstance(last, Range) and isinstance(unit, Range):
        return passed(first, last, unit)
    return pointwise(passed, first, last, unit)


def _shown(conversion: Conversion, instant: int) -> int:
    day, micros = conversion.local(instant)
    return day * _DAY_MICROS + micros


def _month_days(day: int) -> int:
    """Months and days in one number, with 32 days a month, as Java's calendar counts whole months."""
    as_date = date_of(day)
    return (as_date.year * 12 + as_date.month) * 32 + as_date.day


def _whole(count: int, length: int) -> int:
    """The number of whole lengths, rounded towards zero."""
    return abs(count) // length * (1 if count >= 0 else -1)


INSTANTS: dict[str, Function] = {
    "to_timestamp": to_timestamp,
    "unix_timestamp": unix_seconds,
    "from_unixtime": from_unix_seconds,
    "timestamp_seconds": timestamp_of_seconds,
    "make_timestamp": make_timestamp,
    "from_utc_timestamp": from_utc_timestamp,
    "to_utc_timestamp": to_utc_timestamp,
    "whole_units_between": whole_units_between,
    "whole_months_between": whole_months_between,
}
