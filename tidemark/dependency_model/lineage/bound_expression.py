"""Expressions with resolved columns: an occurrence of a table, or a parameter of business time.

Literal          a constant.
Parameter        `:biz_date` and similar.
Column           a column of one occurrence of a table.
Sourced          an expression of a FROM item, NULL if an outer join makes up the item's row.
Call             a function or operator that can be evaluated.
Element          one value of a sequence; `explode` makes a row of each.
Opaque           an unknown value (an aggregate, a window, an unknown function), with its parts.
Exists, InQuery  conditions on a sub-query's rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence

    from tidemark.dependency_model.lineage.value_range import Value


Folded = TypeVar("Folded")


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a text; line and column count from 1."""

    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Occurrence:
    """One mention of a table in a FROM clause. A CTE that is used twice has its tables twice."""

    table: str
    place: Place


@dataclass(frozen=True, slots=True, eq=False)
class JoinSource:
    """One item of a FROM clause."""

    name: str


Side = frozenset[JoinSource]
"""FROM items whose rows an outer join makes up together."""
Sides = Mapping[Occurrence, tuple[Side, ...]]
"""The sides around each occurrence, from the innermost to the outermost."""


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
    """The place of an expression in a query."""

    @property
    def text(self) -> str:
        """The expression as written, shortened if long."""

    @property
    def where(self) -> str:
        """`file:line:column`."""


@dataclass(frozen=True, slots=True)
class Call:
    """`origin` is None if the call is not in a query."""

    name: str
    arguments: tuple[Bound, ...]
    origin: Origin | None = field(default=None, compare=False, repr=False)
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.name, self.arguments)))

    def __hash__(self) -> int:
        """Computed once: an expression with repeated parts on many levels has few parts but many paths."""
        return self._hash


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """One value of any `sequence(first, last, step)`; each value makes a row."""

    sequence: Call


AGGREGATE: Final = "an aggregate"
"""The reason why a value that comes from all rows of a group is unknown."""
WINDOW: Final = "a window function"
"""The reason why a value that also depends on other rows is unknown."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """`parts` make its value, `choosing` decides which rows are used; `why` is for people, or empty.

    `of_data`: rows decide the value. Otherwise it depends only on its parts, by an unknown function. `hidden_by` names
    an operation in between, such as a LIMIT, that also lets rows with other values count; or it is empty. `fields` are
    the fields of a struct that the query makes, by name in lower case; their values are in `parts` too.
    """

    parts: tuple[Bound, ...] = ()
    why: str = ""
    place: Place = field(default_factory=Place)
    choosing: tuple[Bound, ...] = ()
    of_data: bool = True
    hidden_by: str = ""
    fields: tuple[tuple[str, Bound], ...] = ()
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.parts, self.why, self.choosing, self.hidden_by)))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class Exists:
    """`inner` are the tables of the query; in each row of the query every table of `direct` has a row."""

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
    """The direct parts of an expression."""
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


def field_of(bound: Bound, name: str) -> Bound:
    """A field of a struct; opaque if the struct's fields are not known."""
    if isinstance(bound, Sourced):
        return Sourced(bound.source, field_of(bound.inner, name))
    named = [value for own, value in bound.fields if own == name] if isinstance(bound, Opaque) else []
    return named[0] if len(named) == 1 else Opaque((bound,))


def field_names(bound: Bound) -> tuple[str, ...]:
    """The fields of a struct that the query makes, in order; empty for any other expression."""
    while isinstance(bound, Sourced):
        bound = bound.inner
    return tuple(name for name, _ in bound.fields) if isinstance(bound, Opaque) else ()


def walk(bound: Bound) -> Iterator[Bound]:
    """The expression and everything in it, each once."""
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
    """The expressions from which its value is computed, except for the hidden parts of opaque ones."""
    match bound:
        case Exists(conditions=conditions):
            return conditions
        case Opaque():
            return ()
    return children(bound)


def value_parts(bound: Bound) -> Iterator[Bound]:
    """The expression and everything from which its value is computed, each once."""
    return _each_once(bound, operands)


def inside_out(bound: Bound, known: Container[int] = ()) -> Iterator[Bound]:
    """Everything from which its value is computed, each once and after its parts, without the ids in `known`."""
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
    """Computes a result from the results of the operands; each part is computed once."""
    known: dict[int, Folded] = {}
    for part in inside_out(bound):
        known[id(part)] = of(part, [known[id(below)] for below in operands(part)])
    return known[id(bound)]


def joined(name: str, conditions: Sequence[Bound], origin: Origin | None = None) -> Bound:
    """At least one condition, joined by AND or OR into one call."""
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


def tables_in(bound: Bound) -> frozenset[Occurrence]:
    """The occurrences whose columns an expression uses."""
    return frozenset(part.occurrence for part in value_parts(bound) if isinstance(part, Column))
