"""Checks the select list of a query against its table, before a run.

A partition column may be in the list if it has the slice's own value on every row, as `SELECT *` and models of other
systems have it; the writer removes it. With another value, a row would go to another slice. Delta refuses invalid names
in every run.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from sqlglot import exp

from tidemark.dependency_model.lineage.bound_expression import Call, Opaque, conjuncts, tables_in
from tidemark.dependency_model.lineage.known_tables import Tables
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.lineage.partition_clause import value_on_slice
from tidemark.dependency_model.lineage.query_binding import bind
from tidemark.dependency_model.lineage.relation import SAMPLED, Constraint
from tidemark.dependency_model.lineage.slices_read import Evaluation
from tidemark.dependency_model.lineage.unnamed_columns import UNNAMED, is_named_by_its_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.dependency_model.lineage.bound_expression import Bound
    from tidemark.dependency_model.lineage.entity_outline import EntityOutline, QuerySession
    from tidemark.dependency_model.lineage.parsed_query import Query
    from tidemark.dependency_model.lineage.relation import Relation
    from tidemark.errors import QueryError

FORBIDDEN: Final = " ,;{}()\n\t="
"""Characters that a column's name must not contain: Delta refuses them."""
_MADE_UP: Final = re.compile(r"_c\d+|.* #\d+", re.DOTALL)
"""Names that the binder gives to columns without a name, and to repeated names."""
_INTERVALS: Final = frozenset(["make_interval", "make_dt_interval", "make_ym_interval", "try_make_interval"])


def refuse_unwritable(
    query: Query,
    relations: Sequence[Relation],
    written: EntityOutline,
    subjects: Mapping[str, EntityOutline],
    session: QuerySession,
) -> None:
    """Raises QueryError for a list that no run can write."""
    first = relations[0]
    own = [*(column.name.lower() for column in written.times), *(part.lower() for part in written.parts)]
    _refuse_names(query, first, own)
    if not first.is_open and first.columns and all(name in own for name in first.columns):
        raise query.error(
            "no column is left to write: the partition columns are the slice's, and not in its files",
            expected="a column besides",
            found=", ".join(first.columns),
        )
    shown = [name for name in own if name in first.columns]
    if shown and written.period is not None:
        evaluation = Evaluation(written.calendar, written.period, written.start, subjects)
        for name in shown:
            value = _on_slice(written, name)
            if not all(
                relation.subtracts or _is_always(relation, name, value, evaluation, session) for relation in relations
            ):
                raise _of_other_slices(query, name, value)


def _refuse_names(query: Query, first: Relation, own: Sequence[str]) -> None:
    for name in first.repeated:
        raise query.error(
            "two columns of one name: case does not tell names apart",
            _item(query, name),
            expected="each name once",
            found=name,
            hint="give one of them another name, or leave it out: SELECT * EXCEPT (..)",
        )
    for node in _selects(query):
        if is_named_by_its_text(node):
            raise _bad_name(query, node, query.text_of(node))
        if _is_interval(node.unalias()):
            raise query.error(
                "an INTERVAL is no column of a table", node, hint="cast it to STRING, or write its days as a number"
            )
    for name in first.columns:
        if name in own or _MADE_UP.fullmatch(name) or not set(name) & set(FORBIDDEN):
            continue
        raise _bad_name(query, _item(query, name), "a value without a name" if UNNAMED.fullmatch(name) else name)


def _bad_name(query: Query, node: Any, name: str) -> QueryError:
    return query.error(
        "no name that a table's column can have",
        node,
        expected=f"none of {FORBIDDEN.strip()!r}, blanks, tabs and new lines",
        found=" ".join(name.split()),
        hint="give it a name: .. AS name",
    )


def _is_interval(node: Any) -> bool:
    if isinstance(node, exp.Cast):
        return str(node.to.sql("spark")).upper().startswith("INTERVAL")
    name = str(node.this).lower() if isinstance(node, exp.Anonymous) else node.key if isinstance(node, exp.Func) else ""
    return isinstance(node, exp.Interval) or name in _INTERVALS


def _selects(query: Query) -> list[Any]:
    """The list of the first SELECT, whose names are the table's."""
    node = query.tree
    while isinstance(node, (exp.SetOperation, exp.Subquery)):
        node = node.this
    return list(node.expressions) if isinstance(node, exp.Select) else []


def _item(query: Query, name: str) -> Any:
    return next((node for node in reversed(_selects(query)) if node.alias_or_name.lower() == name), None)


def _on_slice(written: EntityOutline, name: str) -> str:
    """The value of a partition column on the slice that is computed."""
    time = next((column for column in written.times if column.name == name), None)
    return value_on_slice(time, written.period) if time is not None else f":{name}"


def _of_other_slices(query: Query, name: str, value: str) -> QueryError:
    return query.error(
        f"the partition column {name} is in the list, and may be another one than the slice's",
        _item(query, name),
        expected=f"{value} on every row, which is taken away",
        hint=f"leave {name} out, SELECT * EXCEPT ({name}), or give it another name",
    )


def _is_always(relation: Relation, name: str, value: str, evaluation: Evaluation, session: QuerySession) -> bool:
    """Whether a column has this value on every row, at any business time."""
    if name not in relation.columns:
        return False
    shown = _bare_of_samples(relation.columns[name])
    (own,) = bind(read_query(f"SELECT {value} AS own"), Tables({}))[0].columns.values()
    if any(
        _says_equal(part, shown, own) for constraint in relation.constraints for part in conjuncts(constraint.condition)
    ):
        return not any(relation.sides.values())
    differs = Call("not", (Call("<=>", (shown, own)),))
    mentions = tables_in(shown)
    if not mentions:
        return evaluation.is_never_true(differs, session)
    constraint = Constraint(differs, mentions, relation.sides)
    narrowed = replace(relation, constraints=(*relation.constraints, constraint))
    return evaluation.is_empty(narrowed, mentions, session)


def _says_equal(condition: Bound, left: Bound, right: Bound) -> bool:
    """Whether a condition is `left = right`."""
    return isinstance(condition, Call) and condition.name == "=" and {left, right} == {*condition.arguments}


def _bare_of_samples(bound: Bound) -> Bound:
    """A value without operations that only leave out rows: it is still the row's own."""
    while isinstance(bound, Opaque) and bound.hidden_by in SAMPLED and len(bound.parts) == 1:
        (bound,) = bound.parts
    return bound
