"""Dates as digits, which rise with the dates: `cast(date_format(d, 'yyyyMMdd') AS INT)`.

In general, the number in a text does not rise with the text. These do, because all have the same length.
"""

from __future__ import annotations

from tidemark.dependency_model.lineage.bound_expression import Bound, Call, Literal
from tidemark.dependency_model.lineage.functions.formats import is_all_digits
from tidemark.dependency_model.lineage.value_range import Range


def rises_with_its_date(call: Call) -> bool:
    """Whether a call makes digits of a date, from the longest part to the shortest."""
    match call:
        case Call(name="cast_to_int" | "cast_to_bigint", arguments=(Call(name="date_format", arguments=(_, form)),)):
            return is_all_digits(_text(form))
    return False


def _text(bound: Bound) -> object:
    return bound.value.low if isinstance(bound, Literal) and isinstance(bound.value, Range) else None
