"""Functions on dates and timestamps. The fields of a timestamp are on the session's clock."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, TypeGuard

from tidemark.dependency_model.lineage.clock_span import DAY_MICROS, MICROS, ClockSpan, moved
from tidemark.dependency_model.lineage.functions.calendar_arithmetic import (
    DATE_UNITS,
    INSTANT_UNITS,
    STEP_UNITS,
    WEEKDAYS,
    date_of,
    first_day,
    last_day,
    months_on,
)
from tidemark.dependency_model.lineage.functions.formats import FORMATS, is_ordered, parse_day, print_instant
from tidemark.dependency_model.lineage.type_conversion import Conversion, dates_between, days
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
from tidemark.dependency_model.time.zone import DAY_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tidemark.dependency_model.lineage.functions.signature import Function

_SECONDS = {"week": 7 * DAY_SECONDS, "day": DAY_SECONDS, "hour": 3600, "minute": 60, "second": 1}
_ELAPSED = ("hour", "minute", "second")
"""Units that `dateadd` counts as elapsed time; an interval's whole days follow the clock instead."""
_MONTHS = {"year": 12, "quarter": 3, "month": 1}


def to_date(conversion: Conversion, value: Value, form: Value | None = None) -> Value:
    """`to_date(x)` and `CAST(x AS DATE)`; with a format, for a text."""
    if form is None or (isinstance(value, Range) and value.type is not Type.STRING):
        return conversion.cast(value, Type.DATE)
    if not isinstance(value, Range) or not isinstance(form, Range) or not form.is_point:
        return pointwise(lambda *_: Special.UNKNOWN, value, form)
    return dates_between(value, lambda text: point(Type.DATE, parse_day(text.low, form.low)))


def add_days(conversion: Conversion, start: Value, count: Value) -> Value:
    """`date_add(start, count)`."""
    day, shift = to_date(conversion, start), conversion.cast(count, Type.NUMBER)
    if isinstance(day, Range) and isinstance(shift, Range):
        return Range(Type.DATE, day.low + int(shift.low), day.high + int(shift.high))
    return pointwise(lambda origin, other: point(Type.DATE, origin.low + int(other.low)), day, shift)


def add_months(conversion: Conversion, start: Value, count: Value) -> Value:
    """`add_months(start, count)`."""
    return monotone(
        lambda day, months: point(Type.DATE, months_on(day.low, int(months.low))), to_date(conversion, start), count
    )


def add_unit(conversion: Conversion, start: Value, count: Value, unit: Value) -> Value:
    """`dateadd(UNIT, count, start)`: a date stays a date if the unit is a day or longer."""
    name = _unit(unit, STEP_UNITS)
    if name is None:
        return Special.UNKNOWN
    if not isinstance(count, Range) or count.type is not Type.NUMBER or not count.is_point:
        return pointwise(lambda *_: Special.UNKNOWN, start, count)
    months, seconds = _MONTHS.get(name, 0) * int(count.low), _SECONDS.get(name, 0) * int(count.low)
    if name in _ELAPSED and abs(seconds) >= DAY_SECONDS:
        return Special.UNKNOWN
    return add_interval(conversion, start, point(Type.INTERVAL, (months, seconds * MICROS)))


def add_interval(conversion: Conversion, start: Value, interval: Value) -> Value:
    """`start + INTERVAL ...`: whole days keep a date a date and follow the clock; the rest is elapsed time."""
    becomes_instant = isinstance(interval, Range) and interval.type is Type.DURATION
    if isinstance(start, Range) and (start.type is Type.STRING or becomes_instant):
        start = conversion.cast(start, Type.TIMESTAMP)
    return spanning(lambda value, step: _step(conversion, value, *step.low), start, interval)


def _step(conversion: Conversion, value: Range, months: int, micros: int) -> Value:
    if value.type is Type.DATE and micros % DAY_MICROS == 0:
        low, high = (months_on(day, months) + micros // DAY_MICROS for day in (value.low, value.high))
        return Range(Type.DATE, low, high)
    instants = conversion.cast(value, Type.TIMESTAMP)
    if not isinstance(instants, Range):
        return Special.UNKNOWN
    days_, elapsed = divmod(abs(micros), DAY_MICROS)
    sign, span = -1 if micros < 0 else 1, ClockSpan(instants.low, instants.high)
    if months:
        span = moved(conversion.zone, span, lambda day: months_on(day, months))
    if days_:
        span = moved(conversion.zone, span, lambda day: day + sign * days_)
    return Range(Type.TIMESTAMP, span.low + sign * elapsed, span.high + sign * elapsed)


def subtract(conversion: Conversion, left: Value, right: Value) -> Value:
    """`-` with a date or timestamp on the left."""
    if is_interval(right):
        low, high = ((-months, -micros) for months, micros in (right.high, right.low))
        return add_interval(conversion, left, Range(right.type, low, high))
    if isinstance(right, Range) and right.type is Type.NUMBER:
        return add_days(conversion, left, Range(Type.NUMBER, -right.high, -right.low))
    if isinstance(left, Range) and isinstance(right, Range):
        return _between(conversion, left, right)
    return pointwise(lambda end, start: _between(conversion, end, start), left, right)


def is_interval(value: Value) -> TypeGuard[Range]:
    """Whether it is an interval, of whole days or with parts of a day."""
    return isinstance(value, Range) and value.type in (Type.INTERVAL, Type.DURATION)


def _between(conversion: Conversion, end: Range, start: Range) -> Value:
    """The difference of two dates or instants; for instants, on the session's clock."""
    if not {end.type, start.type} <= {Type.DATE, Type.TIMESTAMP}:
        return Special.UNKNOWN
    kind = Type.INTERVAL if end.type is start.type is Type.DATE else Type.DURATION
    least = _shown(conversion, end.type, end.low) - _shown(conversion, start.type, start.high)
    return Range(
        kind, (0, least), (0, _shown(conversion, end.type, end.high) - _shown(conversion, start.type, start.low))
    )


def _shown(conversion: Conversion, kind: Type, moment: int) -> int:
    """Microseconds on the session's clock, with days counted from 1970."""
    day, micros = (moment, 0) if kind is Type.DATE else conversion.local(moment)
    return day * DAY_MICROS + micros


def days_between(conversion: Conversion, end: Value, start: Value) -> Value:
    """`datediff(end, start)`."""
    last, first = to_date(conversion, end), to_date(conversion, start)
    if isinstance(last, Range) and isinstance(first, Range):
        return Range(Type.NUMBER, last.low - first.high, last.high - first.low)
    return pointwise(lambda end, other: point(Type.NUMBER, end.low - other.low), last, first)


def truncate(conversion: Conversion, value: Value, unit: Value) -> Value:
    """`trunc(date, unit)`: a date."""
    name = _unit(unit, DATE_UNITS)
    if name is None:
        return Special.UNKNOWN
    return monotone(lambda day: point(Type.DATE, first_day(day.low, name)), to_date(conversion, value))


def truncate_timestamp(conversion: Conversion, value: Value, unit: Value) -> Value:
    """`date_trunc(unit, x)`: a timestamp."""
    name = _unit(unit, INSTANT_UNITS)
    if name is None:
        return Special.UNKNOWN
    instant = conversion.cast(value, Type.TIMESTAMP)
    return conversion.by_clock(lambda moment: _floor(conversion, moment.low, name), instant)


def _floor(conversion: Conversion, instant: int, unit: str) -> Value:
    day, rest = conversion.local(instant)
    if unit not in ("hour", "minute", "second"):
        return point(Type.TIMESTAMP, conversion.zone.midnight(first_day(day, unit)) * MICROS)
    return point(Type.TIMESTAMP, instant - rest % (_SECONDS[unit] * MICROS))


def month_end(conversion: Conversion, value: Value) -> Value:
    """`last_day(date)`."""
    return monotone(lambda day: point(Type.DATE, last_day(day.low)), to_date(conversion, value))


def next_weekday(conversion: Conversion, value: Value, name: Value) -> Value:
    """`next_day(date, 'MO')`: the first such day after the date."""

    def after(day: Range, wanted: Range) -> Value:
        number = WEEKDAYS.get(wanted.low.upper())
        if number is None:
            return Special.UNKNOWN
        return point(Type.DATE, day.low + 1 + (number - date_of(day.low + 1).weekday()) % 7)

    return monotone(after, to_date(conversion, value), name)


def date_text(conversion: Conversion, value: Value, form: Value) -> Value:
    """`date_format(x, form)`."""

    def shown(span: Range, pattern: Range) -> Value:
        day, micros = conversion.local(span.low) if span.type is Type.TIMESTAMP else (span.low, 0)
        return point(Type.STRING, print_instant(day, micros // MICROS, pattern.low))

    instant = (
        conversion.cast(value, Type.TIMESTAMP) if isinstance(value, Range) and value.type is Type.STRING else value
    )
    if isinstance(instant, Range) and instant.type not in (Type.DATE, Type.TIMESTAMP):
        return Special.UNKNOWN
    ordered = isinstance(form, Range) and form.is_point and form.low in FORMATS and is_ordered(form.low)
    return (conversion.by_clock if ordered else pointwise)(shown, instant, form)


def _field(read: Callable[[date], int], within: str = "", last: int = 0) -> Function:
    """A number of a date that rises within a unit and restarts in the next; `last` is the greatest."""

    def field(conversion: Conversion, value: Value) -> Value:
        day = to_date(conversion, value)
        if within and isinstance(day, Range) and not _is_within(day, within):
            return Range(Type.NUMBER, 0, last)
        return monotone(lambda span: point(Type.NUMBER, read(date_of(span.low))), day)

    return field


def _is_within(days_: Range, unit: str) -> bool:
    """Whether days are in one unit; `iso year` is the year of ISO weeks, which may begin in December."""
    try:
        if unit == "iso year":
            return date_of(days_.low).isocalendar().year == date_of(days_.high).isocalendar().year
        return first_day(days_.low, unit) == first_day(days_.high, unit)
    except (ValueError, OverflowError):
        return False


def _time_field(seconds: int, modulus: int) -> Function:
    """A number of a time of day."""

    def field(conversion: Conversion, value: Value) -> Value:
        def read(text: Range) -> Value:
            return point(Type.NUMBER, conversion.local(text.low)[1] // MICROS // seconds % modulus)

        return pointwise(read, conversion.cast(value, Type.TIMESTAMP))

    return field


def _made_date(_: Conversion, year: Value, month: Value, day: Value) -> Value:
    """`make_date(year, month, day)`; over several values, from the least to the greatest existing date."""
    parts = [part for part in (year, month, day) if isinstance(part, Range) and part.type is Type.NUMBER]
    if len(parts) == 3 and not all(part.is_point for part in parts):
        low = _nearest_date(*(int(part.low) for part in parts))
        high = _nearest_date(*(int(part.high) for part in parts))
        return Special.IMPRECISE if low is None or high is None else Range(Type.DATE, low, high)
    return pointwise(lambda *parts: point(Type.DATE, days(date(*(int(part.low) for part in parts)))), year, month, day)


def _nearest_date(year: int, month: int, day: int) -> int | None:
    """The day, since 1970, of a date whose month and day may be past their ends."""
    try:
        first = days(date(year, min(max(month, 1), 12), 1))
    except ValueError:
        return None
    return min(first + max(day, 1) - 1, last_day(first))


def _days_since_1970(conversion: Conversion, value: Value) -> Value:
    """`unix_date(date)`; it does not exist for an instant."""
    del conversion
    if isinstance(value, Range) and value.type is not Type.DATE:
        return Special.UNKNOWN
    return monotone(lambda day: point(Type.NUMBER, day.low), value)


def _from_days(_: Conversion, value: Value) -> Value:
    return monotone(lambda number: point(Type.DATE, int(number.low)), value)


def _unit(unit: Value, names: Mapping[str, str]) -> str | None:
    return names.get(unit.low.upper()) if isinstance(unit, Range) and unit.type is Type.STRING else None


DATES: dict[str, Function] = {
    "to_date": to_date,
    "date_add": add_days,
    "add_months": add_months,
    "add_unit": add_unit,
    "datediff": days_between,
    "trunc": truncate,
    "date_trunc": truncate_timestamp,
    "last_day": month_end,
    "next_day": next_weekday,
    "date_format": date_text,
    "year": _field(lambda day: day.year),
    "quarter": _field(lambda day: (day.month + 2) // 3, "year", 4),
    "month": _field(lambda day: day.month, "year", 12),
    "day": _field(lambda day: day.day, "month", 31),
    "dayofweek": _field(lambda day: day.isoweekday() % 7 + 1, "day", 7),
    "weekday": _field(lambda day: day.weekday(), "week", 6),
    "dayofyear": _field(lambda day: day.timetuple().tm_yday, "year", 366),
    "weekofyear": _field(lambda day: day.isocalendar().week, "iso year", 53),
    "yearofweek": _field(lambda day: day.isocalendar().year),
    "hour": _time_field(3600, 24),
    "minute": _time_field(60, 60),
    "make_date": _made_date,
    "unix_date": _days_since_1970,
    "date_from_unix_date": _from_days,
}
