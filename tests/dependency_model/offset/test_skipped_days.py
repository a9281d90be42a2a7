"""Days that a zone skipped are not slices: no offset names one, and both directions agree around them."""

from __future__ import annotations

from collections import defaultdict

import pytest

from tests.dependency_model.world import graph, keys
from tidemark.dependency_model.offset import Offset, mapping_between
from tidemark.dependency_model.time import Calendar, Period
from tidemark.dependency_model.time.date_grid import DateGrid, day_of

SKIPPED = {"Pacific/Apia": "2011-12-30", "Pacific/Kwajalein": "1993-08-21", "Pacific/Kiritimati": "1994-12-31"}
OFFSETS = [
    *("Set 0", "Set -1", "Range -6..0", "all", "all day -6..0", "all day -1..0", "all month -1", "to_date month"),
    *("date -1 day", "date -1 week", "date -1 year", "first of day -1", "last of day -1", "last of month"),
    *("last of month -1", "last of year -1", "last_available"),
]
NEAR = 40
"""Days."""


def days_of(zone: str) -> DateGrid:
    grid = Calendar(zone).grid(Period.DAY)
    assert isinstance(grid, DateGrid)
    return grid


@pytest.mark.parametrize("zone", SKIPPED)
@pytest.mark.parametrize("text", OFFSETS)
def test_both_directions_agree(zone: str, text: str) -> None:
    skipped = day_of(SKIPPED[zone])
    for down, up in ((zone, zone), (zone, "UTC"), ("UTC", zone)):
        below, above = days_of(down), days_of(up)
        mapping = mapping_between(Offset.parse(text), (Calendar(down), Period.DAY), above)
        near = range(below.at_day(skipped - NEAR), below.at_day(skipped + NEAR) + 1)
        users = defaultdict[int, list[int]](list)
        for slice_ in near:
            for needed in mapping.expand(slice_):
                users[needed].append(slice_)
        for needed in range(above.at_day(skipped) - 4, above.at_day(skipped) + 4):
            assert [slice_ for slice_ in mapping.inverse(needed) if slice_ in near] == users[needed], (down, up)


@pytest.mark.parametrize("zone", SKIPPED)
@pytest.mark.parametrize("unit", ["day", "week", "month", "year"])
def test_a_date_that_was_skipped_names_no_slice(zone: str, unit: str) -> None:
    """As `dt = date_sub(:biz_date, 1)` and its like read none: there is no such partition."""
    grid, skipped = days_of(zone), day_of(SKIPPED[zone])
    mapping = mapping_between(Offset.parse(f"date -1 {unit}"), (Calendar(zone), Period.DAY), grid)
    for slice_ in range(grid.at_day(skipped), grid.at_day(skipped + 400)):
        for needed in mapping.expand(slice_):
            assert needed < slice_
    if unit == "day":
        assert list(mapping.expand(grid.at_day(skipped + 1))) == []
        hours = Calendar(zone).grid(Period.HOUR)
        of_hours = mapping_between(Offset.parse("date -1 day"), (Calendar(zone), Period.HOUR), grid)
        assert list(of_hours.expand(hours.at(grid.start(grid.at_day(skipped + 1))))) == []


def test_a_slice_after_a_skipped_day_does_not_wait_for_itself() -> None:
    apia = "time_zone: Pacific/Apia\nperiod: day\nstart: 2011-01-01\n"
    world = graph(u=f'{apia}depends_on: [{{entity: u, offset: "date -1 day"}}]\n')
    assert keys(world, "u@2011-12-31") == {"u": []}
    assert keys(world, "u@2012-01-01") == {"u": ["2011-12-31"]}
