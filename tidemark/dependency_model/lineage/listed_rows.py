"""Rows that a query lists itself: `VALUES (1, 'a'), (7, 'b')`, `range(3)`, an exploded array.

A row counts only if all conditions on it hold, so they are evaluated together, row by row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.dependency_model.lineage.bound_expression import (
    Bound,
    Element,
    Exists,
    InQuery,
    Occurrence,
    Sourced,
    joined,
    operands,
    tables_in,
    value_parts,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.lineage.relation import Constraint


def with_its_rows(constraint: Constraint, target: Occurrence, others: Sequence[Constraint]) -> Constraint:
    """The condition, with the other conditions on the listed rows that it uses.

    The others use no table besides those of the condition, and no row that an outer join may make up.
    """
    conditions, rows, tables = (
        [constraint.condition],
        listed_rows(constraint.condition),
        tables_in(constraint.condition),
    )
    left = [
        other
        for other in (others if rows else ())
        if other is not constraint and (target in other.targets or not other.targets)
    ]
    while speaking := [
        other for other in left if rows & listed_rows(other.condition) and _is_certain(other, target, tables)
    ]:
        conditions += [other.condition for other in speaking]
        rows = rows.union(*(listed_rows(other.condition) for other in speaking))
        left = [other for other in left if other not in speaking]
    return replace(constraint, condition=joined("and", conditions)) if len(conditions) > 1 else constraint


def listed_rows(condition: Bound) -> frozenset[Bound]:
    """The listed rows that a condition uses, without those of its sub-queries, where another row may decide."""
    rows, seen, stack = set[Bound](), set[int](), [condition]
    while stack:
        part = stack.pop()
        if isinstance(part, Element):
            rows.add(part)
        if id(part) not in seen and not isinstance(part, (Exists, InQuery)):
            stack += operands(part)
        seen.add(id(part))
    return frozenset(rows)


def _is_certain(constraint: Constraint, target: Occurrence, tables: frozenset[Occurrence]) -> bool:
    """Whether it uses only these tables, each with a row."""
    parts = list(value_parts(constraint.condition))
    made_up = frozenset[object]().union(*constraint.sides.get(target, ()))
    return tables_in(constraint.condition) <= tables and not any(
        isinstance(part, (Exists, InQuery)) or (isinstance(part, Sourced) and part.source in made_up) for part in parts
    )
