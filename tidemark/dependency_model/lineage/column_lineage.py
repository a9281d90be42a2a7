"""Column lineage: which columns of which tables an entity's columns come from.

A column is computed from direct columns. Indirect columns decide which rows there are and how they are grouped:
conditions, joins, keys of groups and windows, sub-queries with EXISTS.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.dependency_model.lineage.bound_expression import Column as TableColumn
from tidemark.dependency_model.lineage.bound_expression import Exists, InQuery, Opaque, children
from tidemark.dependency_model.lineage.query_binding import bind
from tidemark.dependency_model.lineage.relation import AnyColumn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tidemark.dependency_model.lineage.bound_expression import Bound
    from tidemark.dependency_model.lineage.known_tables import Tables
    from tidemark.dependency_model.lineage.parsed_query import Query
    from tidemark.dependency_model.lineage.relation import Relation


@dataclass(frozen=True, slots=True, order=True)
class ColumnName:
    """A column of a table; `*` means columns with unknown names."""

    table: str
    column: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column}"


@dataclass(frozen=True, slots=True)
class ColumnLineage:
    """`direct` by output column, in the query's order; `indirect` columns affect all rows."""

    direct: Mapping[str, tuple[ColumnName, ...]]
    indirect: tuple[ColumnName, ...]


def column_lineage(query: Query, tables: Tables) -> ColumnLineage:
    """The lineage of one query. Raises QueryError."""
    relations = bind(query, tables)
    direct: dict[str, set[ColumnName]] = {}
    indirect: set[ColumnName] = set()
    for relation in relations:
        if relation.subtracts:
            for bound in relation.columns.values():
                indirect |= _used(bound, indirect)
            indirect |= {used for bound in relation.indirect for used in _used(bound, indirect)}
            continue
        for name, bound in zip(_names(relations[0], relation), relation.columns.values(), strict=False):
            used = direct.setdefault(name, set())
            used |= _used(bound, indirect)
        for opened in relation.open:
            _open_columns(opened.relation, direct, indirect)
        for bound in relation.indirect:
            indirect |= _used(bound, indirect)
    return ColumnLineage({name: tuple(sorted(used)) for name, used in direct.items()}, tuple(sorted(indirect)))


def _names(first: Relation, relation: Relation) -> Iterable[str]:
    """The output names: branches of a UNION have those of the first one."""
    return first.columns if len(first.columns) == len(relation.columns) else relation.columns


def _open_columns(relation: Relation, direct: dict[str, set[ColumnName]], indirect: set[ColumnName]) -> None:
    tables = [relation.open_table] if relation.open_table else []
    for table in tables:
        direct.setdefault("*", set()).add(ColumnName(table.table, "*"))
    for opened in relation.open:
        _open_columns(opened.relation, direct, indirect)
    if isinstance(relation, AnyColumn):
        direct.setdefault("*", set()).update(_used(relation.made_of, indirect))


def _used(bound: Bound, indirect: set[ColumnName]) -> set[ColumnName]:
    """The columns from which a value is computed.

    Columns that only choose rows of sub-queries are added to `indirect`.
    """
    used: set[ColumnName] = set()
    stack, seen = [bound], set[int]()
    while stack:
        expression = stack.pop()
        if id(expression) in seen:
            continue
        seen.add(id(expression))
        if isinstance(expression, TableColumn):
            used.add(ColumnName(expression.occurrence.table, expression.name))
        elif isinstance(expression, Exists):
            for part in children(expression):
                indirect |= _used(part, indirect)
        else:
            stack.extend(_values(expression, indirect))
    return used


def _values(bound: Bound, indirect: set[ColumnName]) -> Iterator[Bound]:
    """The parts of an expression that make its value."""
    if isinstance(bound, InQuery):
        for part in (bound.given, bound.rows):
            indirect |= _used(part, indirect)
        yield bound.wanted
        return
    yield from bound.parts if isinstance(bound, Opaque) else children(bound)
    if isinstance(bound, Opaque):
        for part in bound.choosing:
            indirect |= _used(part, indirect)
