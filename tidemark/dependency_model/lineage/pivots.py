"""The columns behind PIVOT and UNPIVOT, each with the expressions it comes from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from tidemark.dependency_model.lineage.bound_expression import Bound, Opaque
from tidemark.dependency_model.lineage.relation import AnyColumn, Open, Relation, Veil, veil_columns

if TYPE_CHECKING:
    from collections.abc import Iterable


def behind_pivot(relation: Relation, node: Any, veil: Veil) -> Relation:
    """The relation behind one PIVOT or UNPIVOT."""
    return _unpivot(relation, node) if node.args.get("unpivot") else _pivot(relation, node, veil)


def _unpivot(relation: Relation, node: Any) -> Relation:
    """UNPIVOT: a row for each listed column; the other columns stay unchanged."""
    (field,) = node.args["fields"]
    sources = [_names(option) for option in field.expressions]
    listed = frozenset(name for names in sources for name in names)
    values = [name for expression in node.expressions for name in _names(expression)]
    columns = {name: bound for name, bound in relation.columns.items() if name not in listed}
    columns[field.this.name.lower()] = Opaque()
    for at, value in enumerate(values):
        columns[value] = Opaque(_found(relation, (names[at] for names in sources if at < len(names))))
    rest = (Open(relation, None, listed),) if relation.is_open else ()
    return replace(relation, columns=columns, open_table=None, open=rest, members={}, ends_with_time=False)


def _pivot(relation: Relation, node: Any, veil: Veil) -> Relation:
    """PIVOT: a row for each group. Its keys are the columns that neither an aggregate nor FOR names."""
    fields = [name for field in node.args["fields"] for name in _names(field.this)]
    used = [_names(expression) for expression in node.expressions]
    made = [column.name.lower() for column in node.args.get("columns") or ()]
    choosing = _found(relation, fields)
    taken = {*fields, *(name for names in used for name in names)}
    hidden = veil_columns(relation, veil)
    columns: dict[str, Bound] = {name: bound for name, bound in relation.columns.items() if name not in taken}
    for at, name in enumerate(made):
        parts = _found(relation, used[at % len(used)])
        columns[name] = Opaque(parts, place=veil.place, choosing=choosing, hidden_by=veil.by)
    every: Bound = Opaque(tuple(relation.columns.values()), place=veil.place, hidden_by=veil.by)
    rest = () if made and not relation.is_open else (Open(AnyColumn({}, made_of=every)),)
    return replace(hidden, columns=columns, open=rest, ends_with_time=False)


def _names(node: Any) -> list[str]:
    """The columns that a part names: `q1`, `(q1, q2) AS x`, `sum(q1)`."""
    if isinstance(node, exp.Identifier):
        return [node.name.lower()]
    if isinstance(node, exp.PivotAlias):
        return _names(node.this)
    if isinstance(node, exp.Tuple):
        return [name for part in node.expressions for name in _names(part)]
    return [column.name.lower() for column in node.find_all(exp.Column)]


def _found(relation: Relation, names: Iterable[str]) -> tuple[Bound, ...]:
    return tuple(match.bound for name in names if (match := relation.find(name)) is not None)
