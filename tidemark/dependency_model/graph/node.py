"""An entity in the graph, with numbered slices."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.sub_partition import WHOLE, Sub, combinations, finest_first
from tidemark.dependency_model.slice import STATIC_KEY, Slice
from tidemark.dependency_model.suggestion import quote_value
from tidemark.dependency_model.time.local_calendar import Calendar
from tidemark.dependency_model.time.window import seconds_of
from tidemark.errors import NoSuchSliceError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.entity.entity import Entity
    from tidemark.dependency_model.time.grid import Grid
    from tidemark.dependency_model.time.period import Period


class Node:
    """`grid` is None for a static entity. Slices are numbers in the grid; `existing` is the range that exists."""

    __slots__ = ("entity", "existing", "grid", "name", "started", "states", "subs", "zoned")

    def __init__(self, entity: Entity) -> None:
        self.entity, self.name = entity, entity.name
        self.grid: Grid | None = entity.calendar.grid(entity.period) if entity.period else None
        self.existing = _existing(entity.start, entity.end, self.grid) if self.grid else range(1)
        self.states = _state_set(entity.state_names)
        self.subs: tuple[Sub, ...] = tuple(combinations(entity.sub_partitions)) if entity.sub_partitions else (WHOLE,)
        self.zoned: Mapping[Sub, Calendar] = _calendars(entity, self.subs) if entity.sub_partitions else {}
        self.started: Mapping[Sub, str] = _starts(entity, self.subs) if entity.sub_partitions else {}

    @property
    def is_parted(self) -> bool:
        """Whether its slices have sub-partitions."""
        return self.subs != (WHOLE,)

    @property
    def period(self) -> Period | None:
        return self.entity.period

    def calendar_of(self, sub: Sub) -> Calendar:
        """The clock of a sub-partition, by default the entity's."""
        return (self.zoned and self.zoned.get(sub)) or self.entity.calendar

    def grid_of(self, sub: Sub) -> Grid | None:
        """The numbered slices of a sub-partition."""
        calendar = self.zoned.get(sub) if self.zoned else None
        return calendar.grid(self.entity.period) if calendar and self.entity.period else self.grid

    def existing_of(self, sub: Sub) -> range:
        """The slices of a sub-partition that exist."""
        grid, start = self.grid_of(sub), self.started.get(sub)
        if grid is None or (grid is self.grid and start is None):
            return self.existing
        existing = _existing(self.entity.start, self.entity.end, grid)
        if start is None:
            return existing
        first = max(existing.start, _existing(start, None, grid).start)
        return range(first, max(first, existing.stop))

    def ordinal(self, slice_: Slice) -> int:
        """The number of a slice. Raises NoSuchSliceError or ParseError for an invalid key or sub-partition."""
        if slice_.sub and slice_.sub not in self.subs:
            declared = "; ".join(",".join(f"{d}={v}" for d, v in sub) for sub in self.subs[:8])
            raise NoSuchSliceError(
                f"{self.name} has no sub-partition with this name",
                expected=declared or "none",
                found=quote_value(str(slice_)),
            )
        grid = self.grid_of(slice_.sub)
        if grid is not None:
            return grid.ordinal(slice_.key)
        if slice_.key != STATIC_KEY:
            raise NoSuchSliceError(
                f"{self.name} is static", expected=f"{self.name}@{STATIC_KEY}", found=quote_value(str(slice_))
            )
        return 0

    def slice(self, ordinal: int, sub: Sub = WHOLE) -> Slice:
        """The slice with a number."""
        grid = self.grid_of(sub)
        return Slice(self.name, grid.key(ordinal) if grid else STATIC_KEY, sub)


@lru_cache(maxsize=4096)
def _state_set(names: tuple[str, ...]) -> frozenset[str]:
    """One shared set for all entities with the same states."""
    return frozenset(names)


@lru_cache(maxsize=4096)
def _existing(start: str | None, end: str | None, grid: Grid) -> range:
    """From the slice that contains the declared start to the last slice that ends by the declared end."""
    first = grid.first if start is None else grid.at(_seconds(start, grid))
    stop = grid.last + 1 if end is None else grid.at(_seconds(end, grid))
    return range(first, max(first, stop))


def _seconds(text: str, grid: Grid) -> int:
    return seconds_of(Calendar(grid.zone.name).start_of(text))


def _calendars(entity: Entity, subs: tuple[Sub, ...]) -> dict[Sub, Calendar]:
    calendars: dict[Sub, Calendar] = {}
    for sub in subs:
        zones = (declared.time_zone for declared in finest_first(entity.sub_partitions, sub))
        zone = next((zone for zone in zones if zone), None)
        if zone:
            calendars[sub] = Calendar(zone, entity.week_start, entity.holidays)
    return calendars


def _starts(entity: Entity, subs: tuple[Sub, ...]) -> dict[Sub, str]:
    """The latest start of each sub-partition's values: a country does not exist before its region."""
    starts = ((sub, [value.start for value in finest_first(entity.sub_partitions, sub) if value.start]) for sub in subs)
    return {sub: max(given) for sub, given in starts if given}
