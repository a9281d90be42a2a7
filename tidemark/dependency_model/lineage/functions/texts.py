"""Functions on texts."""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage import three_valued_logic as logic
from tidemark.dependency_model.lineage.functions.shaped_texts import substring
from tidemark.dependency_model.lineage.value_range import (
    Range,
    Special,
    Type,
    Value,
    hull,
    point,
    pointwise,
    spanning,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.dependency_model.lineage.functions.signature import Function
    from tidemark.dependency_model.lineage.type_conversion import Conversion


_GREATEST: Final = chr(sys.maxunicode)
"""The greatest character, also in Spark's order of texts."""
_WILD: Final = re.compile(r"[%_\\]")
"""Characters of a LIKE pattern that have a special meaning."""


def _of_texts(compute: Callable[..., str]) -> Function:
    """A function of one text and further arguments."""

    def function(conversion: Conversion, text: Value, *others: Value) -> Value:
        return pointwise(
            lambda *values: point(Type.STRING, compute(*(value.low for value in values))),
            conversion.cast(text, Type.STRING),
            *others,
        )

    return function


def concatenate(conversion: Conversion, *parts: Value) -> Value:
    """`concat` and `||`. The range is exact up to the first part whose length varies, or that is imprecise."""
    texts = [conversion.cast(part, Type.STRING) for part in parts]
    ranges = [text for text in takewhile(lambda text: isinstance(text, Range), texts) if isinstance(text, Range)]
    if any(not isinstance(text, Range) and text is not Special.IMPRECISE for text in texts):
        return pointwise(lambda *values: point(Type.STRING, "".join(value.low for value in values)), *texts)
    low, high = [range_.low for range_ in ranges], [range_.high for range_ in ranges]
    is_whole = len(ranges) == len(texts)
    for at, range_ in enumerate(ranges[:-1] if is_whole else ranges):
        if len(range_.low) != len(range_.high):
            low, high, is_whole = low[: at + 1], [*high[:at], _GREATEST], True
            break
    if not is_whole:
        high.append(_GREATEST)
    is_shaped = len(ranges) == len(texts) and all(range_.is_point or range_.is_shaped for range_ in ranges)
    return Range(Type.STRING, "".join(low), "".join(high), is_shaped)


def _join(conversion: Conversion, separator: Value, *parts: Value) -> Value:
    """`concat_ws`: leaves out NULL parts."""
    if separator is Special.NULL:
        return separator
    there = [part for part in parts if part is not Special.NULL]
    return concatenate(conversion, *[slice_ for part in there for slice_ in (separator, part)][1:])


def _pad(text: str, length: int, fill: str = " ") -> str:
    size = int(length)
    return text[:size] if len(text) >= size else ((fill * size)[: size - len(text)] + text)


def _padded_right(text: str, length: int, fill: str = " ") -> str:
    size = int(length)
    return text[:size] if len(text) >= size else text + (fill * size)[: size - len(text)]


def _length(conversion: Conversion, text: Value) -> Value:
    return pointwise(lambda string: point(Type.NUMBER, len(string.low)), conversion.cast(text, Type.STRING))


def _like(conversion: Conversion, text: Value, pattern: Value) -> Value:
    return spanning(_liked, conversion.cast(text, Type.STRING), pattern)


def _of_condition(holds: Callable[[str, str], bool]) -> Function:
    """A condition on two texts."""

    def function(conversion: Conversion, text: Value, other: Value) -> Value:
        return pointwise(
            lambda first, second: logic.TRUE if holds(first.low, second.low) else logic.FALSE,
            conversion.cast(text, Type.STRING),
            conversion.cast(other, Type.STRING),
        )

    return function


def _elt(_: Conversion, place: Value, *values: Value) -> Value:
    """`elt(place, a, b, ...)`: it counts from 1."""
    if not isinstance(place, Range):
        return pointwise(lambda value: value, place)
    first, last = int(place.low) - 1, int(place.high)
    return hull(values[first:last]) if first >= 0 and last <= len(values) else Special.UNKNOWN


def _starts_with(conversion: Conversion, text: Value, beginning: Value) -> Value:
    return spanning(_starting, conversion.cast(text, Type.STRING), conversion.cast(beginning, Type.STRING))


def _starting(texts: Range, beginning: Range) -> Value:
    """Compares a range of texts by their first characters."""
    low, high = (text[: len(beginning.low)] for text in (texts.low, texts.high))
    if high < beginning.low or beginning.low < low:
        return logic.FALSE
    return logic.TRUE if low == high else Special.IMPRECISE


def _liked(texts: Range, like: Range) -> Value:
    """Compares a range of texts with the first characters of a pattern: `202603%`."""
    if texts.is_point:
        return logic.TRUE if _pattern(like.low).fullmatch(texts.low) else logic.FALSE
    beginning = _WILD.split(like.low, maxsplit=1)[0]
    low, high = texts.low[: len(beginning)], texts.high[: len(beginning)]
    if high < beginning or beginning < low:
        return logic.FALSE
    return logic.TRUE if low == high and like.low == f"{beginning}%" else Special.IMPRECISE


@lru_cache(maxsize=256)
def _pattern(like: str) -> re.Pattern[str]:
    words = re.split(r"(\\.|%|_)", like)
    return re.compile(
        "".join({"%": ".*", "_": "."}.get(word) or re.escape(word.removeprefix("\\")) for word in words), re.DOTALL
    )


TEXTS: dict[str, Function] = {
    "concat": concatenate,
    "concat_ws": _join,
    "left": lambda conversion, text, length: substring(conversion, text, point(Type.NUMBER, 1), length),
    "lpad": _of_texts(_pad),
    "rpad": _of_texts(_padded_right),
    "upper": _of_texts(str.upper),
    "lower": _of_texts(str.lower),
    "trim": _of_texts(lambda text: text.strip(" ")),
    "length": _length,
    "like": _like,
    "starts_with": _starts_with,
    "ends_with": _of_condition(str.endswith),
    "contains": _of_condition(str.__contains__),
    "elt": _elt,
}
