"""The slices that are looked at show what all slices show."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.dependency_model.world import graph
from tidemark.dependency_model.graph.reach_ahead_in_time import latest_reach
from tidemark.dependency_model.offset import Offset, mapping_between
from tidemark.dependency_model.time import Calendar, Period
from tidemark.dependency_model.time.sample_slices import dense_slices, sparse_slices

PARIS = Calendar("Europe/Paris")
FROM, UNTIL = (int(datetime(year, 12, 1, 12, tzinfo=UTC).timestamp()) for year in (2023, 2025))


@pytest.mark.parametrize("up", ["day", "week", "month", "quarter"])
@pytest.mark.parametrize("offset", ["Set 0", "Set -1", "Range -2..-1", "last_available"])
def test_the_reach_is_that_of_every_hour_of_two_years(up: str, offset: str) -> None:
    zone = "time_zone: Europe/Paris"
    world = graph(
        up=f"{{period: {up}, {zone}}}",
        down=f'{{period: hour, {zone}, depends_on: [{{entity: up, offset: "{offset}"}}]}}',
    )
    ours, theirs = PARIS.grid(Period.HOUR), PARIS.grid(Period.parse(up))
    mapping = mapping_between(Offset.parse(offset), (PARIS, Period.HOUR), theirs)
    reaches = (
        theirs.start(mapping.expand(ordinal)[-1] + 1) - ours.start(ordinal + 1)
        for ordinal in range(ours.at(FROM), ours.at(UNTIL))
    )
    assert latest_reach(world.upstream_edges("down")[0]) == max(reaches)


@pytest.mark.parametrize("period", list(Period))
def test_slices_come_in_order_and_each_but_once(period: Period) -> None:
    grid = PARIS.grid(period)
    for slices in (dense_slices(grid), sparse_slices(PARIS, period, "2024-02-29", closely=False)):
        assert list(slices) == sorted(set(slices))
        assert slices


def test_few_slices_hold_a_change_of_the_clock_and_a_leap_day() -> None:
    days = PARIS.grid(Period.DAY)
    keys = {days.key(ordinal) for ordinal in sparse_slices(PARIS, Period.DAY, "2023-10-01", closely=False)}
    assert {"2023-10-29", "2024-02-29", "2024-03-31"} <= keys
