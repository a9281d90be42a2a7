"""When each instance of the day may start, from dates alone: nothing of the engine, the graph or the offsets.

All tasks of the benchmark's world go by UTC, so that a slice is a stretch between two instants and its key a date.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.readiness.world import Need, ReadinessWorld

Key = tuple[str, str]
"""A task's name and a slice's key."""

_STEP: Final = {"5min": timedelta(minutes=5), "hour": timedelta(hours=1), "day": timedelta(days=1)}
_FIRST: Final = datetime(2024, 6, 20, tzinfo=UTC)


@lru_cache(maxsize=200_000)
def begin_of(period: str, moment: datetime) -> datetime:
    """Where the slice begins that a moment lies in."""
    day = moment.replace(hour=0, minute=0)
    if period == "week":
        return day - timedelta(days=day.weekday())
    if period == "month":
        return day.replace(day=1)
    return day if period == "day" else moment.replace(minute=moment.minute // 5 * 5 if period == "5min" else 0)


@lru_cache(maxsize=200_000)
def moved(period: str, begin: datetime, count: int) -> datetime:
    """The beginning of the slice so many slices later."""
    if period == "month":
        months = begin.year * 12 + begin.month - 1 + count
        return begin.replace(year=months // 12, month=months % 12 + 1)
    return begin + count * (_STEP["day"] * 7 if period == "week" else _STEP[period])


@lru_cache(maxsize=200_000)
def key_of(period: str, begin: datetime) -> str:
    """The key as the product writes it."""
    match period:
        case "5min":
            return f"{begin:%Y-%m-%dT%H:%M}"
        case "hour":
            return f"{begin:%Y-%m-%dT%H}"
        case "month":
            return f"{begin:%Y-%m}"
    return f"{begin:%Y-%m-%d}"


def instances(world: ReadinessWorld, since: datetime, until: datetime) -> Iterator[tuple[str, str, datetime]]:
    """Task, period and beginning of every slice that ends after `since` and before `until`."""
    begins: dict[str, list[datetime]] = {}
    for name, period in world.periods.items():
        if period not in begins:
            of_period, begin = list[datetime](), begin_of(period, since)
            while moved(period, begin, 1) < until:
                of_period.append(begin)
                begin = moved(period, begin, 1)
            begins[period] = of_period
        for begin in begins[period]:
            yield name, period, begin


def inputs_of(world: ReadinessWorld, name: str, period: str, begin: datetime) -> Iterator[tuple[Key, bool]]:
    """What a slice needs, and whether any older slice will do in its place."""
    for need in world.needs[name]:
        up = world.periods[need.up]
        for upstream_begin in _begins(need, period, begin, up):
            if moved(up, upstream_begin, 1) > begin_of(up, _FIRST):
                yield (need.up, key_of(up, upstream_begin)), need.offset == "last_available"


def _begins(need: Need, period: str, begin: datetime, up: str) -> Iterator[datetime]:
    end, first = moved(period, begin, 1), begin_of(up, begin)
    if need.offset == "all":
        while first < end:
            yield first
            first = moved(up, first, 1)
    elif need.offset == "last_available":
        yield moved(up, begin_of(up, end), -1)
    elif need.offset.startswith("Range"):
        low, high = need.offset.removeprefix("Range ").replace("..", "~").replace("0-6", "0~6").split("~")
        yield from (moved(up, first, count) for count in range(int(low), int(high) + 1))
    else:
        yield from (moved(up, first, int(count)) for count in need.offset.removeprefix("Set ").split(","))
