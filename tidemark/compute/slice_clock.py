"""The clock of a query: that of its entity, so that the day of an instant is the day that people mean.

Spark takes the session's zone for dates of instants, for times that are texts, and for wall-clock times: when it
analyses a query, and again when it runs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tidemark.compute.errors import ZoneRulesError
from tidemark.dependency_model.time.spark_time_zone import spark_zone
from tidemark.dependency_model.time.window import seconds_of
from tidemark.spark.java import java_command
from tidemark.spark.java_zone_rules import differences

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice

TIME_ZONE: Final = "spark.sql.session.timeZone"
UTC: Final = {TIME_ZONE: "UTC"}
"""Of what is told of rows whatever their entity's clock is: profiles and spans of time."""


def clock_of(graph: DependencyGraph, slice_: Slice) -> Mapping[str, str]:
    """The setting of a session that computes, judges or shows a slice: the zone of its part of the entity."""
    return {TIME_ZONE: spark_zone(graph.node(slice_.entity).calendar_of(slice_.sub).time_zone)}


def require_same_rules(graph: DependencyGraph, slices: Iterable[Slice]) -> None:
    """Raise ZoneRulesError where Java's clock shows other times in a slice's window than the slices go by."""
    command = java_command()
    for slice_ in slices:
        node = graph.node(slice_.entity)
        if node.grid is None:
            continue
        zone, window = node.calendar_of(slice_.sub).time_zone, graph.window(slice_)
        start, end = seconds_of(window.start), seconds_of(window.end)
        if any(first < end and start < after for first, after in differences(zone, command)):
            raise ZoneRulesError.of(slice_, zone)


def by_clock(graph: DependencyGraph, slices: Mapping[tuple[Any, ...], Slice]) -> list[dict[tuple[Any, ...], Slice]]:
    """Slices of one entity, by their partition's values, apart for each clock that its parts have."""
    apart: dict[str, dict[tuple[Any, ...], Slice]] = {}
    for key, slice_ in slices.items():
        apart.setdefault(clock_of(graph, slice_)[TIME_ZONE], {})[key] = slice_
    return list(apart.values())
