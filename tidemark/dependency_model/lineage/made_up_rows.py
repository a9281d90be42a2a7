"""LEFT JOINs that are inner joins in effect: a later condition drops the rows that they make up.

`a LEFT JOIN b ON a.dt = b.dt WHERE b.dt = :biz_date` keeps a row of `a` only with a row of `b`, so the ON condition
restricts `a` as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.bound_expression import Bound, Call, Sourced, inside_out
from tidemark.dependency_model.lineage.functions.numbers import WHOLE_CASTS

if TYPE_CHECKING:
    from collections.abc import Container

    from tidemark.dependency_model.lineage.bound_expression import JoinSource

_COMPARES: Final = frozenset(["=", "<", "<="])
_NULL_OF_NULL: Final = frozenset(
    [*WHOLE_CASTS, "+", "-", "add_months", "concat", "date_add", "date_format", "last_day", "substring", "to_date"]
)


def drops_made_up_rows(condition: Bound, source: JoinSource) -> bool:
    """Whether a condition is never true for an item's made-up row: it compares a column that is NULL then."""
    nulls: set[int] = set()
    drops: set[int] = set()
    for part in inside_out(condition):
        if _is_null(part, source, nulls):
            nulls.add(id(part))
        if isinstance(part, Call) and _drops(part, nulls, drops):
            drops.add(id(part))
    return id(condition) in drops


def _drops(condition: Call, nulls: Container[int], drops: Container[int]) -> bool:
    match condition:
        case Call(name="and", arguments=arguments):
            return any(id(argument) in drops for argument in arguments)
        case Call(name="or", arguments=arguments):
            return all(id(argument) in drops for argument in arguments)
        case Call(name="not", arguments=(Call(name=name, arguments=arguments),)) if name in {"is_null", *_COMPARES}:
            return any(id(argument) in nulls for argument in arguments)
    return condition.name in _COMPARES and any(id(argument) in nulls for argument in condition.arguments)


def _is_null(bound: Bound, source: JoinSource, nulls: Container[int]) -> bool:
    match bound:
        case Sourced(source=own, inner=inner):
            return own is source or id(inner) in nulls
        case Call(name=name, arguments=arguments) if name in _NULL_OF_NULL:
            return any(id(argument) in nulls for argument in arguments)
    return False
