"""How many rows slices have, and how many slices of their entities usually have."""

from __future__ import annotations

from math import log1p
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.baseline.learned_times import Observed, learn

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tidemark.dependency_model.baseline.learned_times import Groups
    from tidemark.dependency_model.slice import Slice

_KEPT: Final = 90
_NEAR: Final = 1.25
_SHARE: Final = 0.1
"""A size is usual where such a share of the other slices is near: at most so many times as large, or as small."""


class SliceSizes:
    """Of the newest slices of each entity."""

    def __init__(self) -> None:
        self._observed: dict[str, dict[Slice, Observed]] = {}
        self._usual: dict[Slice, float] = {}

    def note(self, slice_: Slice, rows: int, at: float, groups: Groups) -> None:
        """A slice was written, or arrived, at `at` (seconds since 1970) with so many rows."""
        of_entity = self._observed.setdefault(slice_.entity, {})
        of_entity.pop(slice_, None)
        of_entity[slice_] = Observed(at, float(rows), groups)
        self._usual.pop(slice_, None)
        if len(of_entity) > _KEPT:
            oldest = next(iter(of_entity))
            del of_entity[oldest]
            self._usual.pop(oldest, None)

    def excess(self, slices: Iterable[Slice]) -> float:
        """The logarithm of how many times as many rows as usual these slices have together; 0 where none is known."""
        rows = usual = 0.0
        for slice_ in slices:
            observed = self._observed.get(slice_.entity, {}).get(slice_)
            if observed is not None:
                rows += observed.amount
                usual += self._usual_rows(slice_, observed)
        return log1p(rows) - log1p(usual)

    def _usual_rows(self, slice_: Slice, observed: Observed) -> float:
        """What the others of its entity have; its own number where that is among theirs."""
        if slice_ not in self._usual:
            others = self._observed[slice_.entity]
            is_expected = _is_usual(observed.amount, [other.amount for other in others.values()])
            self._usual[slice_] = observed.amount if is_expected else _expected(slice_, observed, others)
        return self._usual[slice_]


def _is_usual(rows: float, of_entity: Sequence[float]) -> bool:
    """Whether enough of an entity's slices are as large; cheap enough to ask it of every input."""
    near = sum(rows / _NEAR <= other <= rows * _NEAR for other in of_entity) - 1
    return near >= _SHARE * (len(of_entity) - 1)


def _expected(slice_: Slice, observed: Observed, of_entity: dict[Slice, Observed]) -> float:
    others = sorted((other for name, other in of_entity.items() if name != slice_), key=lambda other: other.at)
    return learn(others).typical(observed.at, observed.groups)
