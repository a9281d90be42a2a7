"""Stretches of slices against plain sets of them."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tidemark.dependency_model.lineage.stretches import (
    common_slices,
    common_to,
    stretches_of,
    union_of,
    within,
    without,
)

stretches = st.lists(st.builds(lambda start, size: range(start, start + size), st.integers(0, 60), st.integers(0, 9)))
slices = st.sets(st.integers(0, 70)).map(sorted)


def _all(of: list[range]) -> set[int]:
    return {slice_ for stretch in of for slice_ in stretch}


@given(stretches, stretches)
def test_union_and_intersection_are_those_of_sets(first: list[range], other: list[range]) -> None:
    one_set, other_set = union_of(first), union_of(other)
    assert _all(one_set) == _all(first)
    assert all(one_set)
    assert all(before.stop < after.start for before, after in pairwise(one_set))
    assert _all(common_to(one_set, other_set)) == _all(first) & _all(other)
    assert _all(without(one_set, other_set)) == _all(first) - _all(other)
    assert all(without(one_set, other_set))


@given(slices, stretches)
def test_slices_within_stretches(some: list[int], of: list[range]) -> None:
    assert within(some, union_of(of)) == sorted({*some} & _all(of))
    assert stretches_of(some) == union_of([range(slice_, slice_ + 1) for slice_ in some])


@given(slices, slices)
def test_slices_in_both(first: list[int], other: list[int]) -> None:
    assert common_slices(first, other) == sorted({*first} & {*other})
