"""Conditions that stay the same if two days move alike: `u.dt BETWEEN date_sub(o.dt, 6) AND o.dt`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from tidemark.dependency_model.lineage.bound_expression import Bound, Call, Column, Sourced, fold
from tidemark.dependency_model.lineage.bound_expression import Literal as Constant
from tidemark.dependency_model.lineage.value_range import Range, Type

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

Kind = Literal["day", "number", "truth"]
_COMPARES: Final = frozenset(["=", "<", "<=", "<=>"])
_LOGIC: Final = frozenset(["and", "or", "not"])
_NUMBERS: Final = frozenset(["+", "-", "*", "negative"])


def moves_with_days(condition: Bound, days: Collection[Column]) -> bool:
    """Whether the condition uses only these DATE columns and counts of days between them."""
    return fold(condition, lambda bound, kinds: _kind(bound, kinds, days)) == "truth"


def _kind(bound: Bound, kinds: Sequence[Kind | None], days: Collection[Column]) -> Kind | None:
    """The kind of an expression; None if its result may depend on the day itself."""
    match bound:
        case Column():
            return "day" if bound in days else None
        case Sourced():
            return kinds[0]
        case Constant(value=Range(type=Type.NUMBER)):
            return "number"
        case Call(name=name):
            return _of_call(name, tuple(kinds))
    return None


def _of_call(name: str, kinds: tuple[Kind | None, ...]) -> Kind | None:
    match name, kinds:
        case "date_add", ("day", "number"):
            return "day"
        case "datediff", ("day", "day"):
            return "number"
        case _, (first, other) if name in _COMPARES and first == other and first in ("day", "number"):
            return "truth"
    if name in _LOGIC and {*kinds} == {"truth"}:
        return "truth"
    return "number" if name in _NUMBERS and {*kinds} == {"number"} else None
