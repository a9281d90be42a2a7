"""Random offsets between random calendars: Dagster's own mapping of a slice holds all that we say it needs.

Equal where we say that it is exact; `test_mapping_exactness.py` has every day of the usual ones, and says that none is
called inexact for nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from typing import TYPE_CHECKING

import pytest
from dagster._core.definitions.partitions.context import partition_loading_context

from tests.dagster.mapped_keys import mapped_keys
from tests.dependency_model.random_offset import random_offset
from tests.seeds import MANY, chunks
from tidemark.dagster.mappings import partition_mapping
from tidemark.dagster.partitions import partitions_definition
from tidemark.dependency_model.entity import parse_entity
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.time import Period
from tidemark.warehouse.dagster_partition_keys import dagster_key

if TYPE_CHECKING:
    from tidemark.dependency_model.slice import Slice

START, UNTIL = "2015-01-01", datetime(2032, 1, 1, tzinfo=UTC)
YEAR = (datetime(2023, 12, 25, tzinfo=UTC), datetime(2025, 1, 6, tzinfo=UTC))
PERIODS = [Period.HOUR, Period.DAY, Period.DAY, Period.WEEK, Period.MONTH, Period.QUARTER, Period.YEAR]
ZONES = ["Europe/Paris", "America/New_York", "Asia/Kolkata", "UTC"]
CHANGES = [datetime(2024, month, day, tzinfo=UTC) for month, day in ((3, 10), (3, 31), (10, 27), (11, 3), (2, 29))]
SLICES = 5
"""How many slices each offset is asked for: one of them near a change of the clock, or the leap day."""


def compare(seed: int) -> int:
    """Compare the slices of a random offset; how many there were."""
    random = Random(seed)
    down_period, up_period = random.choice(PERIODS), random.choice(PERIODS)
    offset = random_offset(random, down_period, up_period, 2023, one_clock=True)
    zone, week_start = random.choice(ZONES), random.choice(["monday", "sunday", "saturday"])
    calendar = f"time_zone: {zone}, week_start: {week_start}, holidays: FR"
    up, down = (
        parse_entity(
            f"{{period: {period}, {calendar}, start: {START}{'T00' if period is Period.HOUR else ''}{more}}}", name
        )
        for name, period, more in (
            ("up", up_period, ""),
            ("down", down_period, f', depends_on: [{{entity: up, offset: "{offset}"}}]'),
        )
    )
    graph = DependencyGraph.build([up, down])
    mapping = partition_mapping(up, down)
    down_partitions, up_partitions = partitions_definition(down, graph), partitions_definition(up, graph)
    with partition_loading_context(effective_dt=UNTIL):
        for slice_ in _slices(random, graph):
            key = dagster_key(str(down_period), slice_.key)
            theirs = set(mapped_keys(mapping.built_in, down_partitions, up_partitions, key, UNTIL))
            needed = (needed for requirement in graph.requirements(slice_) for needed in requirement.slices)
            ours = {dagster_key(str(up_period), needed.key) for needed in needed}
            assert ours <= theirs, f"seed {seed}: {slice_} of {zone} <- {up_period} {offset}"
            assert ours == theirs or not mapping.exact, f"seed {seed}: {slice_} of {zone} <- {up_period} {offset}"
    return SLICES


def _slices(random: Random, graph: DependencyGraph) -> list[Slice]:
    first, end = (moment.timestamp() for moment in YEAR)
    moments = [random.uniform(first, end) for _ in range(SLICES - 1)]
    moments.append(random.choice(CHANGES).timestamp() + random.uniform(-86_400, 2 * 86_400))
    return [graph.slice_at("down", datetime.fromtimestamp(moment, UTC)) for moment in moments]


@pytest.mark.slow
def test_dagster_maps_a_random_offset_to_our_slices() -> None:
    assert sum(compare(seed) for seed in range(20)) == 20 * SLICES


@pytest.mark.parametrize("seed", [6201350, 6201528, 6201758])
def test_mappings_of_hours_to_long_windows_hold_on_any_day(seed: int) -> None:
    """Weeks after a quarter's turn, and workdays after a year's: no day that was looked at before."""
    assert compare(seed) == SLICES


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", chunks(1_000, 250, MANY // SLICES))
def test_dagster_maps_many_random_offsets_to_our_slices(first: int) -> None:
    assert sum(compare(seed) for seed in range(first, first + 250)) == 250 * SLICES
