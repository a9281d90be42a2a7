"""Sets of slice numbers as sorted ranges that neither touch nor overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Stretches = tuple[range, ...]


def stretches_of(numbers: Sequence[int]) -> Iterator[range]:
    """A range unchanged, any other numbers one by one."""
    if isinstance(numbers, range) and numbers.step == 1:
        yield numbers
    else:
        yield from (range(number, number + 1) for number in numbers)


def union(parts: Iterable[range]) -> Stretches:
    """All numbers of ranges with step 1, in any order."""
    merged: list[range] = []
    for part in sorted((part for part in parts if part), key=lambda part: part.start):
        if merged and part.start <= merged[-1].stop:
            merged[-1] = range(merged[-1].start, max(merged[-1].stop, part.stop))
        else:
            merged.append(part)
    return tuple(merged)


def difference(numbers: Stretches, without: Stretches) -> Stretches:
    """The numbers in the first set that are not in the second."""
    if not without or not numbers:
        return numbers
    left = list(numbers)
    for hole in without:
        left = [piece for part in left for piece in _around(part, hole) if piece]
    return tuple(left)


def clipped(numbers: Stretches, within: range) -> Stretches:
    """The numbers inside a range."""
    if not numbers or (within.start <= numbers[0].start and numbers[-1].stop <= within.stop):
        return numbers
    parts = (range(max(part.start, within.start), min(part.stop, within.stop)) for part in numbers)
    return tuple(part for part in parts if part)


def _around(part: range, hole: range) -> tuple[range, ...]:
    if hole.stop <= part.start or part.stop <= hole.start:
        return (part,)
    return (range(part.start, hole.start), range(hole.stop, part.stop))
