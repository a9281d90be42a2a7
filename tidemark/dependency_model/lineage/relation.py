"""A relation: the columns of a FROM item or of a query, the tables that it reads, and the conditions on their rows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.dependency_model.lineage.bound_expression import (
    Bound,
    Call,
    Column,
    Element,
    Exists,
    InQuery,
    Occurrence,
    Opaque,
    Place,
    Sourced,
    inside_out,
    value_parts,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.dependency_model.lineage.bound_expression import JoinSource, Sides
    from tidemark.dependency_model.lineage.merged_columns import FullJoins


@dataclass(frozen=True, slots=True, eq=False)
class Constraint:
    """A condition that each row of the target occurrences must meet to count. `sides` are those at its place.

    Without a target it is on rows that a query lists itself.
    """

    condition: Bound
    targets: frozenset[Occurrence]
    sides: Sides


@dataclass(frozen=True, slots=True)
class FoundColumn:
    """A column by name; not certain if the columns of its table are unknown.

    `ambiguous` if several columns have the name, and not all of them are the same one.
    """

    bound: Bound
    certain: bool
    ambiguous: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Open:
    """A `*` over a table with unknown columns."""

    relation: Relation
    source: JoinSource | None = None
    without: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Relation:
    """`columns` by name in lower case, in order; `indirect` are the columns that decide which rows exist.

    A name that comes again has a number behind it, see `add_column`.
    """

    columns: Mapping[str, Bound]
    occurrences: tuple[Occurrence, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    sides: Sides = field(default_factory=dict)
    open_table: Occurrence | None = None
    open: tuple[Open, ...] = ()
    indirect: tuple[Bound, ...] = ()
    members: Mapping[str, tuple[Relation, JoinSource | None]] = field(default_factory=dict)
    """Tables joined in brackets, each under its own name."""
    ends_with_time: bool = True
    """Whether columns with unknown names come before the columns of business time, as in a table."""
    subtracts: bool = False
    """Whether its rows are removed from those of other ways: the right side of EXCEPT."""
    repeated: tuple[str, ...] = ()
    """Names that occur more than once in its list; `columns` has the first of each."""
    full_joins: tuple[FullJoins, ...] = ()
    ambiguous: frozenset[str] = frozenset()
    """Names of several columns that are not one column listed again."""
    qualified: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The columns that are still known as a table's, for a pipe operator: table, name, name here."""

    @property
    def is_open(self) -> bool:
        """Whether it may have columns with unknown names."""
        return self.open_table is not None or bool(self.open)

    def find(self, name: str) -> FoundColumn | None:
        """The column of a name in lower case."""
        known = self.columns.get(name)
        if known is not None:
            return FoundColumn(known, certain=True, ambiguous=name in self.ambiguous)
        if self.open_table is not None:
            return FoundColumn(Column(self.open_table, name), certain=False)
        matches = [
            replace(inner, bound=with_source(opened.source, inner.bound))
            for opened in self.open
            if name not in opened.without and (inner := opened.relation.find(name))
        ]
        certain = [match for match in matches if match.certain]
        if certain or len(matches) == 1:
            return (certain or matches)[0]
        return FoundColumn(Opaque(tuple(match.bound for match in matches)), certain=False) if matches else None


@dataclass(frozen=True, slots=True, eq=False)
class AnyColumn(Relation):
    """A relation that has any column of `names`, or any at all if None; all are made of the same expression."""

    made_of: Bound = field(default_factory=Opaque)
    names: frozenset[str] | None = None

    def find(self, name: str) -> FoundColumn | None:
        return FoundColumn(self.made_of, certain=False) if self.names is None or name in self.names else None


LATERAL: Final = Relation({})
"""Stands for a FROM item that is bound only when its neighbours are known."""


_AGAIN: Final = re.compile(r"(.+) #\d+", re.DOTALL)
"""A name with the number of a later column: no column of a table can have a blank in its name."""


def add_column(columns: dict[str, Bound], name: str, bound: Bound) -> str:
    """Add a column behind the other ones; its name there, with a number if another column has the name."""
    free = f"{name} #{len(columns)}" if name in columns else name
    columns[free] = bound
    return free


def written_name(name: str) -> str:
    """The name of a column in its query, without the number of `add_column`."""
    again = _AGAIN.fullmatch(name)
    return again[1] if again else name


def named(names: Iterable[str], bounds: Iterable[Bound]) -> dict[str, Bound]:
    """Columns with these names."""
    columns: dict[str, Bound] = {}
    for name, bound in zip(names, bounds, strict=True):
        add_column(columns, name, bound)
    return columns


def repeated(columns: Iterable[str]) -> tuple[str, ...]:
    """The names that more than one column has."""
    return tuple(dict.fromkeys(again[1] for name in columns if (again := _AGAIN.fullmatch(name))))


def of_names(names: Iterable[str], bounds: Iterable[Bound], opened: tuple[Open, ...] = ()) -> Relation:
    """A relation with these columns, each a column of its own."""
    columns = named(names, bounds)
    return Relation(columns, open=opened, ambiguous=frozenset(repeated(columns)))


def with_source(source: JoinSource | None, bound: Bound) -> Bound:
    """The expression as a FROM item shows it."""
    return Sourced(source, bound) if source else bound


class Veil(NamedTuple):
    """An operation that hides the values of rows, except its `keys`, and its place."""

    by: str = ""
    place: Place = Place()
    keys: frozenset[Bound] = frozenset()

    def over(self, bound: Bound) -> Bound:
        """The expression with everything hidden except the keys: rows with other values count as well."""
        return self.over_each([bound])[0]

    def over_each(self, bounds: Iterable[Bound]) -> list[Bound]:
        """Several expressions; shared parts stay shared."""
        known: dict[int, Bound] = {}
        veiled = []
        for bound in bounds:
            for part in inside_out(bound, known):
                known[id(part)] = self._over(part, known)
            veiled.append(known[id(bound)])
        return veiled

    def _over(self, bound: Bound, known: Mapping[int, Bound]) -> Bound:
        if bound in self.keys:
            return bound
        match bound:
            case Opaque(fields=fields) if fields:
                values = self.over_each(value for _, value in fields)
                return replace(
                    bound, fields=tuple((name, value) for (name, _), value in zip(fields, values, strict=True))
                )
            case Column() | Element() | Exists() | InQuery():
                return self._hidden(bound)
            case Sourced(source=source, inner=inner):
                return Sourced(source, known[id(inner)]) if isinstance(inner, (Call, Opaque)) else self._hidden(bound)
            case Call(name=name, arguments=arguments):
                return Call(name, tuple(known[id(argument)] for argument in arguments))
        return bound

    def _hidden(self, bound: Bound) -> Bound:
        return Opaque((bound,), place=self.place, hidden_by=self.by)


UNNAMED_VEIL: Final = Veil()
LIMITED: Final = "LIMIT or OFFSET"
WINDOWED: Final = "a window that is not partitioned by them"
SAMPLE: Final = "TABLESAMPLE"
SAMPLED: Final = frozenset([LIMITED, WINDOWED, SAMPLE])
"""These hide which rows there are, but not a row's own values."""


def merge_ways(relations: list[Relation]) -> Relation:
    """Several ways to the same rows as one relation, which does not say by which way a row came."""
    if len(relations) == 1:
        return relations[0]
    first = relations[0]
    names = list(first.columns)
    columns: dict[str, Bound] = {
        name: Opaque(
            tuple(bound for way in relations if not way.subtracts for bound in _at(way, at)),
            choosing=tuple(bound for way in relations if way.subtracts for bound in _at(way, at)),
        )
        for at, name in enumerate(names)
    }
    return Relation(
        columns,
        tuple(dict.fromkeys(occurrence for relation in relations for occurrence in relation.occurrences)),
        tuple(dict.fromkeys(constraint for relation in relations for constraint in relation.constraints)),
        {occurrence: sides for relation in relations for occurrence, sides in relation.sides.items()},
        None,
        tuple(Open(_veiled(relation, UNNAMED_VEIL)) for relation in relations if relation.is_open),
        tuple(bound for relation in relations for bound in relation.indirect),
        repeated=first.repeated,
        ambiguous=first.ambiguous,
        qualified=first.qualified,
    )


def _at(relation: Relation, place: int) -> list[Bound]:
    """The column at a position, if there is one."""
    return [*relation.columns.values()][place : place + 1]


def veil_columns(relation: Relation, veil: Veil) -> Relation:
    """The relation with all of its columns veiled."""
    return replace(
        relation,
        columns=dict(zip(relation.columns, veil.over_each(relation.columns.values()), strict=True)),
        open_table=None,
        open=(Open(_veiled(relation, veil)),) if relation.is_open else (),
        members={name: (veil_columns(inner, veil), source) for name, (inner, source) in relation.members.items()},
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Veiled(Relation):
    """Any column by name, veiled."""

    veil: Veil = UNNAMED_VEIL

    def find(self, name: str) -> FoundColumn | None:
        matches = Relation.find(self, name)
        return replace(matches, bound=self.veil.over(matches.bound)) if matches else None


def _veiled(relation: Relation, veil: Veil) -> Relation:
    return _Veiled(
        relation.columns,
        relation.occurrences,
        relation.constraints,
        relation.sides,
        relation.open_table,
        relation.open,
        relation.indirect,
        veil=veil,
    )


def without_elements(relation: Relation) -> Relation:
    """The relation inside an outer join that may make up its row: a value of a list may then be NULL."""
    with_lists = [
        name
        for name, bound in relation.columns.items()
        if any(isinstance(part, Element) for part in value_parts(bound))
    ]
    if not with_lists or relation.occurrences:
        return relation
    unknown = {
        name: Opaque((relation.columns[name],), "a row that may be made up", of_data=False) for name in with_lists
    }
    return replace(relation, columns={**relation.columns, **unknown})
