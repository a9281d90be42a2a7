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
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence

    from tidemark.dependency_model.lineage.value_range import Value


Folded = TypeVar("Folded")


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
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.name, self.arguments)))

    def __hash__(self) -> int:
        """Computed once: an expression that is mentioned twice at each of many levels has few parts but many paths."""
        return self._hash


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
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.parts, self.why, self.choosing, self.hidden_by)))

    def __hash__(self) -> int:
        return self._hash


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
    return _each_once(bound, children)


def _each_once(bound: Bound, parts: Callable[[Bound], tuple[Bound, ...]]) -> Iterator[Bound]:
    seen: set[int] = set()
    stack = [bound]
    while stack:
        expression = stack.pop()
        if id(expression) not in seen:
            seen.add(id(expression))
            yield expression
            stack.extend(parts(expression))


def operands(bound: Bound) -> tuple[Bound, ...]:
    """The expressions that its value is computed of: not those that an opaque one hides."""
    match bound:
        case Exists(conditions=conditions):
            return conditions
        case Opaque():
            return ()
    return children(bound)


def value_parts(bound: Bound) -> Iterator[Bound]:
    """The expression and everything that its value is computed of, each thing once."""
    return _each_once(bound, operands)


def inside_out(bound: Bound, known: Container[int] = ()) -> Iterator[Bound]:
    """Everything that its value is computed of, each thing once and after its own parts; without `known` ids."""
    seen: set[int] = set()
    stack = [bound]
    while stack:
        part = stack[-1]
        waiting = (
            []
            if id(part) in seen or id(part) in known
            else [below for below in operands(part) if id(below) not in seen and id(below) not in known]
        )
        if waiting:
            stack += waiting
            continue
        stack.pop()
        if id(part) not in seen and id(part) not in known:
            seen.add(id(part))
            yield part


def fold(bound: Bound, of: Callable[[Bound, Sequence[Folded]], Folded]) -> Folded:
    """What an expression is by what its operands are, each computed once however often it is mentioned."""
    known: dict[int, Folded] = {}
    for part in inside_out(bound):
        known[id(part)] = of(part, [known[id(below)] for below in operands(part)])
    return known[id(bound)]


def joined(name: str, conditions: Sequence[Bound], origin: Origin | None = None) -> Bound:
    """Conditions joined by AND or OR, one at least: a chain of them is one call."""
    return conditions[0] if len(conditions) == 1 else Call(name, tuple(conditions), origin)


def conjuncts(condition: Bound) -> list[Bound]:
    """The parts of a condition that must all hold, each once."""
    found: dict[int, Bound] = {}
    stack, seen = [condition], set[int]()
    while stack:
        part = stack.pop()
        if isinstance(part, Call) and part.name == "and":
            if id(part) not in seen:
                seen.add(id(part))
                stack += reversed(part.arguments)
        else:
            found.setdefault(id(part), part)
    return [*found.values()]


def columns_of(bound: Bound) -> dict[Column, None]:
    """The columns of tables in an expression, in order."""
    return dict.fromkeys(part for part in walk(bound) if isinstance(part, Column))
