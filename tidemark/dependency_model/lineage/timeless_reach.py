"""Which slices of one mention a condition joins to a slice of another, where no business time goes into it.

`u.dt BETWEEN date_sub(o.dt, 6) AND o.dt` is the same at every business time: of each slice it is asked once.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from tidemark.dependency_model.lineage.bound_expression import Parameter, value_parts
from tidemark.dependency_model.lineage.slice_question import SliceQuestion
from tidemark.dependency_model.lineage.slice_space import TooManyBoxesError, end_of, needed_stretches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.lineage.bound_expression import Call
    from tidemark.dependency_model.lineage.slice_question import Condition, Variable


def is_timeless(condition: Condition) -> bool:
    """Whether it says the same at every business time, of rows that no outer join makes up."""
    if condition.sides or condition.optional:
        return False
    return not any(isinstance(part, Parameter) for part in value_parts(condition.constraint.condition))


class TimelessReach:
    """From slices of `given` to those of `sought` that conditions join to them.

    Both questions raise LookupError where nobody can tell.
    """

    def __init__(
        self, given: Variable, sought: Variable, conditions: Sequence[Condition], unevaluated: list[Call]
    ) -> None:
        self._given, self._sought, self._conditions, self._unevaluated = given, sought, conditions, unevaluated
        self._end = end_of(sought.space)
        self._first = sought.space.slices(sought.space.first, sought.space.first).start
        self._known: dict[int, Sequence[range] | None] = {}
        self._shifts = given.space is sought.space
        self._latest: tuple[int, range] | None = None

    def reached(self, slices: Sequence[int]) -> list[int]:
        """The slices that some of these are joined to."""
        stretches = {stretch for slice_ in slices for stretch in self._of(slice_)}
        if any(stretch.start <= self._first or stretch.stop >= self._end for stretch in stretches):
            raise LookupError
        return sorted({slice_ for stretch in stretches for slice_ in stretch})

    def reaching(self, slices: Sequence[int], domain: Sequence[int]) -> list[int]:
        """Those of the slices that are joined to some slice of a domain, which is in order."""
        return [slice_ for slice_ in slices if any(_meets(stretch, domain) for stretch in self._of(slice_))]

    def _of(self, slice_: int) -> Sequence[range]:
        if slice_ not in self._known:
            self._known[slice_] = self._search(slice_)
        known = self._known[slice_]
        if known is None:
            raise LookupError
        return known

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
        return _merged(stretches)

    def _near(self, slice_: int) -> range:
        """As far from the slice as it was for the last one."""
        if self._latest is None:
            return range(slice_, slice_ + 1)
        latest, stretch = self._latest
        shift = slice_ - latest if self._shifts else 0
        return range(stretch.start + shift, stretch.stop + shift)


def _meets(stretch: range, domain: Sequence[int]) -> bool:
    at = bisect_left(domain, stretch.start)
    return at < len(domain) and domain[at] < stretch.stop


def _merged(stretches: Sequence[range]) -> list[range]:
    """Stretches in order, those that touch put together."""
    merged: list[range] = []
    for stretch in stretches:
        if merged and merged[-1].stop == stretch.start:
            merged[-1] = range(merged[-1].start, stretch.stop)
        else:
            merged.append(stretch)
    return merged
