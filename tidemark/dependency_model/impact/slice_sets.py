"""Sets of an entity's slices, each with a number. Even with many entities, only a few different sets are reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tidemark.dependency_model.entity.sub_partition import WHOLE
from tidemark.dependency_model.impact.stretches import Stretches, difference, union

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.dependency_model.graph.edge_stretches import Numbers

    SliceSet = tuple[tuple[Sub, Stretches], ...]
    """Slices by sub-partition, in order, the whole after its parts. Sub-partitions without slices are omitted."""

EMPTY: Final = 0
_BITS: Final = 32
_NO_FIRST: Final = 1 << 62


def slice_set(stretches: Mapping[Sub, Stretches]) -> SliceSet:
    """The set of all slices of some sub-partitions."""
    return tuple((sub, stretches[sub]) for sub in sorted(stretches, key=_after_its_parts) if stretches[sub])


def _after_its_parts(sub: Sub) -> tuple[bool, Sub]:
    return sub == WHOLE, sub


def united(left: SliceSet, right: SliceSet) -> SliceSet:
    """The slices in either set."""
    by_sub = dict(left)
    return slice_set(by_sub | {sub: union((*by_sub.get(sub, ()), *numbers)) for sub, numbers in right})


def without(left: SliceSet, right: SliceSet) -> SliceSet:
    """The slices in the first set that are not in the second."""
    by_sub = dict(right)
    return slice_set({sub: difference(numbers, by_sub.get(sub, ())) for sub, numbers in left})


def has_parts(slices: SliceSet) -> bool:
    """Whether it has slices of sub-partitions."""
    return bool(slices) and slices[0][0] != WHOLE


class SliceSets:
    """Every set so far by its number. The empty set has the number `EMPTY`."""

    def __init__(self) -> None:
        self.by_number: list[SliceSet] = []
        self._numbers: dict[SliceSet, int] = {}
        self._first: list[int] = []
        self._stop: list[int] = []
        self.number(())

    def number(self, slices: SliceSet) -> int:
        number = self._numbers.setdefault(slices, len(self.by_number))
        if number == len(self.by_number):
            self.by_number.append(slices)
            is_whole = bool(slices) and not has_parts(slices)
            self._first.append(slices[0][1][0].start if is_whole else _NO_FIRST)
            self._stop.append(slices[0][1][-1].stop if is_whole else 0)
        return number

    def bounds(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """The first and the stop number of each set's slices.

        The bounds of an empty set or a set of sub-partitions are empty.
        """
        return np.array(self._first)[numbers], np.array(self._stop)[numbers]


class ByPair(dict[int, int]):
    """A function of two numbers, computed once for each pair."""

    def __init__(self, work: Callable[[int, int], int]) -> None:
        super().__init__()
        self._work = work

    def of(self, first: Numbers, second: Numbers) -> Numbers:
        """The results for n pairs."""
        pairs = first << _BITS | second
        return np.fromiter(map(self.__getitem__, pairs.tolist()), np.int64, len(pairs))

    def __missing__(self, pair: int) -> int:
        number = self[pair] = self._work(pair >> _BITS, pair & (1 << _BITS) - 1)
        return number
