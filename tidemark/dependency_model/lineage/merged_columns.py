"""FULL JOINs by equality: `coalesce(a.dt, b.dt)` is the date of each side's own rows.

A condition on the merged column also applies to the column of each side. A row for which it is false is not in the
result. The row that it is joined to has the same value, so the condition is false for that row too, with or without a
partner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tidemark.dependency_model.lineage.bound_expression import (
    Bound,
    Call,
    Column,
    Literal,
    Sourced,
    inside_out,
    tables_in,
    walk,
)
from tidemark.dependency_model.lineage.value_range import Special

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tidemark.dependency_model.lineage.bound_expression import JoinSource, Occurrence, Sides

_ANY = Literal(Special.UNKNOWN)


@dataclass(frozen=True, slots=True, eq=False)
class FullJoins:
    """Items that FULL JOINs combine. Each entry of `columns` has one member for each item, in the order of the items.

    `own_sides` are the places of these joins among the sides of each occurrence.
    """

    columns: tuple[tuple[Bound, ...], ...]
    own_sides: Mapping[Occurrence, range]

    def members(self, condition: Bound) -> Iterator[Bound]:
        """A condition on merged columns alone, rewritten for the rows of each item."""
        if any(
            isinstance(part, Column) and part.occurrence in self.own_sides
            for part in walk(_replaced(condition, self._of_item(None)))
        ):
            return
        for at in range(len(self.columns[0]) if self.columns else 0):
            own = _replaced(condition, self._of_item(at))
            if own is not condition:
                yield own

    def _of_item(self, at: int | None) -> Callable[[Bound], Bound | None]:
        by_members = {frozenset(members): members for members in self.columns}

        def of_item(bound: Bound) -> Bound | None:
            members = by_members.get(frozenset(_merged(bound))) if isinstance(bound, Call) else None
            return None if members is None else _ANY if at is None else members[at]

        return of_item


class Derived(NamedTuple):
    """A condition that restricts the rows of one side's tables; `sides` are the outer joins around them that count."""

    condition: Bound
    targets: frozenset[Occurrence]
    sides: Sides


def derived(condition: Bound, joins: Sequence[FullJoins], sides: Sides) -> Iterator[Derived]:
    """The restrictions that a condition on merged columns puts on the rows of each side, and of joins inside a side."""
    for full in joins:
        others = [other for other in joins if other is not full]
        for own in full.members(condition):
            left = {
                occurrence: tuple(
                    side for at, side in enumerate(around) if at not in full.own_sides.get(occurrence, ())
                )
                for occurrence, around in sides.items()
            }
            yield Derived(own, tables_in(own) & full.own_sides.keys(), left)
            yield from derived(own, others, left)


def equal_columns(
    known: Sequence[tuple[Bound, ...]], conditions: Sequence[Bound], left: JoinSource | None, right: JoinSource | None
) -> list[tuple[Bound, ...]]:
    """The columns that one more FULL JOIN merges: earlier merged columns, with equal columns of the new item."""
    columns: list[tuple[Bound, ...]] = []
    for condition in conditions:
        if not isinstance(condition, Call) or condition.name != "=":
            continue
        for before, new in (condition.arguments, reversed(condition.arguments)):
            if not isinstance(new, Sourced) or new.source is not right or right is None:
                continue
            if left is not None and isinstance(before, Sourced) and before.source is left:
                columns.append((before, new))
            columns += [(*members, new) for members in known if set(_merged(before)) <= set(members)]
    return columns


def _merged(bound: Bound) -> list[Bound]:
    """The arguments of `coalesce(coalesce(a, b), c)`; another expression itself."""
    if not isinstance(bound, Call) or bound.name != "coalesce":
        return [bound]
    return [part for argument in bound.arguments for part in _merged(argument)]


def _replaced(bound: Bound, find: Callable[[Bound], Bound | None]) -> Bound:
    """An expression with its parts replaced by other expressions."""
    known: dict[int, Bound] = {}
    for part in inside_out(bound):
        known[id(part)] = find(part) or _rebuilt(part, known)
    return known[id(bound)]


def _rebuilt(part: Bound, known: Mapping[int, Bound]) -> Bound:
    match part:
        case Sourced(source=source, inner=inner) if known[id(inner)] is not inner:
            return Sourced(source, known[id(inner)])
        case Call(name=name, arguments=arguments) if any(known[id(inner)] is not inner for inner in arguments):
            return Call(name, tuple(known[id(inner)] for inner in arguments), part.origin)
    return part
