"""Unions of slice ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def union(parts: Sequence[Sequence[int]]) -> Sequence[int]:
    """All slices of sorted parts, sorted and without repeats; a single part is returned unchanged.

    Ranges that touch or overlap are merged without looking at their slices.
    """
    if len(parts) == 1:
        return parts[0]
    ranges = [part for part in parts if isinstance(part, range) and part.step == 1]
    if len(ranges) != len(parts):
        return sorted({slice_ for part in parts for slice_ in part})
    joined = _joined(ranges)
    return joined[0] if len(joined) == 1 else [slice_ for part in joined for slice_ in part]


def _joined(ranges: Sequence[range]) -> list[range]:
    """Disjoint ranges with the same numbers, in order."""
    joined: list[range] = []
    for part in sorted((part for part in ranges if part), key=lambda part: part.start):
        if joined and part.start <= joined[-1].stop:
            joined[-1] = range(joined[-1].start, max(joined[-1].stop, part.stop))
        else:
            joined.append(part)
    return joined
