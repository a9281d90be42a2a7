"""Functions that take characters out of texts by their places, or by characters other than digits.

In a range of texts of one shape, such as dates, these are the same places in each text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.value_range import Range, Special, Type, Value, monotone, pointwise, spanning

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.dependency_model.lineage.functions.signature import Function
    from tidemark.dependency_model.lineage.type_conversion import Conversion

_DIGIT: Final = re.compile(r"\d", re.ASCII)


def has_shape(texts: Value) -> bool:
    """Whether the characters at a place are the same in all texts."""
    return isinstance(texts, Range) and texts.is_shaped


def taken(texts: Range, place: slice) -> Range:
    """The characters at a place. Behind a digit that varies, digits may have any value."""
    low, high = texts.low[place], texts.high[place]
    if texts.low[: place.start] != texts.high[: place.start]:
        low, high = (_DIGIT.sub(digit, low) for digit in "09")
    return Range(Type.STRING, low, high, texts.is_shaped)


def substring(conversion: Conversion, text: Value, start: Value, length: Value | None = None) -> Value:
    """`substring(text, start, length)`: it counts from 1, or from -1 at the end."""

    def part(texts: Range, *numbers: Range) -> Value:
        return taken(texts, _place(len(texts.low), *(int(number.low) for number in numbers)))

    texts, others = conversion.cast(text, Type.STRING), (start,) if length is None else (start, length)
    if has_shape(texts):
        return spanning(part, texts, *others)
    is_prefix = isinstance(start, Range) and start.is_point and start.low in (0, 1)
    return (monotone if is_prefix else pointwise)(part, texts, *others)


def _place(size: int, start: int, length: int | None = None) -> slice:
    begin = start - 1 if start > 0 else size + start if start < 0 else 0
    stop = size if length is None else begin + length
    return slice(max(begin, 0), max(stop, 0))


def _right(text: str, length: int) -> slice:
    return slice(max(len(text) - int(length), 0), len(text)) if length > 0 else slice(0, 0)


def _split_part(text: str, delimiter: str, number: int) -> slice:
    """Parts count from 1, or from -1 at the end; others are empty."""
    if not number:
        raise ValueError("Spark refuses the part 0")
    parts = text.split(delimiter) if delimiter else [text]
    at = int(number) - 1 if number > 0 else len(parts) + int(number)
    if not 0 <= at < len(parts):
        return slice(0, 0)
    start = sum(len(before) + len(delimiter) for before in parts[:at])
    return slice(start, start + len(parts[at]))


def _up_to(text: str, delimiter: str, count: int) -> slice:
    """`substring_index`: the text before a delimiter, counted from the start or from the end."""
    parts = text.split(delimiter) if delimiter and count else []
    if abs(count) >= len(parts):
        return slice(0, len(text) if parts else 0)
    kept = parts[: int(count)] if count > 0 else parts[int(count) :]
    size = len(delimiter.join(kept))
    return slice(0, size) if count > 0 else slice(len(text) - size, len(text))


def _by_place(place: Callable[..., slice]) -> Function:
    """A function of one text and further arguments. These contain no digits, or only one text is possible."""

    def function(conversion: Conversion, text: Value, *others: Value) -> Value:
        def part(texts: Range, *given: Range) -> Value:
            if not texts.is_point and any(value.type is Type.STRING and _DIGIT.search(value.low) for value in given):
                return Special.IMPRECISE
            return taken(texts, place(texts.low, *(value.low for value in given)))

        texts = conversion.cast(text, Type.STRING)
        return (spanning if has_shape(texts) else pointwise)(part, texts, *others)

    return function


def _replace(conversion: Conversion, text: Value, old: Value, *new: Value) -> Value:
    def replaced(texts: Range, sought: Range, *given: Range) -> Value:
        if not sought.low:
            return texts
        if not texts.is_point and _DIGIT.search(sought.low):
            return Special.IMPRECISE
        by = given[0].low if given else ""
        low, high = (end.replace(sought.low, by) for end in (texts.low, texts.high))
        return Range(Type.STRING, low, high, texts.is_shaped)

    texts = conversion.cast(text, Type.STRING)
    return (spanning if has_shape(texts) else pointwise)(replaced, texts, old, *new)


SHAPED_TEXTS: dict[str, Function] = {
    "substring": substring,
    "right": _by_place(_right),
    "split_part": _by_place(_split_part),
    "substring_index": _by_place(_up_to),
    "replace": _replace,
}
