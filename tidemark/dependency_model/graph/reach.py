"""How far ahead in time a dependency can reach: what tells a circle in time from a spiral back through it."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from tidemark.dependency_model.time.clock_grid import ClockGrid
from tidemark.dependency_model.time.zone import DAY_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.dependency_model.graph.edge import Edge
    from tidemark.dependency_model.offset.mapping import Mapping
    from tidemark.dependency_model.time.grid import Grid

_START = int(datetime(2023, 12, 1, tzinfo=UTC).timestamp())
_END = int(datetime(2025, 3, 1, tzinfo=UTC).timestamp())
"""A leap year with the days around it: every kind of month, week, and change of the clock by rule."""


def latest_reach(edge: Edge) -> int:
    """At most so many seconds after a slice's end its last upstream slice ends; below zero it leads back in time."""
    pairs = list(edge.mappings())
    return max((_reach(mapping, down, up) for mapping, down, up in pairs), default=0)


@lru_cache(maxsize=4096)
def _reach(mapping: Mapping, down: Grid, up: Grid) -> int:
    found = -10 * 366 * DAY_SECONDS
    for ordinal in samples(down):
        needed = mapping.expand(ordinal)
        if needed:
            found = max(found, up.start(needed[-1] + 1) - down.start(ordinal + 1))
    return found


@lru_cache(maxsize=1024)
def samples(grid: Grid) -> tuple[int, ...]:
    """Slices at which a mapping can behave differently: all by day and longer, by the clock those near edges."""
    if not isinstance(grid, ClockGrid):
        return tuple(range(grid.at(_START), grid.at(_END)))
    return tuple(sorted({ordinal for instant in _edges(grid) for ordinal in _around(grid, instant)}))


def _edges(grid: ClockGrid) -> Iterator[int]:
    """Midnights that begin a month, or a day with a change of the clock."""
    first, last = grid.zone.day_at(_START), grid.zone.day_at(_END)
    odd = {day for day in grid.odd_days if first <= day < last}
    for day in range(first, last):
        if day in odd or (day - first) % 28 == 0:
            yield grid.zone.midnight(day)


def _around(grid: ClockGrid, instant: int) -> range:
    middle = grid.at(instant)
    return range(middle - 30, middle + grid.per_day + 30)
