"""The values of `sequence(first, last, step)` and `array(a, b)`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.clock_span import DAY_MICROS
from tidemark.dependency_model.lineage.functions.dates import add_interval
from tidemark.dependency_model.lineage.value_range import Range, Type, Value, point

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.lineage.type_conversion import Conversion

LONGEST: Final = 4_000
"""A longer sequence is not evaluated value by value."""


def sequence_values(conversion: Conversion, first: Value, last: Value, step: Value | None = None) -> list[Range] | None:
    """The values from `first` to `last`; None if they are unknown, too many, or an error in Spark.

    Without a step they are a day or 1 apart. `first` and `last` have one type.
    """
    if not isinstance(first, Range) or not isinstance(last, Range) or not (first.is_point and last.is_point):
        return None
    months, micros = _step(first, last, step)
    is_rising = (months or micros) > 0
    is_alone = first.low == last.low
    if not is_alone and not _leads_on(first, last, months, micros):
        return None
    elapsed = 0 if first.type is Type.NUMBER else int(math.fmod(micros, DAY_MICROS))
    values: list[Range] = []
    for count in range(LONGEST):
        # Whole days of a step follow the clock. The rest is elapsed time, however many days it adds up to.
        value = _later(_value(conversion, first, months * count, (micros - elapsed) * count), elapsed * count)
        if not isinstance(value, Range):
            return None
        if value.low > last.low if is_rising else value.low < last.low:
            return values
        values.append(value)
        if is_alone:
            return values
    return None


def array_values(*values: Value) -> list[Range] | None:
    """The values of `array(a, b)`, sorted; None if one is unknown, NULL or of another type."""
    points = [value for value in values if isinstance(value, Range) and value.is_point]
    if len(points) < len(values) or len({value.type for value in points}) != 1:
        return None
    return sorted(points, key=lambda value: value.low)


def span_of(values: Sequence[Range]) -> Range:
    """The range of values that rise or fall."""
    low, high = sorted((values[0].low, values[-1].low))
    return Range(values[0].type, low, high)


def _step(first: Range, last: Range, step: Value | None) -> tuple[int, int]:
    """Months and microseconds, or 0 and a number; zeros for an invalid step."""
    is_number = first.type is Type.NUMBER
    if step is None:
        return 0, (-1 if last.low < first.low else 1) * (1 if is_number else DAY_MICROS)
    if not isinstance(step, Range) or not step.is_point or (step.type is Type.NUMBER) is not is_number:
        return 0, 0
    return (0, int(step.low)) if is_number else step.low


def _leads_on(first: Range, last: Range, months: int, micros: int) -> bool:
    """Whether the step goes from the first value towards the last."""
    if months * micros < 0 or (first.type is Type.DATE and micros % DAY_MICROS):
        return False
    step = months or micros
    return step > 0 if first.low < last.low else step < 0


def _value(conversion: Conversion, first: Range, months: int, micros: int) -> Value:
    if first.type is Type.NUMBER:
        return point(Type.NUMBER, first.low + micros)
    return add_interval(conversion, first, point(Type.INTERVAL, (months, micros)))


def _later(value: Value, micros: int) -> Value:
    """An instant later by elapsed time."""
    if not micros or not isinstance(value, Range):
        return value
    return Range(value.type, value.low + micros, value.high + micros)
