"""Functions on regular expressions with the same meaning in Java, which Spark uses, and in Python."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage import three_valued_logic as logic
from tidemark.dependency_model.lineage.functions.shaped_texts import has_shape, taken
from tidemark.dependency_model.lineage.value_range import Range, Special, Type, Value, point, pointwise, spanning

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.dependency_model.lineage.functions.signature import Function
    from tidemark.dependency_model.lineage.type_conversion import Conversion

_ALIKE: Final = re.compile(
    r"(?:[\w \-:/.,_=%@#\^$|]|\\[dDsSwW.\-/+*?()\[\]{}|^$]|\((?:\?:)?|\)|\[\^?(?:[\w \-:/.,_]|\\[dDsSwW.\-])+\]"
    r"|[*+?]\??(?![+*?])|\{\d{1,3}(?:,\d{0,3})?\}\??(?![+*?]))*",
    re.ASCII,
)
"""Letters, classes, groups, alternatives, anchors, greedy and lazy repetitions."""
_WITHOUT_DIGITS: Final = re.compile(r"[ \-:/,_]|\[[ \-:/,_.]+\]|\\[.\-/]")
"""Patterns that match one character other than a digit."""
_LENGTH_LIMIT: Final = 200
_NO_TEMPLATE: Final = re.compile(r"[$\\]")


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    """The compiled pattern. Raises ValueError if the two languages may read it differently."""
    if len(pattern) > _LENGTH_LIMIT or not _ALIKE.fullmatch(pattern):
        raise ValueError(pattern)
    try:
        return re.compile(pattern, re.ASCII)
    except re.error as error:
        raise ValueError(pattern) from error


def _with_pattern(compute: Callable[..., Value]) -> Function:
    """A function of a text, a pattern and further arguments."""

    def function(conversion: Conversion, text: Value, pattern: Value, *others: Value) -> Value:
        def computed(string: Range, form: Range, *rest: Range) -> Value:
            return compute(string.low, _compiled(form.low), *(value.low for value in rest))

        return pointwise(computed, conversion.cast(text, Type.STRING), pattern, *others)

    return function


def _replaced(text: str, pattern: re.Pattern[str], replacement: str = "") -> Value:
    if _NO_TEMPLATE.search(replacement):
        return Special.UNKNOWN
    return point(Type.STRING, pattern.sub(lambda _: replacement, text))


def _extracted(text: str, pattern: re.Pattern[str], group: int = 1) -> Value:
    match = pattern.search(text)
    return point(Type.STRING, (match[int(group)] or "") if match else "")


def _part(text: str, pattern: re.Pattern[str], place: int) -> Value:
    """One of the parts into which the pattern splits the text, counted from 0."""
    if pattern.match("") is not None or not text:
        return Special.UNKNOWN
    parts = pattern.split(text)
    return point(Type.STRING, parts[int(place)]) if pattern.groups == 0 and 0 <= place < len(parts) else Special.UNKNOWN


def _of_shape(compute: Callable[..., Value], of_one: Callable[..., Value]) -> Function:
    """A function of a range of texts of one shape, if the pattern matches no digit; else of one text."""

    def function(conversion: Conversion, text: Value, pattern: Value, *others: Value) -> Value:
        def computed(texts: Range, form: Range, *rest: Range) -> Value:
            return compute(texts, _compiled(form.low), *(value.low for value in rest))

        texts = conversion.cast(text, Type.STRING)
        form = pattern.low if isinstance(pattern, Range) and pattern.is_point else ""
        if has_shape(texts) and _WITHOUT_DIGITS.fullmatch(form):
            return spanning(computed, texts, pattern, *others)
        return _with_pattern(of_one)(conversion, texts, pattern, *others)

    return function


def _all_replaced(texts: Range, pattern: re.Pattern[str], replacement: str = "") -> Value:
    low, high = (_replaced(end, pattern, replacement) for end in (texts.low, texts.high))
    return low._replace(high=high.low, is_shaped=True) if isinstance(low, Range) and isinstance(high, Range) else low


def _part_of_each(texts: Range, pattern: re.Pattern[str], place: int) -> Value:
    between = [match.span() for match in pattern.finditer(texts.low)]
    ends, at = [(0, 0), *between, (len(texts.low), 0)], int(place)
    return taken(texts, slice(ends[at][1], ends[at + 1][0])) if 0 <= at <= len(between) else Special.UNKNOWN


PATTERNS: dict[str, Function] = {
    "rlike": _with_pattern(lambda text, pattern: logic.TRUE if pattern.search(text) else logic.FALSE),
    "regexp_replace": _of_shape(_all_replaced, _replaced),
    "regexp_extract": _with_pattern(_extracted),
    "split_at": _of_shape(_part_of_each, _part),
}
