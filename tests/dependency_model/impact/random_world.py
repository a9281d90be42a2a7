"""Random worlds of all that a closure goes over: every kind of offset, kinds of entities, regions, clocks, ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.dependency_model.random_offset import random_offset
from tests.dependency_model.world import graph
from tidemark.dependency_model.time import Period

if TYPE_CHECKING:
    from random import Random

    from tidemark.dependency_model.graph import DependencyGraph

_PERIODS: Final = ("hour", "day", "day", "day", "day", "week", "month", "quarter", "year")
_OWN: Final = ("Set -1", "Set -1", "Set -2", "Set -3,-1", "Range -3..-1")
_SAME: Final = ("Set 0", "Set -1", "Set -1,0", "Set -7,-1,0", "Range -6..0", "last_available", "Set 1")
_FINER: Final = ("all", "Set 0", "Range 0-3", "to_date month", "all month -1", "last of month")
_COARSER: Final = ("Set -1", "Set 0", "last_available")
_ZONES: Final = ("", "", "", "UTC", "Asia/Shanghai", "America/New_York")
_REGIONS: Final = (
    "{region: {cn: {time_zone: Asia/Shanghai}, us: {time_zone: America/New_York, start: 2024-03-27}, eu: {}}}",
    "{region: [cn, eu]}",
    "{region: {eu: {}, us: {}}, unit: [a, b]}",
)
_SELDOM: Final = 0.1
_OFTEN: Final = 0.4


def random_world(random: Random) -> DependencyGraph:
    """Two to eight entities over the night in March that has no two o'clock in Paris.

    Each depends on some that come before it, and on its own earlier slices.
    """
    periods = [random.choice(_PERIODS) if random.random() > _SELDOM / 2 else "" for _ in range(random.randint(2, 8))]
    return graph(**{f"e{number}": _entity(random, number, periods) for number in range(len(periods))})


def _entity(random: Random, number: int, periods: list[str]) -> str:
    period = periods[number]
    needs = {random.randrange(number + 1): None for _ in range(random.randint(1, 4))}
    clauses = [clause for up in needs if (clause := _clause(random, up, number, periods))]
    if not period:
        return f"kind: Static\ndepends_on: [{', '.join(clauses)}]\n"
    lines = [f"period: {period}", f"start: 2024-03-2{random.randrange(10)}", "holidays: weekdays"]
    kind = random.choice(("TimeSeries", "TimeSeries", "Sliding", "Cumulative"))
    lines += [f"kind: {kind}"] + ["granularity: year"] * (kind == "Cumulative")
    zone = random.choice(_ZONES)
    lines += [f"time_zone: {zone}"] * bool(zone)
    lines += [f"end: 2024-04-0{random.randint(1, 4)}"] * (random.random() < _SELDOM)
    lines += [f"sub_partitions: {random.choice(_REGIONS)}"] * (random.random() < _OFTEN)
    if len(clauses) > 1 and random.random() < _SELDOM:
        early = f"{{entity_state: early, depends_on: [{clauses.pop()}]}}"
        return "\n".join(
            [*lines, f"states: [{early}, {{entity_state: completed, depends_on: [{', '.join(clauses)}]}}]\n"]
        )
    return "\n".join([*lines, f"depends_on: [{', '.join(clauses)}]\n"])


def _clause(random: Random, up: int, down: int, periods: list[str]) -> str:
    """A dependency, with sub-partitions chosen now and then."""
    if up == down:
        return f'{{entity: e{up}, offset: "{random.choice(_OWN)}"}}' if periods[up] else ""
    if not periods[up] or not periods[down]:
        return f"e{up}" if not periods[up] else ""
    chosen = ", sub: {region: [eu]}" * (random.random() < _SELDOM)
    offset = _offset(random, Period.parse(periods[down]), Period.parse(periods[up]))
    return f'{{entity: e{up}, offset: "{offset}"{chosen}}}'


def _offset(random: Random, down: Period, up: Period) -> str:
    """Mostly those that people write, the others any that has a meaning."""
    if random.random() < _OFTEN:
        return str(random_offset(random, down, up, 2024))
    if down == up:
        return random.choice(_SAME)
    return random.choice(_FINER if up.is_finer_than(down) else _COARSER)
