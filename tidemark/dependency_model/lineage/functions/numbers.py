"""Arithmetic. Numbers are whole or exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage import three_valued_logic as logic
from tidemark.dependency_model.lineage.functions.dates import add_days, add_interval, is_interval, subtract
from tidemark.dependency_model.lineage.value_range import (
    Range,
    Special,
    Type,
    Value,
    falling,
    monotone,
    point,
    pointwise,
)
from tidemark.dependency_model.time.zone import DAY_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.dependency_model.lineage.functions.signature import Function
    from tidemark.dependency_model.lineage.type_conversion import Conversion

_MOMENTS = (Type.DATE, Type.TIMESTAMP)
WHOLE_CASTS: Final = {"cast_to_tinyint": 8, "cast_to_smallint": 16, "cast_to_int": 32, "cast_to_bigint": 64}
"""Casts to whole numbers, with their bits."""


def _plus(conversion: Conversion, left: Value, right: Value) -> Value:
    left, right = (right, left) if _is_step(left) and _is_moment(right) else (left, right)
    if is_interval(right):
        return add_interval(conversion, left, right)
    if _is_moment(left):
        return add_days(conversion, left, right)
    return _of_ends(conversion, left, right, lambda first, other: first + other)


def _minus(conversion: Conversion, left: Value, right: Value) -> Value:
    if _is_moment(left) or is_interval(right):
        return subtract(conversion, left, right)
    return _of_ends(conversion, left, right, lambda first, other: first - other)


def _is_moment(value: Value) -> bool:
    return isinstance(value, Range) and value.type in _MOMENTS


def _is_step(value: Value) -> bool:
    return is_interval(value) or (isinstance(value, Range) and value.type is Type.NUMBER)


def _arithmetic(
    conversion: Conversion, left: Value, right: Value, compute: Callable[[Fraction, Fraction], object]
) -> Value:
    def computed(first: Range, other: Range) -> Value:
        return point(Type.NUMBER, compute(Fraction(first.low), Fraction(other.low)))

    return pointwise(computed, conversion.cast(left, Type.NUMBER), conversion.cast(right, Type.NUMBER))


def _of_ends(
    conversion: Conversion,
    left: Value,
    right: Value,
    compute: Callable[[Fraction | int, Fraction | int], Fraction | int],
) -> Value:
    """A sum, difference or product. Over ranges, it lies between the results of their ends."""
    first, other = conversion.cast(left, Type.NUMBER), conversion.cast(right, Type.NUMBER)
    if not isinstance(first, Range) or not isinstance(other, Range) or not first.type is other.type is Type.NUMBER:
        return _arithmetic(conversion, first, other, compute)
    if first.is_point and other.is_point:
        return point(Type.NUMBER, compute(first.low, other.low))
    corners = [
        compute(left_end, right_end) for left_end in (first.low, first.high) for right_end in (other.low, other.high)
    ]
    return Range(Type.NUMBER, min(corners), max(corners))


def _operator(compute: Callable[[Fraction, Fraction], object]) -> Function:
    return lambda conversion, left, right: _arithmetic(conversion, left, right, compute)


def _rising(compute: Callable[[Fraction], object]) -> Function:
    """A function of one number that never falls."""

    def function(conversion: Conversion, value: Value) -> Value:
        return monotone(
            lambda number: point(Type.NUMBER, compute(Fraction(number.low))), conversion.cast(value, Type.NUMBER)
        )

    return function


def _divided(compute: Callable[[Fraction, Fraction], Fraction | int]) -> Function:
    """A quotient. With one divisor other than 0, it lies between the quotients of the ends."""

    def function(conversion: Conversion, left: Value, right: Value) -> Value:
        divisor = conversion.cast(right, Type.NUMBER)
        if isinstance(divisor, Range) and divisor.is_point and divisor.low:
            return _of_ends(conversion, left, divisor, lambda first, other: compute(Fraction(first), Fraction(other)))
        return _arithmetic(conversion, left, right, compute)

    return function


def _absolute(conversion: Conversion, value: Value) -> Value:
    number = conversion.cast(value, Type.NUMBER)
    if not isinstance(number, Range) or number.is_point:
        return pointwise(lambda number: point(Type.NUMBER, abs(number.low)), number)
    ends = (abs(number.low), abs(number.high))
    return Range(Type.NUMBER, 0 if number.low < 0 < number.high else min(ends), max(ends))


def _negative(conversion: Conversion, value: Value) -> Value:
    return falling(lambda number: point(Type.NUMBER, -number.low), conversion.cast(value, Type.NUMBER))


def _remainder(left: Fraction, right: Fraction) -> Fraction:
    """Spark's `%`: it has the sign of the left side."""
    return abs(left) % abs(right) * (-1 if left < 0 else 1)


def _positive_remainder(left: Fraction, right: Fraction) -> Fraction:
    """Spark's `pmod`: negative only if the right side is."""
    remainder = _remainder(left, right)
    return _remainder(remainder + right, right) if remainder < 0 else remainder


def _times(conversion: Conversion, left: Value, right: Value) -> Value:
    """A product of numbers, or of an interval and a number."""
    left, right = (right, left) if is_interval(right) else (left, right)
    if not is_interval(left):
        return _of_ends(conversion, left, right, lambda first, other: first * other)

    def repeated(interval: Range, count: Range) -> Value:
        parts = [Fraction(count.low) * part for part in interval.low]
        if any(part.denominator != 1 for part in parts):
            return Special.UNKNOWN
        return point(Type.INTERVAL if interval.low[0] else Type.DURATION, tuple(int(part) for part in parts))

    return pointwise(repeated, left, conversion.cast(right, Type.NUMBER))


def _cast_to(bits: int) -> Function:
    """A cast to a signed number of `bits` bits. Spark raises an error for a greater number (CAST_OVERFLOW)."""
    bound = 1 << (bits - 1)

    def whole(number: Range) -> Value:
        cut = int(number.low)
        return point(Type.NUMBER, cut) if -bound <= cut < bound else Special.UNKNOWN

    def function(conversion: Conversion, value: Value) -> Value:
        if isinstance(value, int):
            return _number_of_truth(value)
        return monotone(whole, conversion.cast(value, Type.NUMBER))

    return function


def _number_of_truth(truth: int) -> Value:
    """A condition as a number: 1 for true."""
    known: dict[int, Value] = {
        logic.TRUE: point(Type.NUMBER, 1),
        logic.FALSE: point(Type.NUMBER, 0),
        logic.NULL: Special.NULL,
    }
    return known.get(truth, Special.UNKNOWN if logic.must_be_read(truth) else Special.IMPRECISE)


def _interval(_: Conversion, *parts: Value) -> Value:
    """`make_interval(years, months, weeks, days, hours, minutes, seconds)`."""

    def made(*ranges: Range) -> Value:
        years, months, weeks, days, hours, minutes, seconds = [
            *(int(range_.low) for range_ in ranges),
            *[0] * (7 - len(ranges)),
        ]
        whole, elapsed = (weeks * 7 + days) * DAY_SECONDS, (hours * 60 + minutes) * 60 + seconds
        if abs(elapsed) >= DAY_SECONDS or whole * elapsed < 0:  # days follow the clock, hours do not
            return Special.UNKNOWN
        return point(Type.INTERVAL, (years * 12 + months, (whole + elapsed) * 1_000_000))

    return pointwise(made, *parts) if parts else Special.UNKNOWN


NUMBERS: dict[str, Function] = {
    "+": _plus,
    "-": _minus,
    "*": _times,
    "/": _divided(lambda first, other: first / other),
    "div": _divided(lambda first, other: int(first / other)),
    "%": _operator(_remainder),
    "pmod": _operator(_positive_remainder),
    "negative": _negative,
    "abs": _absolute,
    "floor": _rising(floor),
    "ceil": _rising(ceil),
    **{name: _cast_to(bits) for name, bits in WHOLE_CASTS.items()},
    "make_interval": _interval,
}
