"""Conditions that restrict nothing while the compared mentions may be in any slice: they are evaluated later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.bound_expression import Bound, Call, Column, Literal, Parameter, Sourced, walk
from tidemark.dependency_model.lineage.functions import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Collection

    from tidemark.dependency_model.lineage.bound_expression import Occurrence

_LOGIC: Final = frozenset(["and", "or", "not"])
_COMPARES: Final = frozenset(["=", "<", "<="])


def is_unknown_of(condition: Bound, others: Collection[Occurrence]) -> bool:
    """Whether each comparison has a side that is unknown if nothing is known of the other mentions."""
    if not others:
        return False
    seen, stack = set[int](), [condition]
    while stack:
        part = stack.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if not isinstance(part, Call) or part.name not in _LOGIC | _COMPARES:
            return False
        if part.name in _LOGIC:
            stack += part.arguments
        elif not any(_carries(side, others) for side in part.arguments):
            return False
    return True


def _carries(side: Bound, others: Collection[Occurrence]) -> bool:
    """Whether it is computed from another mention, by functions that are unknown for an unknown argument."""
    parts = list(walk(side))
    is_plain = all(
        isinstance(part, (Column, Literal, Parameter, Sourced)) or (isinstance(part, Call) and part.name in FUNCTIONS)
        for part in parts
    )
    return is_plain and any(isinstance(part, Column) and part.occurrence in others for part in parts)
