"""Numbers of rows of slices, and the usual number of their entities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.baseline.learned_times import LearnedTimes, Observed, learn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.baseline.learned_times import Groups
    from tidemark.dependency_model.slice import Slice

_KEPT: Final = 90
_NEAR: Final = 1.25
_SHARE: Final = 0.1
"""A size is usual if this share of other slices is within this factor."""


class SliceSizes:
    """Sizes of each entity's newest slices."""

    def __init__(self) -> None:
        self._observed: dict[str, dict[Slice, Observed]] = {}
        self._usual: dict[Slice, float] = {}
        self._learned: dict[str, LearnedTimes] = {}

    def note(self, slice_: Slice, rows: int, at: float, groups: Groups) -> None:
        """A slice was written, or arrived, at `at` (seconds since 1970) with this number of rows."""
        of_entity = self._observed.setdefault(slice_.entity, {})
        of_entity.pop(slice_, None)
        of_entity[slice_] = Observed(at, float(rows), groups)
        self._usual.pop(slice_, None)
        self._learned.pop(slice_.entity, None)
        if len(of_entity) > _KEPT:
            oldest = next(iter(of_entity))
            del of_entity[oldest]
            self._usual.pop(oldest, None)

    def rows(self, slice_: Slice) -> float | None:
        """The rows of a slice; None if unknown."""
        observed = self._observed.get(slice_.entity, {}).get(slice_)
        return None if observed is None else observed.amount

    def usual(self, slice_: Slice) -> float | None:
        """The usual rows of such a slice: its own number if it is not unusual; None if unknown."""
        observed = self._observed.get(slice_.entity, {}).get(slice_)
        if observed is None:
            return None
        if slice_ not in self._usual:
            others = self._observed[slice_.entity]
            is_expected = _is_usual(observed.amount, [other.amount for other in others.values()])
            self._usual[slice_] = observed.amount if is_expected else _by_others(slice_, observed, others)
        return self._usual[slice_]

    def expected(self, entity: str, at: float, groups: Groups) -> float | None:
        """The usual rows of a slice that is not there yet; None if unknown."""
        of_entity = self._observed.get(entity)
        if not of_entity:
            return None
        if entity not in self._learned:
            self._learned[entity] = learn(sorted(of_entity.values(), key=_instant))
        return self._learned[entity].typical(at, groups)


def _is_usual(rows: float, of_entity: Sequence[float]) -> bool:
    """Whether enough of an entity's slices have a similar size; cheap enough for every input."""
    near = sum(rows / _NEAR <= other <= rows * _NEAR for other in of_entity) - 1
    return near >= _SHARE * (len(of_entity) - 1)


def _by_others(slice_: Slice, observed: Observed, of_entity: dict[Slice, Observed]) -> float:
    others = sorted((other for name, other in of_entity.items() if name != slice_), key=_instant)
    return learn(others).typical(observed.at, observed.groups)


def _instant(observed: Observed) -> float:
    return observed.at
