"""Binds a plan to relations: it resolves attributes, and puts conditions where they restrict rows.

As for a query, there is one relation for each way that rows can come by. An unknown node hides the columns below it.
Conditions above then restrict nothing below: the result may have more slices than are read, but never fewer.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from itertools import product
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.bound_expression import (
    Bound,
    Column,
    JoinSource,
    Occurrence,
    Opaque,
    Place,
    Sourced,
    tables_in,
)
from tidemark.dependency_model.lineage.query_binding import WAYS_LIMIT
from tidemark.dependency_model.lineage.relation import Constraint, Relation, Veil, merge_ways, veil_columns
from tidemark.dependency_model.lineage.spark_plan.expression_binder import bind_expression
from tidemark.dependency_model.lineage.spark_plan.plan_tree import MARK, PlanNode, tree, walk
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from tidemark.dependency_model.lineage.bound_expression import Side, Sides

_QUERIES: Final = {"ScalarSubquery", "Exists", "ListQuery", "LateralSubquery"}
_INNER: Final = {"Inner", "Cross", "LeftSemi"}
_KINDS: Final = {*_INNER, "LeftOuter", "RightOuter", "FullOuter", "LeftAnti"}
_WITHOUT_RIGHT: Final = {"LeftSemi", "LeftAnti"}
_MAKES_UP_RIGHT: Final = {"LeftOuter", "FullOuter"}
_MAKES_UP_LEFT: Final = {"RightOuter", "FullOuter"}


def relations(node: PlanNode) -> list[Relation]:
    """The ways to a plan's rows; columns have the identities of attributes as names, in order. Raises ParseError."""
    table = _table(node)
    if table:
        return [_input(node, table)]
    rule = _RULES.get(node.name, _unknown)
    ways = [_with_queries(way, node) for way in rule(node)]
    return ways if len(ways) <= WAYS_LIMIT else [merge_ways(ways)]


# --- inputs ---------------------------------------------------------------------------------------------------------


def _table(node: PlanNode) -> str:
    """The input whose columns a projection names with the mark; empty for other nodes."""
    names = (
        [str(expression.fields.get("name")) for expression in node.expressions("projectList")]
        if node.name == "Project"
        else []
    )
    return names[0].partition(MARK)[0] if names and all(MARK in name for name in names) else ""


def _input(node: PlanNode, table: str) -> Relation:
    occurrence = Occurrence(table, Place())
    columns: dict[str, Bound] = {
        expression.identity: Column(occurrence, str(expression.fields["name"]).partition(MARK)[2].lower())
        for expression in node.expressions("projectList")
    }
    return Relation(columns, (occurrence,), (), {occurrence: ()})


def _with_queries(relation: Relation, node: PlanNode) -> Relation:
    """The node's relation, with the reads of queries in its expressions."""
    inner = [merge_ways(relations(query)) for query in _queries(node)]
    return reduce(lambda outer, other: _beside(outer, other, outer.columns), inner, relation)


def _queries(node: PlanNode) -> Iterator[PlanNode]:
    for field, value in node.fields.items():
        if not (isinstance(value, list) and _is_tree(value)):
            continue
        for expression in (inner for whole in node.expressions(field) for inner in walk(whole)):
            if expression.name in _QUERIES:
                plan = expression.fields.get("plan")
                if not isinstance(plan, list):
                    raise ParseError("a query inside an expression that its plan does not show", found=expression.name)
                yield tree(plan)


def _is_tree(value: Sequence[object]) -> bool:
    first = value[0] if value else None
    first = first[0] if isinstance(first, list) and first else first
    return isinstance(first, dict) and "num-children" in first


# --- one child ------------------------------------------------------------------------------------------------------


def _same(node: PlanNode) -> list[Relation]:
    return relations(node.children[0])


def _hides(node: PlanNode) -> list[Relation]:
    """LIMIT or a sample: the rows that it keeps depend on other rows."""
    return [_veil(way) for way in _same(node)]


def _filter(node: PlanNode) -> list[Relation]:
    (condition,) = node.expressions("condition")
    return [_restrict(way, condition, frozenset(way.occurrences)) for way in _same(node)]


def _project(node: PlanNode) -> list[Relation]:
    items = node.expressions("projectList") or node.expressions("aggregateExpressions")
    return [replace(way, columns=_number((item.identity, bind_expression(item, way.columns)) for item in items))
            for way in _same(node)]  # fmt: skip


def _window(node: PlanNode) -> list[Relation]:
    """A filter above drops rows that the window counts, unless it uses the window's keys."""
    added = {expression.identity: Opaque() for expression in node.expressions("windowExpressions")}
    return [_with_window(way, node, added) for way in _same(node)]


def _with_window(way: Relation, node: PlanNode, added: Mapping[str, Bound]) -> Relation:
    keys = frozenset(bind_expression(key, way.columns) for key in node.expressions("partitionSpec"))
    return replace(way, columns={**_veil(way, keys).columns, **added})


def _deduplicate(node: PlanNode) -> list[Relation]:
    return [
        _veil(way, frozenset(bind_expression(key, way.columns) for key in node.expressions("keys")))
        for way in _same(node)
    ]


def _generate(node: PlanNode) -> list[Relation]:
    """`explode` and similar: several rows of each row, with more columns."""
    unused = set(node.fields.get("unrequiredChildIndex") or ())
    added: dict[str, Bound] = {expression.identity: Opaque() for expression in node.expressions("generatorOutput")}
    return [
        replace(
            way,
            columns={**{name: b for at, (name, b) in enumerate(way.columns.items()) if at not in unused}, **added},
        )
        for way in _same(node)
    ]


def _veil(relation: Relation, keys: frozenset[Bound] = frozenset()) -> Relation:
    return veil_columns(relation, Veil(keys=keys))


def _number(columns: Iterable[tuple[str, Bound]]) -> dict[str, Bound]:
    """The columns by identity; a repeated one keeps its place under its own name."""
    by_name: dict[str, Bound] = {}
    for at, (identity, column) in enumerate(columns):
        by_name[identity if identity not in by_name else f"{identity}#{at}"] = column
    return by_name


# --- several children -----------------------------------------------------------------------------------------------


def _union(node: PlanNode) -> list[Relation]:
    """UNION, INTERSECT and EXCEPT: the children's columns by position, under the names of the first child's."""
    first, *others = [relations(child) for child in node.children]
    names = list(first[0].columns)
    return [*first, *(_align(way, names) for ways in others for way in ways)]


def _align(relation: Relation, names: Sequence[str]) -> Relation:
    if len(names) != len(relation.columns):
        return replace(relation, columns={name: Opaque(tuple(relation.columns.values())) for name in names})
    return replace(relation, columns=dict(zip(names, relation.columns.values(), strict=True)))


def _join(node: PlanNode) -> list[Relation]:
    kind = str((node.fields.get("joinType") or {}).get("object", "")).rpartition(".")[2].rstrip("$")
    if kind not in _KINDS:
        return _unknown(node)
    left, right = (relations(child) for child in node.children)
    if len(left) * len(right) > WAYS_LIMIT:
        left, right = [merge_ways(left)], [merge_ways(right)]
    return [_join_pair(way, other, node, kind) for way, other in product(left, right)]


def _join_pair(left: Relation, right: Relation, node: PlanNode, kind: str) -> Relation:
    """Conditions apply to real rows; above the join, a row may be made up of NULLs."""
    makes_up_left, makes_up_right = (
        JoinSource(kind) if kind in made else None for made in (_MAKES_UP_LEFT, _MAKES_UP_RIGHT)
    )
    columns = {**_source(left, makes_up_left), **_source(right, makes_up_right)}
    joined = _beside(left, right, columns)
    for condition in node.expressions("condition"):
        joined = _restrict(joined, condition, _targets(kind, left, right))
    sides = dict(joined.sides)
    for relation, source in ((left, makes_up_left), (right, makes_up_right)):
        for occurrence in relation.occurrences if source else ():
            sides[occurrence] = (*sides.get(occurrence, ()), frozenset({source}))  # type: ignore[arg-type]
    kept = _source(left, makes_up_left) if kind in _WITHOUT_RIGHT else columns
    return replace(joined, columns=kept, sides=sides)


def _source(relation: Relation, source: JoinSource | None) -> dict[str, Bound]:
    return {name: Sourced(source, column) if source else column for name, column in relation.columns.items()}


def _targets(kind: str, left: Relation, right: Relation) -> frozenset[Occurrence]:
    """The occurrences whose rows a join's condition can leave out; none in a full join."""
    ours, theirs = frozenset(left.occurrences), frozenset(right.occurrences)
    if kind in _INNER:
        return ours | theirs
    return {"LeftOuter": theirs, "LeftAnti": theirs, "RightOuter": ours}.get(kind, frozenset())


def _unknown(node: PlanNode) -> list[Relation]:
    """The reads of all its children, without their columns."""
    inputs = [merge_ways([replace(relation, columns={}) for relation in relations(child)]) for child in node.children]
    return [reduce(lambda beside, other: _beside(beside, other, {}), inputs, Relation({}))]


def _beside(left: Relation, right: Relation, columns: Mapping[str, Bound]) -> Relation:
    sides: Sides = {**left.sides, **right.sides}
    return Relation(columns, (*left.occurrences, *right.occurrences), (*left.constraints, *right.constraints), sides)


# --- conditions -----------------------------------------------------------------------------------------------------


def _restrict(relation: Relation, condition: PlanNode, targets: frozenset[Occurrence]) -> Relation:
    constraints = [
        _constraint(bind_expression(conjunct, relation.columns), targets, relation.sides)
        for conjunct in _conjuncts(condition)
    ]
    return replace(
        relation, constraints=(*relation.constraints, *(constraint for constraint in constraints if constraint.targets))
    )


def _constraint(
    condition: Bound, targets: frozenset[Occurrence], sides: Mapping[Occurrence, tuple[Side, ...]]
) -> Constraint:
    spoken_of = tables_in(condition)
    return Constraint(condition, targets & spoken_of if spoken_of else targets, sides)


def _conjuncts(condition: PlanNode) -> Iterator[PlanNode]:
    """The parts of a condition that must all hold."""
    if condition.name == "And":
        for child in condition.children:
            yield from _conjuncts(child)
    else:
        yield condition


_RULES: Final[dict[str, Callable[[PlanNode], list[Relation]]]] = {
    **dict.fromkeys(
        ("SubqueryAlias", "View", "Sort", "Distinct", "Repartition", "RepartitionByExpression", "RebalancePartitions",
         "ResolvedHint", "CollectMetrics"), _same),
    **dict.fromkeys(("GlobalLimit", "LocalLimit", "Offset", "Tail", "Sample"), _hides),
    "Expand": _same,
    "Filter": _filter,
    "Project": _project,
    "Aggregate": _project,
    "Window": _window,
    "Deduplicate": _deduplicate,
    "Generate": _generate,
    "Join": _join,
    **dict.fromkeys(("Union", "Intersect", "Except"), _union),
}  # fmt: skip
"""`Expand` (ROLLUP, CUBE) gives its keys new identities, so that conditions above do not find them."""
