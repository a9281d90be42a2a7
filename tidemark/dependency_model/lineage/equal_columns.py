"""Joins by equality: the slices of one mention with a partner in another mention are looked up, not searched.

Examples: `u.dt = o.dt`, `u.dt = date_sub(o.dt, 1)`, `dt IN (SELECT dt ...)`, an EXISTS that compares them. Where the
condition is true, both sides have the same value. For a row that an outer join makes up, a side must be NULL, which
equals nothing; so `coalesce(u.dt, :biz_date)` is not looked up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.dependency_model.lineage.bound_expression import (
    Bound,
    Call,
    Column,
    Element,
    Exists,
    InQuery,
    Occurrence,
    Opaque,
    Parameter,
    Sourced,
    conjuncts,
    value_parts,
)
from tidemark.dependency_model.lineage.value_range import Range, Special, Type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from tidemark.dependency_model.lineage.expression_evaluation import Environment
    from tidemark.dependency_model.lineage.value_range import Value

Key = tuple[tuple[Type, object], ...]
"""The values of the equal sides for a slice."""


@dataclass(frozen=True, slots=True)
class Equality:
    """Two sides that are equal if a condition is true, each computed from one mention's partition columns."""

    own: Bound
    other: Bound


def equalities(condition: Bound, target: Occurrence, partition: Callable[[Column], bool]) -> Iterator[Equality]:
    """The equalities that follow from a condition, with the target's side first."""
    for left, right in _necessary(condition):
        ours, theirs = _mention(left, partition), _mention(right, partition)
        if ours is None or theirs is None or ours is theirs:
            continue
        if ours is target:
            yield Equality(left, right)
        elif theirs is target:
            yield Equality(right, left)


def is_null_with_its_row(side: Bound, compute: Callable[[Environment], Value]) -> bool:
    """Whether a side is NULL if its mention has no row; `compute` is the side's function."""
    columns = (part for part in value_parts(side) if isinstance(part, Column))
    return compute(dict.fromkeys(columns, Special.NULL)) is Special.NULL


def mention_of(bound: Bound) -> Occurrence:
    """The mention of a side."""
    return next(part.occurrence for part in value_parts(bound) if isinstance(part, Column))


def bare(side: Bound) -> Bound:
    """A side without the FROM items around it."""
    while isinstance(side, Sourced):
        side = side.inner
    return side


def is_pure(condition: Bound, count: int) -> bool:
    """Whether a condition consists only of `count` equalities."""
    return _pairs(condition) == count


def _pairs(condition: Bound) -> int:
    """The number of equalities; -1 if there is another condition."""
    parts = conjuncts(condition)
    return len(parts) if all(isinstance(part, Call) and part.name == "=" for part in parts) else -1


def key_of(values: Iterable[Value]) -> Key | None:
    """The values of the sides for a slice; None if one is NULL. Raises LookupError if one is not known."""
    key: list[tuple[Type, object]] = []
    for value in values:
        if value is Special.NULL:
            return None
        if not isinstance(value, Range) or not value.is_point:
            raise LookupError
        key.append((value.type, value.low))
    return tuple(key)


class SideValues:
    """The values of sides for slices of one mention. Values without business time are computed once."""

    def __init__(
        self, sides: Sequence[Callable[[Environment], Value]], environment: Callable[[int], Environment]
    ) -> None:
        self._sides, self._environment = sides, environment
        self._known: dict[int, Key | None] = {}
        self.types: set[tuple[Type, ...]] = set()
        """The types of the sides so far. Values of two mentions are only compared if the types are equal."""

    def slices_by_key(self, slices: Iterable[int]) -> Mapping[Key, list[int]]:
        """The slices by the values of their sides, without slices with a NULL. Raises LookupError."""
        known, by_key = self._known, dict[Key, list[int]]()
        for slice_ in slices:
            key = known[slice_] if slice_ in known else self._compute(slice_)
            if key is not None:
                by_key.setdefault(key, []).append(slice_)
        return by_key

    def _compute(self, slice_: int) -> Key | None:
        at = self._environment(slice_)
        self._known[slice_] = key = key_of(side(at) for side in self._sides)
        if key is not None:
            self.types.add(tuple(type_ for type_, _ in key))
        return key


def is_timeless(sides: Iterable[Bound]) -> bool:
    """Whether sides do not depend on the business time."""
    return not any(isinstance(part, Parameter) for side in sides for part in value_parts(side))


def _necessary(condition: Bound) -> Iterator[tuple[Bound, Bound]]:
    for part in conjuncts(condition):
        match part:
            case Call(name="=", arguments=(left, right)):
                yield left, right
            case Exists(conditions=conditions, direct=direct):
                yield from _inside(conditions, direct)
            case InQuery(wanted=wanted, given=given, rows=rows):
                yield from _inside((Call("=", (wanted, given)), *rows.conditions), rows.direct)


def _inside(conditions: Iterable[Bound], direct: Sequence[Occurrence]) -> Iterator[tuple[Bound, Bound]]:
    """The equalities in a sub-query that compare a mention with a row in each of its rows."""
    for condition in conditions:
        for left, right in _necessary(condition):
            if any(_speaks_of(side, direct) for side in (left, right)):
                yield left, right


def _speaks_of(bound: Bound, direct: Sequence[Occurrence]) -> bool:
    return any(isinstance(part, Column) and part.occurrence in direct for part in value_parts(bound))


def _mention(bound: Bound, partition: Callable[[Column], bool]) -> Occurrence | None:
    """The only mention from whose partition columns a side is computed."""
    mentions: dict[Occurrence, None] = {}
    for part in value_parts(bound):
        if isinstance(part, (Element, Opaque, Exists, InQuery)) or (isinstance(part, Column) and not partition(part)):
            return None
        if isinstance(part, Column):
            mentions[part.occurrence] = None
    return next(iter(mentions)) if len(mentions) == 1 else None
