"""Our mappings against what Dagster makes of them: exact where we say exact, enclosing everywhere."""

from datetime import UTC, datetime

import dagster as dg
import pytest
from dagster._core.definitions.partitions.context import partition_loading_context

from tests.dagster.mapped_keys import mapped_keys
from tidemark.dagster.mappings import partition_mapping
from tidemark.dagster.partitions import partitions_definition, slice_partitions
from tidemark.dependency_model.entity import Entity, parse_entity
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.slice import Slice
from tidemark.warehouse.dagster_partition_keys import TIME_DIMENSION, dagster_key, slice_key

UNTIL = datetime(2026, 12, 1, tzinfo=UTC)
FROM = "2025-01-01"
COMPARED_FROM = "2025-03-01"

# downstream period, offset, upstream period, exact in Dagster's terms
CASES = [
    ("day", "Set 0", "day", True),
    ("day", "Set -1", "day", True),
    ("day", "Set -1,0", "day", True),
    ("day", "Range -6..0", "day", True),
    ("day", "Set -7,-1", "day", False),
    ("day", "Range 0-23", "hour", True),
    ("day", "Set 3", "hour", False),
    ("week", "Range 0-6", "day", True),
    ("week", "all", "day", True),
    ("month", "all", "day", True),
    ("month", "Set 0", "day", False),
    ("day", "to_date month", "day", False),
    ("day", "Set 0", "month", True),
    ("hour", "Set -1", "hour", True),
]


def entity(name: str, period: str, depends: str = "") -> Entity:
    start = f"{FROM}T00" if period == "hour" else FROM
    return parse_entity(f"{{period: {period}, time_zone: Europe/Paris, start: {start}{depends}}}", name)


@pytest.mark.parametrize(("period", "offset", "upstream_period", "exact"), CASES)
def test_dagster_maps_to_our_slices(period: str, offset: str, upstream_period: str, exact: bool) -> None:
    upstream = entity("up", upstream_period)
    downstream = entity("down", period, f', depends_on: [{{entity: up, offset: "{offset}"}}]')
    mapping = partition_mapping(upstream, downstream)
    assert mapping.exact is exact
    graph = DependencyGraph.build([upstream, downstream])
    down_def, up_def = partitions_definition(downstream, graph), partitions_definition(upstream, graph)
    with partition_loading_context(effective_dt=UNTIL):
        keys = [key for key in down_def.get_partition_keys(current_time=UNTIL) if key >= COMPARED_FROM]
        step = max(1, len(keys) // 400)
        for key in keys[: -2 if len(keys) > 4 else None : step]:
            theirs = set(mapped_keys(mapping.built_in, down_def, up_def, key, UNTIL))
            ours = {
                dagster_key(upstream_period, slice_.key)
                for slice_ in _inputs_of(graph, Slice("down", slice_key(period, key)))
            }
            assert ours, key
            assert ours <= theirs, key
            if exact:
                assert ours == theirs, key


def test_each_part_reads_its_own_past() -> None:
    """Dagster refuses definitions in which an asset depends on itself, unless its time dimension is counted."""
    parts = "sub_partitions: {region: {cn: {}, us: {}}}, depends_on: [{entity: up, offset: Set -1}]"
    itself = parse_entity(f"{{period: day, time_zone: UTC, start: {FROM}, {parts}}}", "up")
    mapping = partition_mapping(itself, itself)
    partitions = slice_partitions(itself, DependencyGraph.build([itself]))
    assert isinstance(partitions, dg.MultiPartitionsDefinition)
    dep = dg.AssetDep("up", partition_mapping=mapping.built_in)
    assert dg.AssetsDefinition(specs=[dg.AssetSpec("up", partitions_def=partitions, deps=[dep])])
    key = dg.MultiPartitionKey({TIME_DIMENSION: COMPARED_FROM, "region": "cn"})
    with partition_loading_context(effective_dt=UNTIL):
        assert mapped_keys(mapping.built_in, partitions, partitions, key, UNTIL) == ["2025-02-28|cn"]
    assert mapping.exact


def _inputs_of(graph: DependencyGraph, slice_: Slice) -> list[Slice]:
    return [upstream for requirement in graph.requirements(slice_) for upstream in requirement.slices]
