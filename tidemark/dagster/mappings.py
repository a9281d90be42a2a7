"""Offsets in Dagster's terms: the smallest built-in partition mapping that contains the exact set.

Dagster's `TimeWindowPartitionMapping` counts whole downstream windows. It supports T-1 and ranges, but neither `Set
-7,-1` nor the days of the month so far. So Dagster's graph shows a little more than is read; runs use the exact set. No
mapping of time windows works for two time zones: Dagster raises an error in each run. A subclass of our own would
silently become a same-day mapping in Dagster's webserver.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import dagster as dg

from tidemark.dependency_model.offset import mapping_between
from tidemark.dependency_model.offset.default_offset import natural_offset
from tidemark.dependency_model.offset.offset import OffsetKind
from tidemark.dependency_model.time.date_grid import day_of
from tidemark.dependency_model.time.sample_slices import dense_slices
from tidemark.dependency_model.time.zone import iana_name
from tidemark.warehouse.dagster_partition_keys import TIME_DIMENSION, part_dimension

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.offset.offset import Offset
    from tidemark.dependency_model.time.grid import Grid
    from tidemark.dependency_model.time.local_calendar import Calendar
    from tidemark.dependency_model.time.period import Period

_BY_WORKDAYS: Final = frozenset({OffsetKind.WORKDAY, OffsetKind.FIRST_WORKDAY, OffsetKind.LAST_WORKDAY})
_WEEK: Final = 7
_SOME_DAY: Final = day_of("2024-01-01")


class _Side(NamedTuple):
    calendar: Calendar
    period: Period


@dataclass(frozen=True)
class BuiltInMapping:
    """`built_in` contains the offset; `exact` means that it is not wider."""

    built_in: dg.PartitionMapping | None
    exact: bool
    explanation: str


def partition_mapping(upstream: Entity, downstream: Entity) -> BuiltInMapping:
    """Dagster's mapping for all slices that `downstream` reads of `upstream`."""
    if upstream.period is None:
        return BuiltInMapping(None, exact=True, explanation="its only slice")
    is_its_own = upstream.name == downstream.name
    if downstream.period is None or ((upstream.sub_partitions or downstream.sub_partitions) and not is_its_own):
        return BuiltInMapping(dg.AllPartitionMapping(), exact=False, explanation="all partitions")
    if iana_name(upstream.time_zone) != iana_name(downstream.time_zone):
        of_two_clocks = f"all partitions: their windows follow the clock of {upstream.time_zone}"
        return BuiltInMapping(dg.AllPartitionMapping(), exact=False, explanation=of_two_clocks)
    natural = natural_offset(downstream.period, upstream.period)
    offsets = [
        dependency.offset or natural
        for state in downstream.states
        for dependency in state.depends_on
        if dependency.entity == upstream.name
    ]
    if any(offset.kind is OffsetKind.LAST_AVAILABLE for offset in offsets):
        return BuiltInMapping(dg.AllPartitionMapping(), exact=False, explanation="all partitions: the newest one")
    if any(offset.goes_on for offset in offsets):
        return BuiltInMapping(dg.AllPartitionMapping(), exact=False, explanation="all partitions: since a fixed day")
    down = _Side(downstream.calendar, downstream.period)
    first, last, exact = _enclosing(tuple(offsets), down, _Side(upstream.calendar, upstream.period))
    if not exact and (
        downstream.period.is_finer_than(upstream.period) or any(offset.kind in _BY_WORKDAYS for offset in offsets)
    ):
        first, last = _wider_by_a_week(down, first, last)
    windows = f"{downstream.period}s {first}..{last}" if (first, last) != (0, 0) else f"the same {downstream.period}"
    text = windows if exact else f"{windows}, wider than the exact set that runs wait for"
    times = dg.TimeWindowPartitionMapping(start_offset=first, end_offset=last)
    return BuiltInMapping(_of_the_same_part(times, upstream) if upstream.sub_partitions else times, exact, text)


def _of_the_same_part(times: dg.TimeWindowPartitionMapping, entity: Entity) -> dg.MultiPartitionMapping:
    """The mapping of an entity that reads itself. Dagster refuses one whose time has no mapping of its own."""
    part = part_dimension(entity)
    return dg.MultiPartitionMapping(
        {
            TIME_DIMENSION: dg.DimensionPartitionMapping(TIME_DIMENSION, times),
            part: dg.DimensionPartitionMapping(part, dg.IdentityPartitionMapping()),
        }
    )


@lru_cache(maxsize=4096)
def _enclosing(offsets: tuple[Offset, ...], downstream: _Side, upstream: _Side) -> tuple[int, int, bool]:
    """The first and last downstream window, relative to a slice's own, that contain all it reads, found by evaluation.

    The cache works because a project's entities have few periods and few offsets.
    """
    down, up = downstream.calendar.grid(downstream.period), upstream.calendar.grid(upstream.period)
    mappings = [mapping_between(offset, downstream, up) for offset in offsets]
    needed = {
        ordinal: sorted({upstream for mapping in mappings for upstream in mapping.expand(ordinal)})
        for ordinal in dense_slices(down)
    }
    first = min(_nearest(down, up, reads[0], ordinal) for ordinal, reads in needed.items() if reads)
    last = max(_nearest(down, up, reads[-1], ordinal) for ordinal, reads in needed.items() if reads)
    exact = all(list(_inside(down, up, ordinal + first, ordinal + last)) == reads for ordinal, reads in needed.items())
    return first, last, exact


def _wider_by_a_week(down: _Side, first: int, last: int) -> tuple[int, int]:
    """More windows, for other years: at the turn of a month or year, their workdays and weeks differ."""
    grid = down.calendar.grid(down.period)
    week = grid.at(grid.zone.midnight(_SOME_DAY + _WEEK)) - grid.at(grid.zone.midnight(_SOME_DAY))
    return first - (week if first < 0 else 0), last + (week if last > 0 else 0)


def _nearest(down: Grid, up: Grid, needed: int, ordinal: int) -> int:
    """The downstream window, relative to the slice's own, that touches an upstream slice and is nearest."""
    earliest = down.at(up.start(needed)) - ordinal
    latest = down.at(up.start(needed + 1) - 1) - ordinal
    return min(max(0, earliest), latest)


def _inside(down: Grid, up: Grid, first: int, last: int) -> Iterable[int]:
    """The upstream slices that Dagster assigns to whole downstream windows: all that overlap them."""
    return range(up.at(down.start(first)), up.at(down.start(last + 1) - 1) + 1)
