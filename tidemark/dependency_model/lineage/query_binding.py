"""Binds a query's tree to relations: it resolves names, and puts conditions where they restrict rows.

A query gives one relation for each way in which its rows can arise. A UNION in a FROM clause makes several relations
of the SELECT over it, one a branch, so that a filter above it applies to each branch. CTEs and views are bound again
at each mention, because each mention can be filtered differently.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from sqlglot import exp

from tidemark.dependency_model.lineage.bound_expression import (
    Call,
    Column,
    Element,
    Literal,
    Occurrence,
    Opaque,
    Place,
)
from tidemark.dependency_model.lineage.deep_stack import with_deep_stack
from tidemark.dependency_model.lineage.generators import ANY_COLUMN, MadeColumns, made_columns
from tidemark.dependency_model.lineage.pivots import behind_pivot
from tidemark.dependency_model.lineage.relation import (
    LATERAL,
    LIMITED,
    SAMPLE,
    UNNAMED_VEIL,
    Open,
    Relation,
    Veil,
    merge_ways,
    named,
    of_names,
    repeated,
    veil_columns,
)
from tidemark.dependency_model.lineage.scope import CommonTable
from tidemark.dependency_model.lineage.select_binding import SelectBinder, aliased
from tidemark.dependency_model.lineage.spark_dialect import PIPED
from tidemark.dependency_model.lineage.sqlglot_expressions import LISTS
from tidemark.dependency_model.lineage.value_range import Type, point
from tidemark.dependency_model.suggestion import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tidemark.dependency_model.lineage.known_tables import Tables
    from tidemark.dependency_model.lineage.parsed_query import Query
    from tidemark.dependency_model.lineage.scope import Scope
    from tidemark.errors import QueryError

WAYS_LIMIT: Final = 32
"""The most separate ways. More ways are merged into one, and filters above it do not restrict the ways below."""
OCCURRENCE_LIMIT: Final = 2_000
DEPTH_LIMIT: Final = 240
"""The deepest nesting of queries. Spark's parser fails between 120 and 240 brackets, or at about 60 CTEs in a row."""
_HIDING_TABLES: Final = frozenset(["identifier", "table"])
CONSTANTS_LIMIT: Final = 20
"""The most rows of VALUES that are evaluated."""
QUERY_LIMIT: Final = 20_000
"""The most queries bound in one; a CTE counts at each mention."""


@dataclass(slots=True)
class Binder:
    """Binds one query; `query` is the text that places refer to (for a view, the view's own)."""

    query: Query
    tables: Tables
    _count: int = 0
    _queries: int = 0
    _depth: int = 0
    _active: set[int] = field(default_factory=set)
    _anchors: dict[int, Relation] = field(default_factory=dict)
    _mentioned: set[int] = field(default_factory=set)

    def relations(self, node: Any, names: Mapping[str, CommonTable], parent: Scope | None) -> list[Relation]:
        """The ways to a query's rows. Raises QueryError."""
        with self._deeper(node):
            names = self._with_ctes(node, names)
            match node:
                case exp.Subquery():
                    ways = self._bind_enclosed(node, names, parent)
                case exp.SetOperation():
                    ways = self._set_operation(node, names, parent)
                    if not node.args.get("by_name"):
                        SelectBinder(self, node, names, parent).check_order(ways[0])
                case exp.Select():
                    ways = self._select(node, names, parent)
                    if not node.meta.get(PIPED):
                        ways = [replace(way, members={}, qualified={}) for way in ways]
                case exp.Values():
                    ways = [self._values(node, names, parent)]
                case exp.Table():
                    ways = self.from_item(node, names, parent)
                case _:
                    raise self.query.error("this is no query", node, found=node.sql("spark")[:60])
            ways = self._with_unused(node, names, ways)
        if limit := node.args.get("limit") or node.args.get("offset"):
            ways = [veil_columns(way, Veil(LIMITED, self.query.place_of(limit))) for way in ways]
        return ways if len(ways) <= WAYS_LIMIT else [merge_ways(ways)]

    def from_item(self, node: Any, names: Mapping[str, CommonTable], parent: Scope | None) -> list[Relation]:
        """The relations of one FROM item, without its alias."""
        match node:
            case exp.Table() if isinstance(node.this, exp.Func):
                self._refuse_hidden_table(node)
                ways = [_table_function(node)]
            case exp.Table():
                ways = self._table(node, names)
            case exp.Lateral() | exp.Unnest():
                raise self.query.error("a LATERAL item comes after what it speaks of", node)
            case _:
                ways = self.relations(node, names, parent)
        if sample := node.args.get("sample"):
            ways = [veil_columns(way, Veil(SAMPLE, self.query.place_of(sample))) for way in ways]
        for pivot in node.args.get("pivots") or ():
            veil = Veil("PIVOT", self.query.place_of(pivot))
            ways = [behind_pivot(way, pivot, veil) for way in ways]
        columns = _column_aliases(aliased(node))
        return [_rename(way, columns) for way in ways] if columns else ways

    def _refuse_hidden_table(self, node: Any) -> None:
        """Raises QueryError for IDENTIFIER(..), and for a function of rows that reads a table."""
        called = [part for part in node.find_all(exp.Anonymous) if str(part.this).lower() in _HIDING_TABLES]
        if called or node.this.find(exp.Query):
            expected = "the name of a table, or a query, in FROM"
            raise self.query.error("a function hides the table that is read", node, expected=expected)

    def _with_ctes(self, node: Any, names: Mapping[str, CommonTable]) -> Mapping[str, CommonTable]:
        clause = node.args.get("with_")
        for cte in clause.expressions if clause else ():
            names = {**names, cte.alias.lower(): CommonTable(cte.this, names, _column_aliases(cte))}
            if clause.args.get("recursive"):
                own = dict(names)
                own[cte.alias.lower()] = CommonTable(cte.this, own, _column_aliases(cte))
                names = own
        return names

    def _with_unused(self, node: Any, names: Mapping[str, CommonTable], ways: list[Relation]) -> list[Relation]:
        """The ways, with the tables of CTEs that the query does not use: Spark analyses them but does not read them."""
        clause = node.args.get("with_")
        for cte in clause.expressions if clause else ():
            table = names[cte.alias.lower()]
            if table.node is cte.this and id(cte.this) not in self._mentioned:
                unused = merge_ways(self._common_table(table))
                ways = [_beside(way, unused) for way in ways]
        return ways

    def _select(self, node: Any, names: Mapping[str, CommonTable], parent: Scope | None) -> list[Relation]:
        """A SELECT: one relation for each combination of its FROM items' ways."""
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.args.get("on") is not None:
            hint = "QUALIFY row_number() OVER (PARTITION BY .. ORDER BY ..) = 1 takes one row of each"
            raise self.query.error("Spark has no DISTINCT ON", node, hint=hint)
        from_clause = node.args.get("from_")
        items = [from_clause.this] if from_clause else []
        items += [join.this for join in node.args.get("joins") or ()]
        ways = [self._ways(item, names, parent) for item in items]
        total = 1
        for way in ways:
            total *= len(way)
        if total > WAYS_LIMIT:
            ways = [[merge_ways(way)] for way in ways]
        return [SelectBinder(self, node, names, parent).bind(list(chosen)) for chosen in product(*ways)]

    def _ways(self, item: Any, names: Mapping[str, CommonTable], parent: Scope | None) -> list[Relation]:
        """A FROM item's ways. A LATERAL item has a stand-in: it is bound when its neighbours are known."""
        is_made = isinstance(item, (exp.Lateral, exp.Unnest)) or _is_sequence(item)
        return [LATERAL] if is_made else self.from_item(item, names, parent)

    def _bind_enclosed(self, node: Any, names: Mapping[str, CommonTable], parent: Scope | None) -> list[Relation]:
        """A query in brackets, or joined tables in brackets."""
        inner = node.this
        joins = inner.args.get("joins") or []
        if isinstance(inner, exp.Table) or (isinstance(inner, exp.Subquery) and joins):
            bare = inner.copy()
            bare.set("joins", None)
            star = exp.Select(
                expressions=[exp.Star()], from_=exp.From(this=bare), joins=[join.copy() for join in joins]
            )
            return self._select(star, names, parent)
        return self.relations(inner, names, parent)

    def _values(self, node: Any, names: Mapping[str, CommonTable], parent: Scope | None) -> Relation:
        """The rows of VALUES: each column is chosen by the number of the row."""
        rows = node.expressions
        width = len(rows[0].expressions) if rows and isinstance(rows[0], exp.Tuple) else 1
        columns = _column_aliases(node) or tuple(f"col{at + 1}" for at in range(width))
        if len(rows) > CONSTANTS_LIMIT:
            return of_names(columns, [Opaque(why="a table of constants", of_data=False)] * len(columns))
        binder = SelectBinder(self, exp.Select(), names, parent)
        row = Element(Call("sequence", (_number(1), _number(len(rows)))))
        cells = [[binder.translator.bind(cell) for cell in _cells(row)] for row in rows]
        return of_names(
            columns,
            [
                Call("elt", (row, *(cell[at] if at < len(cell) else Opaque() for cell in cells)))
                for at in range(len(columns))
            ],
        )

    def _set_operation(self, node: Any, names: Mapping[str, CommonTable], parent: Scope | None) -> list[Relation]:
        first, others = _branches(node)
        ways = self.relations(first, names, parent)
        for operation in others:
            right = self.relations(operation.expression, names, parent)
            if isinstance(operation, exp.Except):
                right = [replace(way, subtracts=True) for way in right]
            ways += right if operation.args.get("by_name") else [_align(way, ways[0]) for way in right]
        return ways

    def _table(self, node: Any, names: Mapping[str, CommonTable]) -> list[Relation]:
        name = node.name.lower()
        if node.args.get("db") or not name:
            raise self._qualified(node)
        if name in names:
            return self._common_table(names[name])
        if name in self.tables.views:
            return self._view(self.tables.views[name])
        table = self.tables.tables.get(name)
        if table is None:
            known = {**self.tables.tables, **self.tables.views, **names}
            raise self.query.error("unknown table", node, found=node.name, hint=did_you_mean(name, known))
        self._count += 1
        if self._count > OCCURRENCE_LIMIT:
            raise self.query.error("this query reads too many tables", expected=f"at most {OCCURRENCE_LIMIT} mentions")
        occurrence = Occurrence(table.name, self.query.place_of(node.this))
        columns = (*table.partition_columns, *(table.columns or ()))
        return [
            Relation(
                {column: Column(occurrence, column) for column in columns},
                (occurrence,),
                (),
                {occurrence: ()},
                occurrence if table.columns is None else None,
            )
        ]

    def _qualified(self, node: Any) -> QueryError:
        """The error for a table with a schema that does not belong to its entity."""
        name, known = node.name.lower(), {**self.tables.tables, **self.tables.views}
        named = [other for other in (name, f"{node.db}_{name}".lower()) if other in known]
        hint = f"write {' or '.join(named)}" if named else did_you_mean(name, known)
        return self.query.error(
            "no such table" if not named else "two tables can be meant" if len(named) > 1 else "tables are named alone",
            node,
            found=node.sql("spark"),
            expected="the name of an entity, alone or after its layer or one of the project's schemas",
            hint=hint,
        )

    def _common_table(self, table: CommonTable) -> list[Relation]:
        if id(table.node) in self._active:
            return [self._anchors.get(id(table.node), ANY_COLUMN.relation(Opaque()))]
        self._active.add(id(table.node))
        self._mentioned.add(id(table.node))
        try:
            if _is_recursive(table) and isinstance(table.node, exp.SetOperation):
                self._anchors[id(table.node)] = self._anchor(table)
            ways = self.relations(table.node, table.names, None)
        finally:
            self._active.discard(id(table.node))
        if _is_recursive(table):
            ways = [veil_columns(way, Veil("a recursive query", self.query.place_of(table.node))) for way in ways]
        return [_rename(way, table.columns) for way in ways] if table.columns else ways

    def _anchor(self, table: CommonTable) -> Relation:
        """The columns of a recursive CTE inside itself, made from the columns of its first rows."""
        begin = merge_ways(self.relations(_branches(table.node)[0], table.names, None))
        names = table.columns if len(table.columns) == len(begin.columns) else tuple(begin.columns)
        columns = named(names, [Opaque((bound,)) for bound in begin.columns.values()])
        every = Opaque(tuple(begin.columns.values()))
        return Relation(columns, open=ANY_COLUMN.open(every) if begin.is_open else ())

    def _view(self, view: Query) -> list[Relation]:
        if id(view.tree) in self._active:
            raise view.error("a view that reads itself")
        around, self.query = self.query, view
        self._active.add(id(view.tree))
        try:
            return self.relations(view.tree, {}, None)
        finally:
            self._active.discard(id(view.tree))
            self.query = around

    @contextmanager
    def _deeper(self, node: Any) -> Iterator[None]:
        self._depth += 1
        try:
            if self._depth > DEPTH_LIMIT:
                raise self.query.error("nested too deep", node, expected=f"at most {DEPTH_LIMIT} queries in each other")
            self._queries += 1
            if self._queries > QUERY_LIMIT:
                expected = f"at most {QUERY_LIMIT:,} queries, each CTE counted at each mention"
                raise self.query.error("this query holds too many queries", node, expected=expected)
            yield
        finally:
            self._depth -= 1


def bind(query: Query, tables: Tables) -> list[Relation]:
    """The relations of a whole query. Raises QueryError."""
    return with_deep_stack(lambda: Binder(query, tables).relations(query.tree, {}, None), query.where(Place()))


def _branches(node: Any) -> tuple[Any, list[Any]]:
    """The first query of a chain such as `a UNION b UNION c`, and its operations, which the parser has in pairs."""
    operations = [node]
    while isinstance(operations[-1].this, exp.SetOperation) and not _is_cut(operations[-1].this):
        operations.append(operations[-1].this)
    return operations[-1].this, operations[::-1]


def _is_cut(node: Any) -> bool:
    return any(node.args.get(name) for name in ("with_", "limit", "offset"))


def _column_aliases(node: Any) -> tuple[str, ...]:
    alias = node.args.get("alias")
    return tuple(column.name.lower() for column in alias.columns) if isinstance(alias, exp.TableAlias) else ()


def _beside(relation: Relation, unused: Relation) -> Relation:
    """The relation, with the tables of another one that does not contribute rows."""
    return replace(
        relation,
        occurrences=relation.occurrences + unused.occurrences,
        constraints=relation.constraints + unused.constraints,
        sides={**relation.sides, **unused.sides},
    )


def _rename(relation: Relation, names: tuple[str, ...]) -> Relation:
    if len(names) != len(relation.columns) or relation.is_open:
        columns = named(names, [Opaque(tuple(relation.columns.values()))] * len(names))
    else:
        columns = named(names, relation.columns.values())
    return replace(relation, columns=columns, ambiguous=frozenset(repeated(columns)))


def _align(relation: Relation, first: Relation) -> Relation:
    """A branch with the column names of the first one.

    If `*` covers unknown columns, only the partition columns can be matched: they end every table.
    """
    if not relation.is_open and not first.is_open:
        names, bounds = list(first.columns), list(relation.columns.values())
        if len(names) != len(bounds):
            bounds = [Opaque(tuple(bounds))] * len(names)
        return replace(
            relation,
            columns=dict(zip(names, bounds, strict=True)),
            ambiguous=first.ambiguous,
            qualified=first.qualified,
        )
    in_order = relation.ends_with_time and first.ends_with_time
    if in_order and relation.is_open and first.is_open and list(relation.columns) == list(first.columns):
        return relation
    return Relation(
        {name: Opaque(tuple(relation.columns.values())) for name in first.columns},
        relation.occurrences,
        relation.constraints,
        relation.sides,
        None,
        (Open(veil_columns(relation, UNNAMED_VEIL)),),
        relation.indirect,
        subtracts=relation.subtracts,
        ambiguous=first.ambiguous,
        qualified=first.qualified,
    )


def _cells(row: Any) -> list[Any]:
    """The cells of a row of VALUES."""
    return row.expressions if isinstance(row, exp.Tuple) else [row]


def _is_sequence(item: Any) -> bool:
    """`FROM explode(sequence(...))`, or of an array."""
    function = item.this if isinstance(item, exp.Table) else None
    return isinstance(function, exp.Explode) and isinstance(function.this, LISTS)


def _table_function(node: Any) -> Relation:
    """A table function such as `range(10)`."""
    if of_range := _range(node.this):
        return Relation({(_column_aliases(node) or ("id",))[0]: of_range})
    made = Opaque(why="a table function", of_data=False)
    if names := _column_aliases(node):
        return of_names(names, [made] * len(names))
    is_range = isinstance(node.this, exp.Anonymous) and str(node.this.this).lower() == "range"
    return (MadeColumns(("id",)) if is_range else made_columns(node.this) or ANY_COLUMN).relation(made)


def _constant(node: Any) -> int | None:
    """A whole number as written; None for anything else."""
    sign = 1
    while isinstance(node, (exp.Neg, exp.Paren)):
        sign, node = (-sign if isinstance(node, exp.Neg) else sign), node.this
    is_number = isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdecimal()
    return sign * int(node.this) if is_number else None


def _number(value: int) -> Literal:
    return Literal(point(Type.NUMBER, value))


def _range(function: Any) -> Element | None:
    """The numbers of `range(end)` and `range(start, end, step)`, if all are constants."""
    if not isinstance(function, exp.Anonymous) or str(function.this).lower() != "range":
        return None
    values = [value for argument in function.expressions if (value := _constant(argument)) is not None]
    if len(values) != len(function.expressions) or not 1 <= len(values) <= len(("start", "end", "step")):
        return None
    start, end, step = (0, *values, 1) if len(values) == 1 else (*values, 1)[:3]
    numbers = range(start, end, step) if step else range(0)
    if not numbers:
        return None
    return Element(Call("sequence", (_number(numbers[0]), _number(numbers[-1]), _number(step))))


def _is_recursive(table: CommonTable) -> bool:
    return any(name.node is table.node for name in table.names.values())
