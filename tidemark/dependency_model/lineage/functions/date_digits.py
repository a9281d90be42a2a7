"""Dates as digits, which rise with the dates: `cast(date_format(d, 'yyyyMMdd') AS INT)`, `replace(dt, '-', '')`.

In general, neither the number in a text nor the text without hyphens rises with the text. These do, because all have
the same length.
"""

from __future__ import annotations

from tidemark.dependency_model.lineage.bound_expression import Bound, Call, Column, Literal, Parameter, Sourced
from tidemark.dependency_model.lineage.functions.formats import is_all_digits
from tidemark.dependency_model.lineage.value_range import Range


def rises_with_its_date(call: Call) -> bool:
    """Whether a call makes digits of a date, from the longest part to the shortest."""
    match call:
        case Call(name="cast_to_int" | "cast_to_bigint", arguments=(Call(name="date_format", arguments=(_, form)),)):
            return is_all_digits(_text(form))
        case Call(name="replace" | "regexp_replace", arguments=(text, old, new)):
            return _is_date(text) and (_text(old), _text(new)) == ("-", "")
    return False


def _is_date(text: Bound) -> bool:
    """Whether it is the slice's date or the business date, also as a text."""
    match text:
        case Sourced(inner=inner) | Call(name="concat", arguments=(inner,)):
            return _is_date(inner)
        case Column(name=name):
            return name == "dt"
        case Parameter(name=name):
            return name == "biz_date"
    return False


def _text(bound: Bound) -> object:
    return bound.value.low if isinstance(bound, Literal) and isinstance(bound.value, Range) else None
