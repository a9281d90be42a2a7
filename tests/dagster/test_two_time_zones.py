"""Entities of two time zones: Dagster runs each, whatever their periods and offsets, and its graph holds what is read.

Dagster asks a dependency's mapping before each step, and has none of time windows for two zones.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product
from random import Random
from typing import TYPE_CHECKING

import dagster as dg
import pytest
from dagster._core.definitions.partitions.context import partition_loading_context

from tests.dagster.mapped_keys import mapped_keys
from tests.dependency_model.random_offset import random_offset
from tests.seeds import chunks
from tidemark.dagster.mappings import partition_mapping
from tidemark.dagster.partitions import partitions_definition
from tidemark.dependency_model.entity import parse_entity
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.time import Period
from tidemark.warehouse.dagster_partition_keys import dagster_key

if TYPE_CHECKING:
    from tidemark.dependency_model.entity import Entity

ZONES = [
    "UTC",
    "Europe/Paris",
    "America/New_York",
    "Asia/Shanghai",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Australia/Adelaide",
    "Australia/Lord_Howe",
    "UTC-8",
    "UTC+5:30",
    "Etc/GMT+12",
]
"""Of whole, half and quarter hours, with and without changes of the clock, and by offset alone."""
ALIKE = {frozenset({"Asia/Kolkata", "UTC+5:30"})}
PERIODS = [Period.FIVE_MINUTES, Period.HOUR, Period.DAY, Period.WEEK, Period.MONTH]
PAIRS = [(up, down) for up, down in product(ZONES, ZONES) if up != down]
REFUSED = {("Australia/Lord_Howe", Period.HOUR)}
"""`check` refuses these hours: Dagster's are others after a change of half an hour."""
NOW = datetime(2026, 4, 7, 1, tzinfo=UTC)
STARTS = {Period.FIVE_MINUTES: "2026-03-26T00", Period.HOUR: "2026-03-26T00"}


def materialize(seed: int, up_zone: str, down_zone: str) -> None:
    """One slice, its mapping asked for as the runs of Dagster ask."""
    random = Random(seed)
    down_period, up_period = (
        random.choice([period for period in PERIODS if (zone, period) not in REFUSED]) for zone in (down_zone, up_zone)
    )
    offset = random_offset(random, down_period, up_period, 2025, one_clock=False)
    up = parse_entity(_text(up_period, up_zone, ""), "up")
    down = parse_entity(_text(down_period, down_zone, f', depends_on: [{{entity: up, offset: "{offset}"}}]'), "down")
    graph, mapping = DependencyGraph.build([up, down]), partition_mapping(up, down)
    assert mapping.exact is False or frozenset({up_zone, down_zone}) in ALIKE
    case = f"seed {seed}: {down_period} of {down_zone} <- {up_period} of {up_zone} {offset}"
    with partition_loading_context(effective_dt=NOW):
        partitions = {entity.name: partitions_definition(entity, graph) for entity in (up, down)}
        slice_ = random.choice([past for past in graph.slices("down", until=NOW) if graph.window(past).end <= NOW])
        key = dagster_key(str(down_period), slice_.key)
        theirs = set(mapped_keys(mapping.built_in, partitions["down"], partitions["up"], key, NOW))
        read = {needed for requirement in graph.requirements(slice_) for needed in requirement.slices}
        over = [needed.key for needed in read if graph.window(needed).end <= NOW]
        assert {dagster_key(str(up_period), needed) for needed in over} <= theirs, case
        assert _run(mapping.built_in, partitions, key), case


def _text(period: Period, zone: str, more: str) -> str:
    return f"{{period: {period}, time_zone: '{zone}', holidays: FR, start: {STARTS.get(period, '2025-12-29')}{more}}}"


def _run(
    mapping: dg.PartitionMapping | None, partitions: dict[str, dg.TimeWindowPartitionsDefinition], key: str
) -> bool:
    given = dg.AssetSpec("up", partitions_def=partitions["up"])
    dep = dg.AssetDep("up", partition_mapping=mapping)

    @dg.asset(partitions_def=partitions["down"], deps=[dep])
    def down() -> None:
        pass

    return dg.materialize([given, down], partition_key=key, selection=[down]).success


@pytest.mark.parametrize(("seed", "pair"), [*enumerate(Random(52).sample(PAIRS, 6))], ids=str)
def test_dagster_runs_a_dependency_between_two_zones(seed: int, pair: tuple[str, str]) -> None:
    materialize(seed, *pair)


@pytest.mark.long
@pytest.mark.parametrize("first", chunks(0, 100, 1_000))
def test_dagster_runs_every_pair_of_zones(first: int) -> None:
    for seed in range(first, first + 100):
        materialize(seed, *PAIRS[seed % len(PAIRS)])


@pytest.mark.parametrize("zone", ["UTC+8", "UTC-8", "UTC+5:30", "UTC+09:30", "Etc/GMT+3", "America/Vancouver"])
def test_each_slice_is_a_partition_with_the_same_window(zone: str) -> None:
    """Also where the rules of a zone changed lately, or a fixed offset names it."""
    assert assert_windows_are_the_same(_hours(zone)) > 900


def assert_windows_are_the_same(entity: Entity) -> int:
    """Each slice until December is a partition of the same window; their number."""
    graph = DependencyGraph.build([entity])
    until = datetime(2026, 12, 1, tzinfo=UTC)
    with partition_loading_context(effective_dt=until):
        partitions = partitions_definition(entity, graph)
        theirs = {
            key: (window.start.timestamp(), window.end.timestamp())
            for key in partitions.get_partition_keys()
            for window in (partitions.time_window_for_partition_key(key),)
        }
    windows = {slice_: graph.window(slice_) for slice_ in graph.slices(entity.name, until=until)}
    assert theirs == {
        dagster_key("hour", slice_.key): (window.start.timestamp(), window.end.timestamp())
        for slice_, window in windows.items()
        if window.end <= until
    }
    return len(theirs)


def _hours(zone: str) -> Entity:
    return parse_entity(f"{{period: hour, time_zone: '{zone}', start: 2026-10-20T00}}", "hours")
