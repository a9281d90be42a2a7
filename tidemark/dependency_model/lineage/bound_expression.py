"""Expressions with every column put in its place: which occurrence of which table, or a parameter of business time.

Literal          a constant
Parameter        `:biz_date` and its like
Column           a column of one occurrence of a table
Sourced          an expression of a FROM item, NULL where an outer join makes the item's row up
Call             a function or operator that can be evaluated
Element          one value of a sequence, of which `explode` makes rows
Opaque           what is not known here (an aggregate, a window, an unknown function), with what it is made of
Exists, InQuery  conditions on a sub-query's rows
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.dependency_model.lineage.value_range import Value


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in a text, line and column from 1."""

    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Occurrence:
    """One mention of a table in a FROM clause (a CTE that is used twice holds its tables twice)."""

    table: str
    place: Place


@dataclass(frozen=True, slots=True, eq=False)
class JoinSource:
    """One item of a FROM clause."""

    name: str


@dataclass(frozen=True, slots=True)
class Literal:
    value: Value


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str


@dataclass(frozen=True, slots=True)
class Column:
    occurrence: Occurrence
    name: str


@dataclass(frozen=True, slots=True)
class Sourced:
    source: JoinSource
    inner: Bound


class Origin(Protocol):
    """Where in a query an expression stands."""

    @property
    def text(self) -> str:
        """The expression as it is written, cut where it is long."""

    @property
    def where(self) -> str:
        """`file:line:column`."""


@dataclass(frozen=True, slots=True)
class Call:
    """`origin` is None where it does not stand in a query itself."""

    name: str
    arguments: tuple[Bound, ...]
    origin: Origin | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """A value of `sequence(first, last, step)`, whichever: there is a row for each."""

    sequence: Call


AGGREGATE: Final = "an aggregate"
"""Why nothing is known of a value that all rows of a group make."""
WINDOW: Final = "a window function"
"""Why nothing is known of a value that other rows make as well."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """`parts` make its value, `choosing` which rows go into it; `why` is for people, or empty.

    `of_data` where rows decide; else whoever knew the function would know the value, given its parts. `hidden_by` is
    what in between lets rows with other values of it count as well, such as a LIMIT; or empty.
    """

    parts: tuple[Bound, ...] = ()
    why: str = ""
    place: Place = field(default_factory=Place)
    choosing: tuple[Bound, ...] = ()
    of_data: bool = True
    hidden_by: str = ""


@dataclass(frozen=True, slots=True)
class Exists:
    """`inner` are the tables of the query, `direct` those of which every one of its rows holds a row."""

    conditions: tuple[Bound, ...]
    inner: tuple[Occurrence, ...]
    direct: tuple[Occurrence, ...]
    parts: tuple[Bound, ...] = ()


@dataclass(frozen=True, slots=True)
class InQuery:
    wanted: Bound
    given: Bound
    rows: Exists


Bound = Literal | Parameter | Column | Sourced | Call | Element | Opaque | Exists | InQuery


def children(bound: Bound) -> tuple[Bound, ...]:
    """The expressions that an expression is made of."""
    match bound:
        case Sourced(inner=inner) | Element(sequence=inner):
            return (inner,)
        case Call(arguments=arguments):
            return arguments
        case Opaque(parts=parts, choosing=choosing):
            return (*parts, *choosing)
        case Exists(conditions=conditions, parts=parts):
            return (*conditions, *parts)
        case InQuery(wanted=wanted, given=given, rows=rows):
            return (wanted, given, rows)
    return ()


def walk(bound: Bound) -> Iterator[Bound]:
    """The expression and everything in it, each thing once."""
    seen: set[int] = set()
    stack = [bound]
    while stack:
        expression = stack.pop()
        if id(expression) not in seen:
            seen.add(id(expression))
            yield expression
            stack.extend(children(expression))


def operands(bound: Bound) -> tuple[Bound, ...]:
    """The expressions that its value is computed of: not those that an opaque one hides."""
    match bound:
        case Exists(conditions=conditions):
            return conditions
        case Opaque():
            return ()
    return children(bound)


def value_parts(bound: Bound) -> Iterator[Bound]:
    """The expression and everything that its value is computed of."""
    stack = [bound]
    while stack:
        expression = stack.pop()
        yield expression
        stack.extend(operands(expression))


def columns_of(bound: Bound) -> dict[Column, None]:
    """The columns of tables in an expression, in order."""
    return dict.fromkeys(part for part in walk(bound) if isinstance(part, Column))
