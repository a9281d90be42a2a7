"""Slices against Dagster's own partitions: the same ones, in the same order, under both spellings."""

from datetime import UTC, datetime

import dagster as dg
import pytest
from dagster._core.definitions.partitions.context import partition_loading_context

from tests.examples import each
from tidemark.dagster.partitions import partitions_definition
from tidemark.dependency_model.entity import parse_entity
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.time import Period
from tidemark.errors import NoSuchSliceError
from tidemark.warehouse.dagster_partition_keys import dagster_key, slice_key, slice_of

CASES = [
    ("hour", "Europe/Paris", "2026-03-28T00", "2026-03-30"),
    ("hour", "Europe/Paris", "2026-10-24T12", "2026-10-26"),
    ("hour", "America/New_York", "2026-10-31T12", "2026-11-02"),
    ("day", "Europe/Paris", "2026-03-23", "2026-11-02"),
    ("day", "Asia/Shanghai", "2024-02-27", "2024-03-02"),
    ("week", "Europe/Paris", "2026-03-23", "2026-11-02"),
    ("month", "Europe/Paris", "2025-12-01", "2026-11-02"),
    ("quarter", "Europe/Paris", "2025-01-01", "2026-11-02"),
    ("year", "Europe/Paris", "2020-01-01", "2026-11-02"),
    ("10min", "Europe/Paris", "2026-10-25T00", "2026-10-26"),
]


@pytest.mark.parametrize(("period", "zone", "start", "until"), CASES)
def test_slices_are_dagsters_partitions(period: str, zone: str, start: str, until: str) -> None:
    entity = parse_entity(f"{{period: {period}, time_zone: {zone}, start: {start}}}", "e")
    graph = DependencyGraph.build([entity])
    moment = datetime.fromisoformat(until).replace(tzinfo=UTC)
    with dg.DagsterInstance.ephemeral():
        theirs = partitions_definition(entity, graph).get_partition_keys(current_time=moment)
    ours = [dagster_key(period, slice_.key) for slice_ in graph.slices("e", until=moment)]
    assert ours == list(theirs)
    assert len(ours) > 2
    assert [slice_key(period, key) for key in theirs] == [slice_.key for slice_ in graph.slices("e", until=moment)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("period", "end"), each(3, [("hour", "2026-03-29T12"), *((case[0], case[3]) for case in CASES)])
)
def test_an_entity_that_came_to_rest_has_no_partitions_after_its_end(period: str, end: str) -> None:
    start = "2026-01-01" if period == "10min" else "2019-12-28"  # else three hundred thousand partitions
    entity = parse_entity(f"{{period: {period}, time_zone: Europe/Paris, start: {start}, end: {end}}}", "e")
    graph = DependencyGraph.build([entity])
    years_later = datetime(2031, 1, 1, tzinfo=UTC)
    with dg.DagsterInstance.ephemeral():
        theirs = partitions_definition(entity, graph).get_partition_keys(current_time=years_later)
    ours = [dagster_key(period, slice_.key) for slice_ in graph.slices("e", until=years_later)]
    assert ours == list(theirs)
    assert ours[-1] < dagster_key(period, entity.calendar.key(Period(period), datetime(2027, 1, 1, tzinfo=UTC)))


@pytest.mark.parametrize(
    ("zone", "day", "until"),
    [("Pacific/Apia", "2011-12-30", "2012-01-05"), ("Pacific/Kiritimati", "1994-12-31", "1995-01-05")],
)
def test_only_dagster_has_a_day_that_its_zone_skipped(zone: str, day: str, until: str) -> None:
    """Its exclusions go by instants: they take the next day away, too, which begins when the skipped one does."""
    entity = parse_entity(f"{{period: day, time_zone: {zone}, start: {day[:8]}26}}", "e")
    graph, moment = DependencyGraph.build([entity]), datetime.fromisoformat(until).replace(tzinfo=UTC)
    with partition_loading_context(effective_dt=moment):
        partitions = partitions_definition(entity, graph)
        theirs = partitions.get_partition_keys()
        window, following = (
            partitions.time_window_for_partition_key(key) for key in theirs[theirs.index(day) : theirs.index(day) + 2]
        )
    assert set(theirs) - {slice_.key for slice_ in graph.slices("e", until=moment)} == {day}
    assert window.start.timestamp() == following.start.timestamp()
    with pytest.raises(NoSuchSliceError, match="skipped this day"):
        graph.window(slice_of(entity, day))


@pytest.mark.parametrize("period", ["hour", "10min"])
def test_a_key_of_another_period_is_refused(period: str) -> None:
    with pytest.raises(ValueError, match="not a slice key"):
        dagster_key(period, "2026-03")
    with pytest.raises(ValueError, match="not a partition key"):
        slice_key(period, "2026-03")
