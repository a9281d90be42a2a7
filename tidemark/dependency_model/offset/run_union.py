"""Stretches of slices put together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def union(parts: Sequence[Sequence[int]]) -> Sequence[int]:
    """All slices of stretches that are each in order, in order and without repeats; a single stretch as it is."""
    if len(parts) == 1:
        return parts[0]
    return sorted({slice_ for part in parts for slice_ in part})
