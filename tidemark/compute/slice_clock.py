"""The clock of a query is its entity's, so that an instant is on the local date.

Spark uses the session's zone for dates of instants, for times in texts, and for local times: when it analyses a query,
and when it runs it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from tidemark.compute.errors import ZoneRulesError
from tidemark.dependency_model.time.spark_time_zone import spark_zone
from tidemark.dependency_model.time.window import seconds_of
from tidemark.dependency_model.time.zone import zone_names
from tidemark.spark.java import java_command
from tidemark.spark.java_zone_rules import differences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pyspark.sql import DataFrame

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.warehouse.warehouse import Warehouse

TIME_ZONE: Final = "spark.sql.session.timeZone"
_NUMBERS: Final = re.compile(r'"(?:id|cteId)":\d+|"jvmId":"[^"]*"')
_ZONE_TEXT: Final = re.compile(r"['\"]([A-Z]\w*(?:/[\w+-]+)+)['\"]", re.ASCII)
UTC: Final = {TIME_ZONE: "UTC"}
"""The clock for values that do not depend on the entity's clock: profiles and spans of time."""


def clock_of(graph: DependencyGraph, slice_: Slice) -> Mapping[str, str]:
    """The session setting to compute, judge or show a slice: the zone of its sub-partition."""
    return {TIME_ZONE: spark_zone(graph.node(slice_.entity).calendar_of(slice_.sub).time_zone)}


def comparable_plan(rows: DataFrame) -> str:
    """A query's plan with its expressions' zones, without the ids of one analysis."""
    from tidemark.spark.internals import java_frame  # noqa: PLC0415 - it imports Spark

    return _NUMBERS.sub("", str(java_frame(rows).queryExecution().analyzed().canonicalized().toJSON()))


def require_same_rules(
    warehouse: Warehouse, slices: Iterable[Slice], goes_by_clock: Callable[[Slice], bool] = lambda _: True
) -> None:
    """Raises ZoneRulesError if Java's clock shows other times in a slice's window than the slices' rules.

    Checked are the slice's clock, if `goes_by_clock` says that its rows depend on it, and the zones in its query.
    """
    command = java_command()
    for slice_ in slices:
        node = warehouse.graph.node(slice_.entity)
        if node.grid is None:
            continue
        own, window = node.calendar_of(slice_.sub).time_zone, warehouse.graph.window(slice_)
        start, end = seconds_of(window.start), seconds_of(window.end)
        for zone in dict.fromkeys((own, *_named_zones(warehouse.queries.get(slice_.entity, "")))):
            differs = any(first < end and start < after for first, after in differences(zone, command))
            if differs and (zone != own or goes_by_clock(slice_)):
                raise ZoneRulesError.of(slice_, zone)


def _named_zones(query: str) -> list[str]:
    """The time zones in a query's texts."""
    return [name for name in _ZONE_TEXT.findall(query) if name in zone_names()]


def by_clock(graph: DependencyGraph, slices: Mapping[tuple[Any, ...], Slice]) -> list[dict[tuple[Any, ...], Slice]]:
    """Slices of one entity, by the values of their partition, in a group for each clock."""
    apart: dict[str, dict[tuple[Any, ...], Slice]] = {}
    for key, slice_ in slices.items():
        apart.setdefault(clock_of(graph, slice_)[TIME_ZONE], {})[key] = slice_
    return list(apart.values())
