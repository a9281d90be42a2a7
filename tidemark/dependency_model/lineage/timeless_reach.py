"""The slices of one mention that a condition joins to a slice of another, without business time.

`u.dt BETWEEN date_sub(o.dt, 6) AND o.dt` is the same at every business time: each slice is evaluated once.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from tidemark.dependency_model.lineage.bound_expression import Parameter, value_parts
from tidemark.dependency_model.lineage.moving_with_days import moves_with_days
from tidemark.dependency_model.lineage.slice_question import SliceQuestion
from tidemark.dependency_model.lineage.slice_space import TooManyBoxesError, end_of, needed_stretches
from tidemark.dependency_model.lineage.stretches import union_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.lineage.bound_expression import Call
    from tidemark.dependency_model.lineage.slice_question import Condition, Variable


def is_timeless(condition: Condition) -> bool:
    """Whether the condition is the same at every business time, for rows that no outer join makes up."""
    if condition.sides or condition.optional:
        return False
    return not any(isinstance(part, Parameter) for part in value_parts(condition.constraint.condition))


class TimelessReach:
    """The slices of `sought` that conditions join to slices of `given`.

    Both methods raise LookupError if they are unknown.
    """

    def __init__(
        self, given: Variable, sought: Variable, conditions: Sequence[Condition], unevaluated: list[Call]
    ) -> None:
        self._given, self._sought, self._conditions, self._unevaluated = given, sought, conditions, unevaluated
        self._known: dict[int, Sequence[range] | None] = {}
        self._shifts = given.space is sought.space
        self._moves = self._shifts and all(
            moves_with_days(condition.constraint.condition, (*given.days, *sought.days)) for condition in conditions
        )
        self._latest: tuple[int, range] | None = None
        self._first: int | None = None

    def reached(self, slices: Sequence[int]) -> list[range]:
        """The slices to which some of these are joined, as ranges in order; they may reach an end of time."""
        return union_of({stretch for slice_ in slices for stretch in self._of(slice_)})

    def reaching(self, slices: Sequence[int], domain: Sequence[int]) -> list[int]:
        """The slices that are joined to some slice of a domain, which is in order."""
        return [slice_ for slice_ in slices if any(_meets(stretch, domain) for stretch in self._of(slice_))]

    def _of(self, slice_: int) -> Sequence[range]:
        if slice_ not in self._known:
            is_moved = self._moves and self._first is not None and self._known[self._first] is not None
            self._known[slice_] = self._moved(slice_) if is_moved else self._search(slice_)
            self._first = slice_ if self._first is None else self._first
        known = self._known[slice_]
        if known is None:
            raise LookupError
        return known

    def _moved(self, slice_: int) -> Sequence[range] | None:
        """The first slice's result, moved by the distance between the slices; an end of time stays."""
        first, space = self._first or 0, self._sought.space
        start, end, by = space.first, end_of(space), slice_ - first
        return [
            range(
                stretch.start if stretch.start <= start else stretch.start + by,
                stretch.stop if stretch.stop >= end else stretch.stop + by,
            )
            for stretch in self._known[first] or ()
        ]

    def _search(self, slice_: int) -> Sequence[range] | None:
        setting = ((self._given.occurrence, self._given.values(self._given.space.point(slice_))),)
        question = SliceQuestion(self._sought, self._conditions, [setting], self._unevaluated)
        try:
            stretches = needed_stretches(self._sought.space, question, self._near(slice_))
        except TooManyBoxesError:
            return None
        if question.letting_in is not None:
            return None
        if stretches:
            self._latest = slice_, range(stretches[0].start, stretches[-1].stop)
        return union_of(stretches)

    def _near(self, slice_: int) -> range:
        """The last result, moved to the same distance from this slice."""
        if self._latest is None:
            return range(slice_, slice_ + 1)
        latest, stretch = self._latest
        shift = slice_ - latest if self._shifts else 0
        return range(stretch.start + shift, stretch.stop + shift)


def _meets(stretch: range, domain: Sequence[int]) -> bool:
    at = bisect_left(domain, stretch.start)
    return at < len(domain) and domain[at] < stretch.stop
