"""Sets of slices as ranges in order, with gaps between them: a range of any length is one step."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def union_of(stretches: Iterable[range]) -> list[range]:
    """All slices of ranges in any order."""
    merged: list[range] = []
    for stretch in sorted(filter(None, stretches), key=_start):
        if merged and merged[-1].stop >= stretch.start:
            if stretch.stop > merged[-1].stop:
                merged[-1] = range(merged[-1].start, stretch.stop)
        else:
            merged.append(stretch)
    return merged


def common_to(first: Sequence[range], other: Sequence[range]) -> list[range]:
    """The slices in both; each is in order."""
    common: list[range] = []
    at = 0
    for stretch in first:
        while at < len(other) and other[at].stop <= stretch.start:
            at += 1
        for around in other[at:]:
            if around.start >= stretch.stop:
                break
            common.append(range(max(stretch.start, around.start), min(stretch.stop, around.stop)))
    return common


def without(first: Sequence[range], other: Sequence[range]) -> list[range]:
    """The slices of the first that are not in the other; each is in order."""
    left: list[range] = []
    for stretch in first:
        start = stretch.start
        for hole in common_to([stretch], other):
            left.append(range(start, hole.start))
            start = hole.stop
        left.append(range(start, stretch.stop))
    return [stretch for stretch in left if stretch]


def within(slices: Sequence[int], stretches: Sequence[range]) -> list[int]:
    """The slices, in order, that lie in a range."""
    starts = [stretch.start for stretch in stretches]
    places = ((slice_, bisect_right(starts, slice_) - 1) for slice_ in slices)
    return [slice_ for slice_, at in places if at >= 0 and slice_ < stretches[at].stop]


def stretches_of(slices: Iterable[int]) -> list[range]:
    """Slices in order, as ranges."""
    stretches: list[range] = []
    start = stop = 0
    for slice_ in slices:
        if slice_ != stop or start == stop:
            if start != stop:
                stretches.append(range(start, stop))
            start = slice_
        stop = slice_ + 1
    return [*stretches, range(start, stop)] if start != stop else stretches


def common_slices(first: Sequence[int], other: Sequence[int]) -> list[int]:
    """The slices in both."""
    there = {*other}
    return [slice_ for slice_ in first if slice_ in there]


def _start(stretch: range) -> int:
    return stretch.start
