"""The effect of a query's change on its columns. What is not certain counts as a change of everything.

Two queries are equal only if both their words and sqlglot's trees are equal. The trees alone are not enough: in Spark's
dialect CAST and TRY_CAST give the same tree. If two SELECTs differ only in their list, each column is compared.
Everything has changed if a column can affect rows or other columns: generators, the first aggregate, names and numbers
of columns in GROUP BY and ORDER BY, names that other columns use, DISTINCT.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from tidemark.dependency_model.code_change.select_list import SelectList
from tidemark.dependency_model.code_change.sql_words import sql_words
from tidemark.dependency_model.lineage.spark_dialect import SparkDialect
from tidemark.dependency_model.lineage.sql_text import without_comments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ALL_COLUMNS: Final = "*"
_AFTER_LIST: Final = ("group", "having", "order", "sort", "distribute", "cluster", "qualify", "windows")
"""Clauses that can refer to the names of the SELECT's columns."""
_GENERATORS: Final = frozenset(
    {
        *("explode", "explode_outer", "posexplode", "posexplode_outer", "inline", "inline_outer", "stack"),
        *("json_tuple", "variant_explode", "variant_explode_outer", "flatten"),
    }
)


@dataclass(frozen=True)
class QueryChange:
    """Changed columns by name. `is_everything`: rows, or columns that are not named here, may have changed as well.

    `renamed` has old and new names. `changed` columns have another expression, `retyped` columns a cast to another
    type.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    changed: tuple[str, ...] = ()
    retyped: tuple[str, ...] = ()
    is_everything: bool = False

    def __bool__(self) -> bool:
        return self != _NOTHING

    @property
    def columns(self) -> frozenset[str]:
        """The columns that were added or removed or may have other values."""
        if self.is_everything:
            return frozenset({ALL_COLUMNS})
        pairs = (name for pair in self.renamed for name in pair)
        return frozenset({*self.added, *self.removed, *self.changed, *self.retyped, *pairs})


_NOTHING: Final = QueryChange()
_EVERYTHING: Final = QueryChange(is_everything=True)


def query_change(old: str, new: str) -> QueryChange:
    """The changes of the columns. False if the queries differ only in comments, spaces and capitals."""
    if old == new:
        return _NOTHING
    before, after = _parsed(old), _parsed(new)
    if before is None or after is None:
        return _EVERYTHING
    if sql_words(old) == sql_words(new) and before == after:
        return _NOTHING
    lists = SelectList.of(before, sql_words(old)), SelectList.of(after, sql_words(new))
    if lists[0] is None or lists[1] is None:
        return _EVERYTHING
    return _lists_change(before, after, lists[0], lists[1])


def _parsed(text: str) -> exp.Expr | None:
    try:
        statements = sqlglot.parse(without_comments(text), dialect=SparkDialect)
    except (SqlglotError, RecursionError):
        return None
    return statements[0] if len(statements) == 1 else None


def _lists_change(before: exp.Expr, after: exp.Expr, old: SelectList, new: SelectList) -> QueryChange:
    change = _column_change(old, new)
    is_around = (old.head, old.tail) != (new.head, new.tail) or _without_list(before) != _without_list(after)
    order = [name for name in old.names if name in new.names] != [name for name in new.names if name in old.names]
    if is_around or order or not change or _reaches_further(before, after, old, new, change.columns):
        return QueryChange(change.added, change.removed, change.renamed, change.changed, change.retyped, True)  # noqa: FBT003
    return change


def _column_change(old: SelectList, new: SelectList) -> QueryChange:
    gone = [name for name in old.names if name not in new.names]
    come = [name for name in new.names if name not in old.names]
    renamed = dict(_renamed(old, new, gone, come))
    kept = [name for name in old.names if name in new.names]
    differing = [name for name in kept if old.values[name] != new.values[name]]
    retyped = [name for name in differing if _type_of(old.nodes[name]) != _type_of(new.nodes[name])]
    return QueryChange(
        added=tuple(name for name in come if name not in renamed.values()),
        removed=tuple(name for name in gone if name not in renamed),
        renamed=tuple(renamed.items()),
        changed=tuple(name for name in differing if name not in retyped),
        retyped=tuple(retyped),
    )


def _renamed(old: SelectList, new: SelectList, gone: list[str], come: list[str]) -> Iterator[tuple[str, str]]:
    """Each removed column with the only added column that has the same expression."""
    for name in gone:
        alike = [other for other in come if new.values[other] == old.values[name]]
        rivals = [other for other in gone if old.values[other] == old.values[name]]
        if len(alike) == len(rivals) == 1:
            yield name, alike[0]


def _type_of(node: exp.Expr) -> str:
    value = node.this if isinstance(node, exp.Alias) else node
    return str(value.to.sql("spark")) if isinstance(value, exp.Cast) else ""


def _without_list(query: exp.Expr) -> exp.Expr:
    bare = query.copy()
    bare.set("expressions", [])
    return bare


def _reaches_further(
    before: exp.Expr, after: exp.Expr, old: SelectList, new: SelectList, columns: frozenset[str]
) -> bool:
    """Whether a change of these columns may change rows or other columns."""
    affected = [*_chosen(old.nodes, columns), *_chosen(new.nodes, columns)]
    others = [node for listed in (old, new) for name, node in listed.nodes.items() if name not in columns]
    if old.is_distinct or any(map(_is_generator, affected)):
        return True
    is_grouped = before.args.get("group") is not None
    if not is_grouped and any(map(_aggregates, affected)) and not any(map(_aggregates, others)):
        return True
    seen = [part for query in (before, after) for part in _after_list(query)]
    if any(map(_counts_columns, seen)) or any(_mentions(node, columns) for node in seen):
        return True
    aliases = frozenset(name for name in columns if not _is_of_table(name, old, new))
    return any(_mentions(node, aliases) for node in others)


def _is_of_table(name: str, old: SelectList, new: SelectList) -> bool:
    """Whether a name is certainly a column of a table: an alias is computed from it, and the table's column wins."""
    own = [listed.nodes[name] for listed in (old, new) if name in listed.nodes]
    return any(_mentions(node, frozenset({name})) for node in own)


def _chosen(nodes: Mapping[str, exp.Expr], columns: frozenset[str]) -> list[exp.Expr]:
    return [node for name, node in nodes.items() if name in columns]


def _is_generator(node: exp.Expr) -> bool:
    """Whether an expression may generate rows. Unknown functions count as generators."""
    return any(
        isinstance(part, exp.UDTF | exp.Anonymous) or (isinstance(part, exp.Func) and _name(part) in _GENERATORS)
        for part in node.walk()
    )


def _name(function: exp.Func) -> str:
    return function.sql_name().lower() if not isinstance(function, exp.Anonymous) else str(function.this).lower()


def _aggregates(node: exp.Expr) -> bool:
    """Whether a column collapses rows: it has an aggregate outside a window."""
    return any(not isinstance(part.parent, exp.Window) for part in node.find_all(exp.AggFunc))


def _after_list(query: exp.Expr) -> Iterator[exp.Expr]:
    for name in _AFTER_LIST:
        part = query.args.get(name)
        yield from part if isinstance(part, list) else [part] if part is not None else []


def _counts_columns(clause: exp.Expr) -> bool:
    """Whether a clause refers to columns by number or by ALL: `ORDER BY 2`, `GROUP BY ALL`."""
    if clause.args.get("all"):
        return True
    keys = (key.this if isinstance(key, exp.Ordered) else key for key in clause.expressions)
    return any(isinstance(key, exp.Literal) or key.sql("spark").upper() == "ALL" for key in keys)


def _mentions(node: exp.Expr, columns: frozenset[str]) -> bool:
    """Whether an expression names one of the columns without a table."""
    value = node.this if isinstance(node, exp.Alias) else node
    return any(column.name.lower() in columns and not column.table for column in value.find_all(exp.Column))
