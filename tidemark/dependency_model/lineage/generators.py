"""Functions that make rows (`explode`, `inline`, `stack` ..):

Spark's names of their columns if the query gives none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlglot import exp

from tidemark.dependency_model.lineage.relation import AnyColumn, Open, Relation, of_names
from tidemark.dependency_model.lineage.sqlglot_expressions import LISTS

if TYPE_CHECKING:
    from tidemark.dependency_model.lineage.bound_expression import Bound

_OF_LIST: Final = ("col",)
_OF_LIST_OR_MAP: Final = frozenset(["col", "key", "value"])


@dataclass(frozen=True, slots=True)
class MadeColumns:
    """`names` always exist. The type of the data decides which names of `possible` exist; None means any name."""

    names: tuple[str, ...] = ()
    possible: frozenset[str] | None = frozenset()

    def relation(self, made_of: Bound) -> Relation:
        """The relation of a FROM item of the function: each column comes from `made_of`."""
        return of_names(self.names, [made_of] * len(self.names), self.open(made_of))

    def open(self, made_of: Bound) -> tuple[Open, ...]:
        """The columns that may exist."""
        return () if self.possible == frozenset() else (Open(AnyColumn({}, made_of=made_of, names=self.possible)),)


ANY_COLUMN: Final = MadeColumns(possible=None)


def made_columns(node: Any) -> MadeColumns | None:
    """The columns of a function that makes rows; None for any other expression."""
    match node:
        case exp.Explode():
            pos = ("pos",) if isinstance(node, (exp.Posexplode, exp.PosexplodeOuter)) else ()
            return MadeColumns(pos + _OF_LIST) if isinstance(node.this, LISTS) else MadeColumns(pos, _OF_LIST_OR_MAP)
        case exp.Inline():
            return ANY_COLUMN
        case exp.Stack():
            return _of_stack(node)
        case exp.Anonymous():
            return _by_name(str(node.this).lower(), node.expressions)
    return None


def _of_stack(node: Any) -> MadeColumns:
    rows = node.this
    if not isinstance(rows, exp.Literal) or not str(rows.this).isdecimal() or not int(rows.this):
        return ANY_COLUMN
    return MadeColumns(tuple(f"col{at}" for at in range(-(-len(node.expressions) // int(rows.this)))))


def _by_name(name: str, arguments: list[Any]) -> MadeColumns | None:
    match name.removesuffix("_outer"):
        case "json_tuple":
            return MadeColumns(tuple(f"c{at}" for at in range(len(arguments) - 1)))
        case "inline":
            return ANY_COLUMN
        case "variant_explode":
            return MadeColumns(("pos", "key", "value"))
    return None
