"""Every pair of period and offset, over five years, in several zones and with several first days of the week.

Dagster's own mapping of each slice is compared with our exact set: equal where we say that it is exact, wider where we
say that it is not - never narrower, and not called inexact for nothing.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, NamedTuple

import pytest
from dagster._core.definitions.partitions.context import partition_loading_context

from tests.dagster.mapped_keys import mapped_keys
from tidemark.dagster.mappings import BuiltInMapping, partition_mapping
from tidemark.dagster.partitions import partitions_definition
from tidemark.dependency_model.entity import parse_entity
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.slice import Slice
from tidemark.warehouse.dagster_partition_keys import dagster_key, slice_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    import dagster as dg

FROM, COMPARED_FROM, UNTIL = "2020-09-01", "2022-01-01", datetime(2027, 6, 1, tzinfo=UTC)
COMPARED_UNTIL = "2027-01-01"
PAIRS = [
    (
        "day",
        "day",
        ["Set 0", "Set -1", "Set -1,0", "Range -6..0", "Set -7,-1", "Set -365,0", "to_date week", "to_date month"],
    ),
    ("day", "day", ["to_date year", "all week", "all month", "Set 1"]),
    (
        "day",
        "day",
        ["all week -1", "first of month", "last of month -1", "date -1 year", "date -1 month", "since start"],
    ),
    (
        "day",
        "day",
        ["workday -1", "workday -5..-1", "last workday of month -1", "to_date month -1", "to_date week -1,0"],
    ),
    ("week", "day", ["first workday of week", "workday -1"]),
    ("month", "day", ["last workday of month", "first workday of month 1"]),
    ("day", "hour", ["workday -1", "to_date week -1"]),
    ("day", "hour", ["all", "Range 0-23", "Range 8..11", "Set 0", "Range -24..23"]),
    ("day", "hour", ["all day -1", "all day -6..0", "Set 5 of day -1", "date -1,0 day"]),
    ("hour", "hour", ["Set 0", "Set -1", "to_date day"]),
    ("hour", "day", ["Set 0", "Set -1"]),
    ("week", "day", ["all", "Range 0-6", "Range 0-4", "Range -7..6"]),
    ("week", "week", ["Set 0", "Set -1", "Set -52,0"]),
    ("month", "day", ["all", "Set 0", "Range 0-27"]),
    ("month", "month", ["Set 0", "Set -1", "Range -11..0"]),
    ("month", "week", ["all"]),
    ("quarter", "month", ["all", "Range 0-2"]),
    ("year", "month", ["all"]),
    ("day", "month", ["Set 0", "Set -1"]),
    ("day", "week", ["Set 0", "Set -1"]),
]
CALENDARS = [
    ("Europe/Paris", "monday"),
    ("America/New_York", "sunday"),
    ("Asia/Kolkata", "saturday"),
    ("UTC", "monday"),
]
_EXACT_HERE = {("day", "day", "Set 0"), ("month", "day", "all"), ("week", "day", "all"), ("day", "hour", "all")}
_ODD_DAYS = {
    "Europe/Paris": [date(2023, 3, 26), date(2023, 10, 29), date(2026, 3, 29)],
    "America/New_York": [date(2023, 3, 12), date(2023, 11, 5), date(2026, 3, 8)],
}
_TURNS = ("01-01", "12-31", "02-28", "02-29", "03-01", "06-30", "07-01")


class MappingCase(NamedTuple):
    zone: str
    week_start: str
    down: str
    up: str
    offset: str


CASES = [
    MappingCase(zone, week_start, down, up, offset)
    for zone, week_start in CALENDARS
    for down, up, offsets in PAIRS
    for offset in offsets
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        case if number % 4 == (1 if case.zone == "Europe/Paris" else 3) else pytest.param(case, marks=pytest.mark.long)
        for number, case in enumerate(case for case in CASES if case.zone in _ODD_DAYS)
    ],
    ids=str,
)
def test_dagster_maps_to_our_slices_where_calendars_are_odd(case: MappingCase) -> None:
    _compare(case, every=False)


@pytest.mark.long
@pytest.mark.parametrize("case", [case for case in CASES if case.down != "hour"], ids=str)
def test_dagster_maps_to_our_slices_every_day(case: MappingCase) -> None:
    _compare(case, every=True)


def test_expected_exact_mappings_are_exact() -> None:
    for zone, week_start in CALENDARS:
        for down, up, offset in sorted(_EXACT_HERE):
            assert _world(MappingCase(zone, week_start, down, up, offset))[1].exact, (zone, down, up, offset)


def _world(case: MappingCase) -> tuple[DependencyGraph, BuiltInMapping, list[dg.TimeWindowPartitionsDefinition]]:
    """Graph, mapping, and the partitions of both."""
    calendar = f"time_zone: {case.zone}, week_start: {case.week_start}, holidays: FR"
    up, down = (
        parse_entity(f"{{period: {period}, {calendar}, start: {FROM}{'T00' if period == 'hour' else ''}{more}}}", name)
        for name, period, more in (
            ("up", case.up, ""),
            ("down", case.down, f', depends_on: [{{entity: up, offset: "{case.offset}"}}]'),
        )
    )
    graph = DependencyGraph.build([up, down])
    mapping = partition_mapping(up, down)
    return graph, mapping, [partitions_definition(entity, graph) for entity in (down, up)]


def _compare(case: MappingCase, *, every: bool) -> None:
    graph, mapping, (down, up) = _world(case)
    exact = mapping.exact
    with partition_loading_context(effective_dt=UNTIL):
        keys = _choose(case, down.get_partition_keys(current_time=UNTIL), every=every)
        differs = False
        for key in keys:
            theirs = set(mapped_keys(mapping.built_in, down, up, key, UNTIL))
            needed = graph.requirements(Slice("down", slice_key(case.down, key)))
            ours = {dagster_key(case.up, slice_.key) for requirement in needed for slice_ in requirement.slices}
            assert ours, key
            assert ours <= theirs, key
            assert ours == theirs or not exact, key
            differs = differs or ours != theirs
    assert differs is not exact


def _choose(case: MappingCase, keys: Sequence[str], *, every: bool) -> list[str]:
    within = [key for key in keys if COMPARED_FROM <= key < COMPARED_UNTIL]
    if every or len(within) < 70:
        return within
    odd = {str(day) for day in _ODD_DAYS.get(case.zone, ())}
    step = len(within) // 20
    return [key for at, key in enumerate(within) if at % step == 0 or key[:10] in odd or key[5:] in _TURNS]
