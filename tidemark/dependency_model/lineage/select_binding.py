"""Binds one SELECT: joins its FROM items, puts conditions where they restrict rows, and makes its columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from sqlglot import exp

from tidemark.dependency_model.lineage.bound_expression import (
    Bound,
    Call,
    Column,
    Exists,
    InQuery,
    JoinSource,
    Occurrence,
    Opaque,
    Side,
    field_names,
    field_of,
    tables_in,
)
from tidemark.dependency_model.lineage.generators import ANY_COLUMN, MadeColumns, made_columns
from tidemark.dependency_model.lineage.listed_rows import listed_rows
from tidemark.dependency_model.lineage.made_up_rows import drops_made_up_rows
from tidemark.dependency_model.lineage.merged_columns import FullJoins, derived, equal_columns
from tidemark.dependency_model.lineage.relation import (
    LATERAL,
    WINDOWED,
    AnyColumn,
    Constraint,
    Open,
    Relation,
    Veil,
    add_column,
    merge_ways,
    of_names,
    repeated,
    veil_columns,
    without_elements,
    written_name,
)
from tidemark.dependency_model.lineage.scope import UNSURE, Item, Scope, Shared
from tidemark.dependency_model.lineage.sqlglot_expressions import LISTS, Translator, all_hold, chained
from tidemark.dependency_model.lineage.unnamed_columns import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.dependency_model.lineage.parsed_query import Query
    from tidemark.dependency_model.lineage.scope import CommonTable


class QueryBinder(Protocol):
    """Binds the queries inside a SELECT; `query` is the text that its places refer to."""

    query: Query

    def relations(self, node: Any, names: Mapping[str, CommonTable], parent: Scope | None) -> list[Relation]:
        """The ways to a query's rows. Raises QueryError."""


@dataclass(slots=True, eq=False)
class SelectBinder:
    """Binds one SELECT with one way chosen for each FROM item."""

    binder: QueryBinder
    node: Any
    names: Mapping[str, CommonTable]
    parent: Scope | None
    scope: Scope = field(init=False)
    translator: Translator = field(init=False)
    occurrences: list[Occurrence] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)
    sides: dict[Occurrence, tuple[Side, ...]] = field(default_factory=dict)
    indirect: list[Bound] = field(default_factory=list)
    own: list[Bound] = field(default_factory=list)
    """The conditions of this SELECT itself, for EXISTS and IN."""

    of_inner_joins: list[Bound] = field(default_factory=list)
    left_joins: list[tuple[Item, frozenset[Occurrence], list[Bound]]] = field(default_factory=list)
    """Each item with the occurrences on its left, and its conditions."""

    full_joins: FullJoins | None = None

    columns: dict[str, Bound] = field(default_factory=dict)
    attributes: dict[str, set[object]] = field(default_factory=dict)
    """What each name of its list means."""

    qualified: dict[str, dict[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.scope = Scope(self.binder.query, self.parent)
        self.translator = Translator(self.scope, self)

    def bind(self, ways: Sequence[Relation]) -> Relation:
        """The relation of the SELECT. Raises QueryError."""
        joins = self.node.args.get("joins") or []
        makes_up = any((join.side or "") in ("LEFT", "RIGHT", "FULL") for join in joins)
        if ways:
            self._add(
                self.node.args["from_"].this, self._resolved_way(self.node.args["from_"], ways[0]), makes_up=makes_up
            )
            waiting = list(self.node.args.get("laterals") or ())
            for join, relation in zip(joins, ways[1:], strict=True):
                while waiting and self._is_before(waiting[0], join):
                    lateral = waiting.pop(0)
                    self._add(lateral, self._lateral(lateral), makes_up=makes_up)
                self._join(join, self._resolved_way(join, relation), makes_up=makes_up)
            for lateral in waiting:
                self._add(lateral, self._lateral(lateral), makes_up=False)
        where = self.node.args.get("where")
        before = len(self.own)
        if where is not None:
            self._restrict(where.this, frozenset(self._visible()))
        if not any((join.side or "").upper() in ("RIGHT", "FULL") for join in joins):
            self._restrict_by_left_joins([*self.of_inner_joins, *self.own[before:]])
        return self._result()

    def _is_before(self, lateral: Any, join: Any) -> bool:
        """Whether a LATERAL VIEW comes before a join, which can then refer to it."""
        before, behind = (
            self.binder.query.place_of(node) for node in (lateral.args.get("alias") or lateral, join.this)
        )
        return (before.line, before.column) < (behind.line, behind.column)

    def _resolved_way(self, item: Any, way: Relation) -> Relation:
        return self._lateral(item.this) if way is LATERAL else way

    # --- FROM -------------------------------------------------------------------------------------------------------

    def _add(self, node: Any, relation: Relation, *, makes_up: bool) -> Item:
        alias = (aliased(node).alias_or_name or "").lower()
        item = Item(alias, relation, JoinSource(alias) if makes_up else None)
        self.scope.items.append(item)
        self._take_in(relation)
        return item

    def _take_in(self, relation: Relation) -> None:
        self.occurrences += relation.occurrences
        self.constraints += relation.constraints
        self.indirect += relation.indirect
        self.sides.update(relation.sides)
        self.scope.sides.update(relation.sides)  # type: ignore[arg-type]

    def _join(self, join: Any, relation: Relation, *, makes_up: bool) -> None:
        side, kind = (join.side or "").upper(), (join.kind or "").upper()
        left = list(self.scope.items)
        item = self._add(join.this, relation, makes_up=makes_up)
        ours = frozenset(relation.occurrences)
        theirs = frozenset(self._visible()) - ours
        targets = _targets(side, kind, theirs, ours)
        conditions = self._conditions(join, left, item, side)
        for condition in conditions:
            self._constrain(condition, targets)
        if not side:
            self.of_inner_joins += conditions
        elif side == "LEFT" and not kind.startswith(("SEMI", "ANTI")):
            self.left_joins.append((item, theirs, conditions))
        if kind in ("SEMI", "ANTI"):
            self.scope.items.remove(item)
        else:
            self._make_up(side, left, item)
            self._merge_columns(side, left, item, conditions)

    def _merge_columns(self, side: str, left: Sequence[Item], item: Item, conditions: Sequence[Bound]) -> None:
        """Note which columns a FULL JOIN merges; a later RIGHT JOIN hides them."""
        if side == "FULL":
            known = self.full_joins.columns if self.full_joins else ()
            columns = equal_columns(known, conditions, left[0].source if len(left) == 1 else None, item.source)
            before = {name: len(sides) for shown in (*left, item) for name, sides in shown.relation.sides.items()}
            own = {name: range(before.get(name, 0), len(self.sides[name])) for name in self._visible()}
            self.full_joins = FullJoins(tuple(columns), own)
        elif side == "RIGHT":
            self.full_joins = None

    def _conditions(self, join: Any, left: Sequence[Item], item: Item, side: str) -> list[Bound]:
        """The conditions of ON, USING or NATURAL, one for each conjunct."""
        conditions = [self.translator.bind(conjunct) for conjunct in _conjuncts(join.args.get("on"))]
        names = [column.name.lower() for column in join.args.get("using") or ()]
        is_natural = (join.method or "").upper() == "NATURAL"
        if is_natural:
            names = [
                name for name in item.relation.columns if any(name in earlier.relation.columns for earlier in left)
            ]
        for name in names:
            right = item.find(name)
            owner = next((other for other in left if other.find(name)), None)
            before = owner.find(name) if owner else None
            if right is None or owner is None or before is None:
                raise self.binder.query.error("no such column on both sides", join, found=name)
            known = self.scope.shared.get(name) if (owner, name) in self.scope.merged else None
            if not is_natural and (right.ambiguous or (before.ambiguous and known is None)):
                raise self.scope.ambiguous(name, [], join)
            earlier = known.bound if known else before.bound
            conditions.append(Call("=", (earlier, right.bound)))
            self.scope.merged |= {(owner, name), (item, name)}
            attribute, tables = item.attribute(name) if side == "RIGHT" else owner.attribute(name)
            if known and side != "RIGHT":
                attribute, tables = known.attribute, known.tables
            if side == "FULL":
                attribute, tables = (object(), ""), []
            bound = _merge_columns(side, earlier, right.bound)
            self.scope.shared[name] = Shared(bound, attribute, tables)
        self.scope.shared = {name: self.scope.shared[name] for name in dict.fromkeys([*names, *self.scope.shared])}
        return conditions

    def _make_up(self, side: str, left: Sequence[Item], item: Item) -> None:
        """Records whose rows this join makes up if there is no partner."""
        made_up = [item] if side == "LEFT" else [*left] if side == "RIGHT" else [*left, item] if side == "FULL" else []
        for shown in made_up:
            shown.relation = without_elements(shown.relation)
        if side in ("LEFT", "FULL"):
            self._around(item.relation.occurrences, frozenset({item.source} if item.source else ()))
        if side in ("RIGHT", "FULL"):
            sources = frozenset(earlier.source for earlier in left if earlier.source)
            self._around([name for earlier in left for name in earlier.relation.occurrences], sources)

    def _around(self, occurrences: Sequence[Occurrence], side: Side) -> None:
        for occurrence in occurrences:
            self.sides[occurrence] = (*self.sides.get(occurrence, ()), side)
            self.scope.sides[occurrence] = self.sides[occurrence]

    def _restrict_by_left_joins(self, known: list[Bound]) -> None:
        """Applies a LEFT JOIN's conditions to the rows on its left, if a known condition drops its made-up rows."""
        waiting = list(self.left_joins)
        while inner := [
            join
            for join in waiting
            if (source := join[0].source) and any(drops_made_up_rows(condition, source) for condition in known)
        ]:
            for item, left, conditions in inner:
                waiting = [join for join in waiting if join[0] is not item]
                known = [*known, *conditions]
                for condition in conditions:
                    if chosen := left & tables_in(condition):
                        self.constraints.append(Constraint(condition, chosen, self.scope.all_sides()))

    def _visible(self) -> list[Occurrence]:
        return [occurrence for item in self.scope.items for occurrence in item.relation.occurrences]

    def _lateral(self, node: Any) -> Relation:
        """LATERAL VIEW, or a query that refers to its neighbours."""
        inner = node.this
        if isinstance(inner, exp.Query):
            relation = merge_ways(self.binder.relations(inner, self.names, self.scope))
            return relation
        alias = node.args.get("alias")
        names = [column.name.lower() for column in alias.columns] if isinstance(alias, exp.TableAlias) else []
        if isinstance(inner, exp.Explode) and isinstance(inner.this, LISTS):
            return self._elements(inner, names)
        call = self.translator.opaque(inner)
        made = MadeColumns(tuple(names)) if names else made_columns(inner) or ANY_COLUMN
        return made.relation(Opaque((call,), call.why, call.place, of_data=False))

    def _elements(self, node: Any, names: Sequence[str]) -> Relation:
        """`explode` and `posexplode` of a sequence or an array: its values are the last column."""
        *before, last = names or (["pos", "col"] if isinstance(node, exp.Posexplode) else ["col"])
        places = [Opaque(why="a place in a list", of_data=False)] * len(before)
        return of_names([*before, last], [*places, self.translator.element(node.this)])

    # --- conditions -------------------------------------------------------------------------------------------------

    def _restrict(self, node: Any, targets: frozenset[Occurrence]) -> None:
        for conjunct in _conjuncts(node):
            self._constrain(self.translator.bind(conjunct), targets)

    def _constrain(self, condition: Bound, targets: frozenset[Occurrence]) -> None:
        self.indirect.append(condition)
        self.own.append(condition)
        spoken_of = tables_in(condition)
        chosen = targets & spoken_of if spoken_of else targets
        if chosen or (not targets and listed_rows(condition)):
            self.constraints.append(Constraint(condition, chosen, self.scope.all_sides()))
        for own in derived(condition, self._full_joins(), self.scope.all_sides()):
            if chosen := targets & own.targets:
                self.constraints.append(Constraint(own.condition, chosen, own.sides))

    def _full_joins(self) -> tuple[FullJoins, ...]:
        """Those of this SELECT, and of the queries that it reads."""
        inside = (joins for item in self.scope.items for joins in item.relation.full_joins)
        return (*([self.full_joins] if self.full_joins else []), *inside)

    # --- the result -------------------------------------------------------------------------------------------------

    def _result(self) -> Relation:
        columns, opened = self.columns, self._columns()
        group = self.node.args.get("group")
        unclear, self.scope.unclear = self.scope.unclear, set()
        self._bind_group(group)
        self.scope.unclear = unclear
        of_sets = self._veil_of_sets(group)
        self.scope.is_selected = True
        veils = of_sets + self._veil_of_windows()
        everything = frozenset(self._visible())
        having, qualify = self.node.args.get("having"), self.node.args.get("qualify")
        self._restrict_below(having, of_sets, everything)
        self._restrict_below(qualify, veils, everything)
        ambiguous = frozenset(name for name, meant in self.attributes.items() if len(meant) > 1)
        self.check_order(Relation(columns, open=tuple(opened), ambiguous=ambiguous))
        relation = Relation(
            columns,
            tuple(dict.fromkeys(self.occurrences)),
            tuple(self.constraints),
            dict(self.sides),
            None,
            tuple(opened),
            tuple(self.indirect),
            self._members(),
            self._ends_with_time(),
            any(item.relation.subtracts for item in self.scope.items),
            repeated(columns),
            self._full_joins(),
            ambiguous,
            self.qualified,
        )
        for veil in veils:
            relation = veil_columns(relation, veil)
        return relation

    def _members(self) -> dict[str, tuple[Relation, JoinSource | None]]:
        """The items by name, also the items of joins in brackets.

        A list of columns leaves those that USING shows as another one.
        """
        members: dict[str, tuple[Relation, JoinSource | None]] = {}
        for item in self.scope.items:
            if item.alias:
                members[item.alias] = item.relation, item.source
            elif item.source is None:
                members.update(item.relation.members)
        if self.node.expressions == [exp.Star()]:
            return members
        hidden: dict[str, tuple[Relation, JoinSource | None]] = {}
        for table, (relation, source) in members.items():
            names = [name for item, name in self.scope.merged if item.alias == table]
            columns = {name: match.bound for name in names if (match := relation.find(name))}
            if columns:
                hidden[table] = Relation(columns), source
        return hidden

    def _restrict_below(self, clause: Any, veils: Sequence[Veil], targets: frozenset[Occurrence]) -> None:
        """HAVING and QUALIFY restrict the rows of FROM by the values that no veil hides."""
        for conjunct in _conjuncts(clause.this if clause is not None else None):
            condition = self.translator.bind(conjunct)
            for veil in veils:
                condition = veil.over(condition)
            self._constrain(condition, targets)

    def check_order(self, listed: Relation) -> None:
        """ORDER BY and similar clauses name columns of the select list, or else of FROM. Raises QueryError.

        Behind DISTINCT they name only columns of the list.
        """
        clear = {name: bound for name, bound in listed.columns.items() if name not in listed.ambiguous}
        self.scope.unclear |= listed.ambiguous
        is_distinct = bool(self.node.args.get("distinct"))
        shown = replace(listed, columns=clear, qualified=self.qualified if is_distinct else {})
        around = self.parent if is_distinct else self.scope
        translator = Translator(Scope(self.binder.query, around, [Item("", shown, None)]), self)
        for name in ("order", "sort", "cluster", "distribute"):
            clause = self.node.args.get(name)
            for part in clause.expressions if clause is not None else ():
                translator.bind(part.this if isinstance(part, exp.Ordered) else part)

    def _columns(self) -> list[Open]:
        """Lists the columns; the open relations of its stars."""
        opened: list[Open] = []
        for at, node in enumerate(self.node.expressions):
            star = _star(node)
            if star is not None:
                opened += self._spread(star, _qualifier(node))
                continue
            if isinstance(node, exp.Aliases):
                for name, bound in self._several(node):
                    self._list(name, bound)
                continue
            made = made_columns(node)
            if made is not None:
                opened += self._generated(node, made)
                continue
            bound = self.translator.bind(node)
            name = name_of(node, at)
            if isinstance(node, exp.Alias):
                self.scope.unclear |= self.scope.named & {name}
                self._list(name, bound, (self.scope, name) if name not in self.scope.named else object())
                self.scope.named.add(name)
            else:
                self._list(name, bound, *self.scope.attribute(node))
            self.scope.aliases.setdefault(name, bound)
        return opened

    def _list(self, name: str, bound: Bound, attribute: object = None, tables: Sequence[str] = ()) -> None:
        """Add a column to the list; it is one of its own unless it is an attribute of a FROM item."""
        key = add_column(self.columns, name, bound)
        meant = self.attributes.setdefault(name, set())
        if attribute != UNSURE:
            meant.add(attribute or object())
        for table in tables:
            self.qualified.setdefault(table, {}).setdefault(name, key)

    def _generated(self, node: Any, made: MadeColumns) -> tuple[Open, ...]:
        """The columns of a function that makes rows, if the query does not name them."""
        bound = self.translator.bind(node)
        for name in made.names:
            self._list(name, bound)
            self.scope.aliases.setdefault(name, bound)
        return made.open(bound)

    def _several(self, node: Any) -> list[tuple[str, Bound]]:
        """The columns of `posexplode(..) AS (at, value)`."""
        inner, names = node.this, [name.name.lower() for name in node.expressions]
        if isinstance(inner, exp.Explode) and isinstance(inner.this, LISTS):
            return [*zip(names, self._elements(inner, names).columns.values(), strict=True)]
        made = self.translator.opaque(inner)
        return [(name, made) for name in names]

    def _ends_with_time(self) -> bool:
        """Whether it begins with the columns of its only FROM item, in their order."""
        relations = [item.relation for item in self.scope.items]
        stars = [bool(_star(node)) for node in self.node.expressions]
        return stars[:1] == [True] and not any(stars[1:]) and len(relations) == 1 and relations[0].ends_with_time

    def _spread(self, star: Any, qualifier: Sequence[str]) -> list[Open]:
        """Lists the columns of a star; the relations that may have more of them."""
        table = self.scope.starred(qualifier)
        if qualifier and table is None:
            return self._spread_struct(star, qualifier)
        without = self._without(star)
        for name, shared in self.scope.shared.items() if not qualifier else ():
            if (None, name) not in without:
                self._list(name, shared.bound, shared.attribute, shared.tables)
        opened = []
        for item in self.scope.items:
            if table and not item.has(table):
                continue
            for key in item.listed(table):
                name = written_name(key.removeprefix(f"{table}."))
                is_shown = qualifier or (item, name) not in self.scope.merged
                if is_shown and not {(None, name), (item, name)} & without:
                    self._list(name, item.bound_of(key, table), *item.attribute(key))
            if item.relation.is_open:
                names = frozenset(name for owner, name in without if owner in (None, item))
                opened.append(Open(item.relation, item.source, names))
                for known_as in [item.alias] if item.alias else item.relation.qualified:
                    self.qualified.setdefault(known_as, {})
        return opened

    def _without(self, star: Any) -> set[tuple[Item | None, str]]:
        """The columns that EXCEPT leaves out, of one item or of any. Raises QueryError if there is none, or several."""
        result: set[tuple[Item | None, str]] = set()
        for column in star.args.get("except_") or ():
            parts = [part.name.lower() for part in (column.parts if isinstance(column, exp.Column) else [column])]
            owners = [item for item in self.scope.items if item.has(parts[0])] if parts[1:] else [None]
            if isinstance(column, exp.Column):
                self.scope.column(column)
            result |= {(owner, parts[1 if parts[1:] else 0]) for owner in owners}
        return result

    def _spread_struct(self, star: Any, qualifier: Sequence[str]) -> list[Open]:
        without = frozenset(column.name.lower() for column in star.args.get("except_") or ())
        struct = self.scope.struct(qualifier, star)
        names = [name for name in field_names(struct) if name not in without]
        for name in names:
            self._list(name, field_of(struct, name))
        return [] if names else [Open(AnyColumn({}, made_of=Opaque((struct,))), None, without)]

    def _bind_group(self, group: Any) -> None:
        for expression in group.expressions if group is not None else ():
            if not isinstance(expression, (exp.Literal, exp.Rollup, exp.Cube, exp.GroupingSets)):
                self.indirect.append(self.translator.bind(expression))

    def _veil_of_sets(self, group: Any) -> list[Veil]:
        """ROLLUP, CUBE and GROUPING SETS hide each column that is not a key of every set."""
        if not _has_sets(group):
            return []
        keys = frozenset(self.translator.bind(key) for key in _keys_of_each_set(group))
        return [Veil("GROUP BY with sets that do not all hold them", self.binder.query.place_of(group), keys)]

    def _veil_of_windows(self) -> list[Veil]:
        """A window hides each column that is not in its PARTITION BY."""
        windows = [window for part in self._outside_queries() for window in _windows(part)]
        return [
            Veil(
                WINDOWED,
                self.binder.query.place_of(window),
                frozenset(self.translator.all_of(resolved.args.get("partition_by") or [])),
            )
            for window, resolved in zip(windows, self._resolve_windows(windows), strict=True)
        ]

    def _resolve_windows(self, windows: Sequence[Any]) -> list[Any]:
        """The windows; a reference to a named window is replaced by that window."""
        named = {window.name.lower(): window for window in self.node.args.get("windows") or ()}
        return [named.get(window.text("alias").lower(), window) for window in windows]

    def _outside_queries(self) -> list[Any]:
        qualify = self.node.args.get("qualify")
        return [*self.node.expressions, *([qualify.this] if qualify is not None else [])]

    # --- queries in expressions -------------------------------------------------------------------------------------

    def exists(self, node: Any, scope: Scope) -> Bound:
        """`EXISTS (SELECT ...)`."""
        return self._bind_exists(node, scope)[1]

    def contains(self, wanted: Sequence[Bound], node: Any, scope: Scope) -> Bound:
        """`wanted IN (SELECT ...)`.

        A row's columns are compared one by one, which never leaves out a row that counts.
        """
        relation, rows = self._bind_exists(node, scope)
        given = [*relation.columns.values(), *[Opaque()] * len(wanted)]
        pairs = list(zip(wanted, given, strict=False))
        for value, own in pairs:
            # A partition column is never NULL. A row with another value changes neither IN nor NOT IN.
            if isinstance(value, Column) and isinstance(own, Column):
                ours = frozenset(relation.occurrences) & {own.occurrence}
                self.constraints.append(Constraint(Call("=", (value, own)), ours, self.scope.all_sides()))
        return all_hold([InQuery(value, own, rows) for value, own in pairs])

    def scalar(self, node: Any, scope: Scope) -> Bound:
        """A query that stands for one value: known only if it reads no table."""
        relation, _ = self._bind_exists(node, scope)
        columns = tuple(relation.columns.values())
        inner = node.this if isinstance(node, exp.Subquery) else node
        if len(columns) == 1 and isinstance(inner, exp.Select) and not inner.args.get("from_"):
            return columns[0]
        why = "a value that the data decides"
        return Opaque(columns, why, self.binder.query.place_of(node), tuple(relation.indirect))

    def _bind_exists(self, node: Any, scope: Scope) -> tuple[Relation, Exists]:
        """The query's relation and the conditions on its rows;

        no conditions if a row may come without a table's row.
        """
        inner = node.this if isinstance(node, exp.Subquery) and not node.args.get("with_") else node
        relation = merge_ways(self.binder.relations(inner, self.names, scope))
        self.occurrences += relation.occurrences
        self.constraints += relation.constraints
        self.sides.update(relation.sides)
        simple = isinstance(inner, exp.Select) and _keeps_rows(inner) and not any(relation.sides.values())
        if not simple:
            return relation, Exists((), relation.occurrences, (), tuple(relation.indirect))
        own = frozenset(relation.occurrences)
        conditions = [
            constraint.condition
            for constraint in relation.constraints
            if constraint.targets <= own and (not constraint.targets or not tables_in(constraint.condition) <= own)
        ]
        direct = tuple(occurrence for occurrence in relation.occurrences if self._is_direct(inner, occurrence))
        return relation, Exists(tuple(conditions), relation.occurrences, direct, tuple(relation.indirect))

    def _is_direct(self, select: Any, occurrence: Occurrence) -> bool:
        """Whether every row of the query contains a row of the occurrence: it is a FROM item itself."""
        items = [select.args["from_"].this] if select.args.get("from_") else []
        items += [join.this for join in select.args.get("joins") or () if not (join.side or join.kind)]
        tables = [item for item in items if isinstance(item, exp.Table) and item.name.lower() not in self.names]
        places = [self.binder.query.place_of(table.this) for table in tables if table.name.lower() == occurrence.table]
        return occurrence.place in places


def aliased(item: Any) -> Any:
    """The part of a FROM item that has its alias: behind a PIVOT or UNPIVOT the name may be another one."""
    pivots = item.args.get("pivots") or ()
    return next((pivot for pivot in reversed(pivots) if pivot.args.get("alias") is not None), item)


def _targets(side: str, kind: str, left: frozenset[Occurrence], right: frozenset[Occurrence]) -> frozenset[Occurrence]:
    """The occurrences whose rows a join's condition can leave out."""
    if kind == "ANTI" or (side == "LEFT" and kind != "SEMI"):
        return right
    if side == "RIGHT":
        return left
    return frozenset() if side == "FULL" else left | right


def _merge_columns(side: str, left: Bound, right: Bound) -> Bound:
    if side == "RIGHT":
        return right
    return Call("coalesce", (left, right)) if side == "FULL" else left


def _conjuncts(node: Any) -> list[Any]:
    """The parts of a condition that must all hold."""
    return [] if node is None else chained(node, exp.And)


def _star(node: Any) -> Any:
    if isinstance(node, exp.Star):
        return node
    last = node.expression if isinstance(node, exp.Dot) else node.this if isinstance(node, exp.Column) else None
    return last if isinstance(last, exp.Star) else None


def _qualifier(node: Any) -> list[str]:
    """The words before a star: a table, or a column and its fields."""
    if isinstance(node, exp.Star):
        return []
    parts = node.parts[:-1] if isinstance(node, (exp.Column, exp.Dot)) else []
    return [part.name.lower() for part in parts]


def _windows(node: Any) -> list[Any]:
    """The windows of an expression, without those of queries inside it."""
    if isinstance(node, exp.Query):
        return []
    own = [node] if isinstance(node, exp.Window) else []
    return own + [window for child in node.iter_expressions() for window in _windows(child)]


def _has_sets(group: Any) -> bool:
    """Whether ROLLUP, CUBE or GROUPING SETS give some rows NULL for a key."""
    if group is None:
        return False
    return any(group.args.get(name) for name in ("rollup", "cube", "grouping_sets")) or any(
        isinstance(expression, (exp.Rollup, exp.Cube, exp.GroupingSets)) for expression in group.expressions
    )


def _keys_of_each_set(group: Any) -> list[Any]:
    """The keys that the sets never replace by NULL; a key by position (`GROUP BY 1`) is unknown.

    Hive's `GROUP BY a, b GROUPING SETS (..)` lists the columns that its sets may contain. `GROUP BY a, GROUPING SETS
    (..)` has `a` in every set.
    """
    if group.args.get("rollup") or group.args.get("cube"):
        return []
    hive = group.args.get("grouping_sets") or []
    plain = [key for key in group.expressions if not isinstance(key, (exp.Rollup, exp.Cube, exp.GroupingSets))]
    listed = [*hive, *(sets for sets in group.expressions if isinstance(sets, exp.GroupingSets))]
    in_sets = [key for sets in listed for key in _keys_in_each(sets)]
    keys = in_sets if hive else [*plain, *in_sets]
    return [key for key in keys if not isinstance(key, exp.Literal)]


def _keys_in_each(sets: Any) -> list[Any]:
    """The keys common to all grouping sets of a list."""
    first, *others = [
        set_.expressions if isinstance(set_, exp.Tuple) else [set_.unnest()] for set_ in sets.expressions
    ] or [[]]
    return [key for key in first if all(key in other for other in others)]


def _keeps_rows(select: Any) -> bool:
    """Whether a result row needs an input row, without LIMIT; an aggregate or HAVING without GROUP BY does not."""
    if select.args.get("limit") or select.args.get("offset"):
        return False
    group = select.args.get("group")
    if group is not None:
        return not _has_sets(group) and any(key.find(exp.Column, exp.Literal) for key in group.expressions)
    return select.args.get("having") is None and not any(map(may_aggregate, select.expressions))


def may_aggregate(node: Any) -> bool:
    """Whether it may be an aggregate: functions unknown to the parser (TRY_SUM, EVERY, a user's own) may be."""
    if isinstance(node, exp.Query):
        return False
    if isinstance(node, exp.Window):
        return any(may_aggregate(child) for child in node.this.iter_expressions())
    may_be = isinstance(node, (exp.AggFunc, exp.Anonymous, exp.AnonymousAggFunc, exp.Any))
    return may_be or any(may_aggregate(child) for child in node.iter_expressions())
