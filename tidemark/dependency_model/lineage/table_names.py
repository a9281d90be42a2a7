"""Checks names without their qualifier in the query's tree: each must still be the entity's table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tidemark.dependency_model.lineage.parsed_query import Query


def refuse_other_names(query: Query, names: Sequence[int]) -> None:
    """Raises QueryError if a name without its qualifier is not a table, or is another table in the query."""
    if not names:
        return
    tables = {node.this.meta.get("start"): node for node in query.tree.find_all(exp.Table)}
    of_columns = {
        column.args["table"].meta.get("start")
        for column in query.tree.find_all(exp.Column)
        if isinstance(column.args.get("table"), exp.Identifier)
    }
    for start in names:
        if start in tables:
            _refuse_common_table(query, tables[start])
        elif start not in of_columns:
            raise query.error_at(start, "this is no table: a table's alias is named like a schema", hint="rename it")


def _refuse_common_table(query: Query, table: exp.Table) -> None:
    """Raises QueryError if the name is also that of a WITH's table; only that table's own query may use it."""
    for common in query.tree.find_all(exp.CTE):
        if common.alias.lower() != table.name.lower():
            continue
        clause = common.parent
        recursive = isinstance(clause, exp.With) and clause.args.get("recursive")
        if recursive or common not in list(_ancestors(table)):
            raise query.error(
                f"both a table of WITH and an entity are named {table.name}", table, hint="rename the table of WITH"
            )


def _ancestors(node: exp.Expr) -> Iterator[exp.Expr]:
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent
