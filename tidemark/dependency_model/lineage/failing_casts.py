"""Casts of a text `hour` to a number that fail if a clock repeats an hour: Spark stops the query on that day.

The second of two such hours is `02+01:00`, which is not a number (CAST_INVALID_INPUT). Guarded casts are ignored:
inside CASE, or with a condition on the text's form.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.bound_expression import Call, Column, Literal, walk
from tidemark.dependency_model.lineage.equal_columns import bare
from tidemark.dependency_model.lineage.functions.numbers import WHOLE_CASTS
from tidemark.dependency_model.lineage.parsed_query import QueryPart
from tidemark.dependency_model.lineage.value_range import Range, Type
from tidemark.dependency_model.time.window import seconds_of
from tidemark.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tidemark.dependency_model.lineage.bound_expression import Bound, Origin
    from tidemark.dependency_model.lineage.entity_outline import EntityOutline
    from tidemark.dependency_model.lineage.parsed_query import Query
    from tidemark.dependency_model.lineage.relation import Relation
    from tidemark.dependency_model.time.local_calendar import Calendar
    from tidemark.dependency_model.time.period import Period

_CASTS: Final = frozenset([*WHOLE_CASTS, "+", "-", "*", "/", "%", "div", "pmod", "negative", "abs", "floor", "ceil"])
_COMPARES: Final = frozenset(["=", "<", "<=", "<=>"])
_NUMBERS: Final = _CASTS | {"hour", "minute", "day", "month", "year", "dayofweek", "length"}
_LOGIC: Final = frozenset(["and", "or", "not", "is_null", "is_true"])
_GUARDS: Final = frozenset(["like", "rlike", "length"])
_FROM: Final = 946_684_800
"""2000-01-01, for a table without a start."""
_YEARS: Final = 30 * 366 * 86_400


def refuse_failing_casts(query: Query, relation: Relation, subjects: Mapping[str, EntityOutline]) -> None:
    """Raises QueryError for a condition that casts an hour's text to a number if some hour is not one."""
    conditions = [constraint.condition for constraint in relation.constraints]
    guarded = {column for condition in conditions for column in _guarded(condition)}
    for condition in conditions:
        for origin, column in _casts(condition):
            subject = subjects.get(column.occurrence.table)
            key = None if subject is None or column in guarded else _repeated_hour(subject, column.name)
            if key is not None:
                raise _error(query, origin, column, key)


def _error(query: Query, origin: Origin | None, column: Column, key: str) -> QueryError:
    clock = key.partition("T")[2]
    said = origin.text if origin else column.name
    return QueryError(
        "a cast that fails at run time",
        expected=f"a text that is compared with one, or its digits: int(left({column.name}, 2))",
        found=f"{said}, where {column.name} is '{clock[:2]}{clock[-6:]}' on {key[:10]}",
        where=origin.where if origin else query.where(column.occurrence.place),
        hint=f"the clock of {column.occurrence.table} repeats an hour then",
    )


def _casts(condition: Bound) -> Iterator[tuple[Origin | None, Column]]:
    """Columns that every evaluation of the condition casts to a number, each with the cast's origin."""
    stack: list[tuple[Bound, Origin | None]] = [(condition, None)]
    seen: set[int] = set()
    while stack:
        bound, around = stack.pop()
        bound = bare(bound)
        if id(bound) in seen:
            continue
        seen.add(id(bound))
        if not isinstance(bound, Call) or bound.name not in _LOGIC | _COMPARES | _NUMBERS or _is_tried(bound):
            continue
        origin = bound.origin or around
        arguments = [bare(argument) for argument in bound.arguments]
        if bound.name in _CASTS or (bound.name in _COMPARES and any(map(_is_number, arguments))):
            yield from ((origin, argument) for argument in arguments if isinstance(argument, Column))
        stack += ((argument, origin) for argument in arguments)


def _is_tried(call: Call) -> bool:
    """Whether the cast gives NULL if it fails."""
    return isinstance(call.origin, QueryPart) and call.origin.is_tried


def _is_number(bound: Bound) -> bool:
    if isinstance(bound, Literal):
        return isinstance(bound.value, Range) and bound.value.type is Type.NUMBER
    return isinstance(bound, Call) and bound.name in _NUMBERS


def _guarded(condition: Bound) -> Iterator[Column]:
    for part in walk(condition):
        if isinstance(part, Call) and part.name in _GUARDS:
            yield from (inner for inner in walk(part) if isinstance(inner, Column))


def _repeated_hour(subject: EntityOutline, name: str) -> str | None:
    """The key of a table's first slice whose column `name` is not a number; None without one."""
    column = next((column for column in subject.times if column.name == name), None)
    if subject.period is None or column is None or column.type != "string" or column.pattern != "HH":
        return None
    return _first_repeat(subject.calendar, subject.period, subject.start)


@lru_cache(maxsize=1024)
def _first_repeat(calendar: Calendar, period: Period, start: str | None) -> str | None:
    if not period.is_clock:
        return None
    grid = calendar.grid(period)
    first = seconds_of(calendar.start_of(start)) if start else _FROM
    for change in grid.zone.changes_within(first, first + _YEARS):
        key = grid.key(grid.at(change))
        if key[-3:-2] == ":" and key[-6] in "+-":
            return key
    return None
