"""Values of expressions over a box of slices: a range, NULL, or unknown.

A date is a number of days since 1970-01-01, a timestamp a number of microseconds since 1970-01-01T00:00Z, an interval
or duration a pair of months and microseconds. A boolean is a truth
(`tidemark.dependency_model.lineage.three_valued_logic`).
"""

from __future__ import annotations

import re
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tidemark.dependency_model.lineage import three_valued_logic as logic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Type(Enum):
    """Types that predicates on partition columns compare."""

    DATE = "date"
    TIMESTAMP = "timestamp"
    STRING = "string"
    NUMBER = "number"
    INTERVAL = "interval"
    DURATION = "duration"
    """An interval that may have parts of a day: a date plus a duration is an instant."""

    __hash__ = object.__hash__


class Range(NamedTuple):
    """All values from `low` to `high`; a single value if they are equal."""

    type: Type
    low: Any
    high: Any
    is_shaped: bool = False
    """Whether each text of the range has digits where `low` has digits, and else the same characters as `low`."""

    @property
    def is_point(self) -> bool:
        return bool(self.low == self.high)


class Special(Enum):
    """Values other than ranges."""

    NULL = "null"
    UNKNOWN = "unknown"
    """Only the data knows it, on each slice."""
    IMPRECISE = "imprecise"
    """Differs within the box in a way that a range cannot express; on a single slice it is known."""


_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
Value = Range | Special | int
"""An int is a truth value."""

_TRUTH_OF = {Special.NULL: logic.NULL, Special.UNKNOWN: logic.UNKNOWN, Special.IMPRECISE: logic.IMPRECISE}


def point(type_: Type, value: Any) -> Range:
    """The range of one value."""
    return Range(type_, value, value)


def exact_number(text: str) -> Range:
    """The range of one exact number; a whole one is an int, for speed. Raises ValueError."""
    if not _NUMBER.fullmatch(text.strip()):
        raise ValueError(text)  # `03/31`, which a Fraction reads as well
    exact = Fraction(text.strip())
    return point(Type.NUMBER, exact.numerator if exact.denominator == 1 else exact)


def truth_of(value: Value) -> int:
    """A value as a condition."""
    if isinstance(value, int):
        return value
    return _TRUTH_OF[value] if isinstance(value, Special) else logic.UNKNOWN


def special_of(*values: Value) -> Special | None:
    """NULL if a value is NULL, else IMPRECISE, else UNKNOWN; None without a special value."""
    special: Special | None = None
    for value in values:
        if isinstance(value, Special):
            if value is Special.NULL:
                return value
            if special is not Special.IMPRECISE:
                special = value
    return special


def pointwise(compute: Callable[..., Value], *values: Value) -> Value:
    """Applies a function of single values; over a box the result is imprecise."""
    special = special_of(*values)
    if special is not None:
        return special
    ranges = [value for value in values if isinstance(value, Range)]
    if len(ranges) < len(values):
        return Special.UNKNOWN
    if not all(range_.is_point for range_ in ranges):
        return Special.IMPRECISE
    return _computed(compute, *ranges)


def spanning(compute: Callable[..., Value], first: Value, *others: Value) -> Value:
    """Applies a function that accepts a range as its first argument."""
    if not isinstance(first, Range) or not all(isinstance(value, Range) and value.is_point for value in others):
        return pointwise(compute, first, *others)
    return _computed(compute, first, *others)


def hull(values: Iterable[Value]) -> Value:
    """The smallest range with all of these; IMPRECISE if there is none."""
    ranges = list(values)
    if len(ranges) == 1 or any(not isinstance(value, Range) for value in ranges):
        return ranges[0] if len(set(ranges)) == 1 else Special.IMPRECISE
    spans = [value for value in ranges if isinstance(value, Range)]
    if len({span.type for span in spans}) > 1:
        return Special.IMPRECISE
    return Range(spans[0].type, min(span.low for span in spans), max(span.high for span in spans))


def _computed(compute: Callable[..., Value], *ranges: Value) -> Value:
    try:
        return compute(*ranges)
    except (ValueError, OverflowError, ArithmeticError, TypeError):
        return Special.UNKNOWN


def monotone(compute: Callable[..., Value], first: Value, *others: Value) -> Value:
    """Applies a function that never falls while its first argument rises: its two ends give the range."""
    if not isinstance(first, Range) or first.is_point:
        return pointwise(compute, first, *others)
    low = pointwise(compute, point(first.type, first.low), *others)
    high = pointwise(compute, point(first.type, first.high), *others)
    if isinstance(low, Range) and isinstance(high, Range) and low.type is high.type:
        return Range(low.type, low.low, high.high)
    return low if low is high and low is Special.NULL else Special.IMPRECISE


def falling(compute: Callable[..., Value], first: Value, *others: Value) -> Value:
    """Applies a function that never rises."""
    if not isinstance(first, Range) or first.is_point:
        return pointwise(compute, first, *others)
    turned = monotone(compute, Range(first.type, first.high, first.low), *others)
    return turned
