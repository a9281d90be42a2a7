"""LEFT JOINs that are inner ones in effect: a later condition drops the rows that they make up.

`a LEFT JOIN b ON a.dt = b.dt WHERE b.dt = :biz_date` keeps no row of `a` without one of `b`, so what ON says holds of
`a` as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.bound_expression import Bound, Call, Sourced
from tidemark.dependency_model.lineage.functions.numbers import WHOLE_CASTS

if TYPE_CHECKING:
    from tidemark.dependency_model.lineage.bound_expression import JoinSource

_COMPARES: Final = frozenset(["=", "<", "<="])
_NULL_OF_NULL: Final = frozenset(
    [*WHOLE_CASTS, "+", "-", "add_months", "concat", "date_add", "date_format", "last_day", "substring", "to_date"]
)


def drops_made_up_rows(condition: Bound, source: JoinSource) -> bool:
    """Whether a condition cannot be true where an item's row is made up: it compares what is NULL then."""
    match condition:
        case Call(name="and", arguments=arguments):
            return any(drops_made_up_rows(argument, source) for argument in arguments)
        case Call(name="or", arguments=arguments):
            return all(drops_made_up_rows(argument, source) for argument in arguments)
        case Call(name="not", arguments=(Call(name="is_null", arguments=(inner,)),)):
            return _is_null(inner, source)
        case Call(name="not", arguments=(Call(name=name, arguments=arguments),)) if name in _COMPARES:
            return any(_is_null(argument, source) for argument in arguments)
        case Call(name=name, arguments=arguments) if name in _COMPARES:
            return any(_is_null(argument, source) for argument in arguments)
    return False


def _is_null(bound: Bound, source: JoinSource) -> bool:
    match bound:
        case Sourced(source=own, inner=inner):
            return own is source or _is_null(inner, source)
        case Call(name=name, arguments=arguments) if name in _NULL_OF_NULL:
            return any(_is_null(argument, source) for argument in arguments)
    return False
