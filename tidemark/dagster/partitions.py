"""An entity's slices as Dagster's time-window partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.dependency_model.time.zone import iana_name
from tidemark.warehouse.dagster_partition_keys import TIME_DIMENSION, dagster_key, first_slice, part_dimension, part_key

if TYPE_CHECKING:
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.graph import DependencyGraph

_DATE: Final = "%Y-%m-%d"
_MINUTE: Final = "%Y-%m-%d-%H:%M"
_SCHEDULES: Final = {
    "5min": ("*/5 * * * *", _MINUTE),
    "10min": ("*/10 * * * *", _MINUTE),
    "hour": ("0 * * * *", _MINUTE),
    "day": ("0 0 * * *", _DATE),
    "month": ("0 0 1 * *", _DATE),
    "quarter": ("0 0 1 1,4,7,10 *", _DATE),
    "year": ("0 0 1 1 *", _DATE),
}
_WEEKDAYS: Final = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")


def slice_partitions(entity: Entity, graph: DependencyGraph) -> dg.PartitionsDefinition[str] | None:
    """The entity's slices as Dagster's partitions: by time, or by time and part; None for a static entity."""
    if entity.period is None:
        return None
    times = partitions_definition(entity, graph)
    if not entity.sub_partitions:
        return times
    parts = dg.StaticPartitionsDefinition([part_key(sub) for sub in graph.node(entity.name).subs])
    return dg.MultiPartitionsDefinition({TIME_DIMENSION: times, part_dimension(entity): parts})


def partitions_definition(entity: Entity, graph: DependencyGraph) -> dg.TimeWindowPartitionsDefinition:
    """The entity's slices as Dagster's time-window partitions, from its start to its end, if any."""
    period = str(entity.period)
    cron, fmt = _week_schedule(entity) if period == "week" else _SCHEDULES[period]
    return dg.TimeWindowPartitionsDefinition(
        start=dagster_key(period, first_slice(graph, entity.name).key),
        end=_end(entity),
        fmt=fmt,
        cron_schedule=cron,
        timezone=iana_name(entity.time_zone),
        end_offset=_ahead(entity),
    )


def _ahead(entity: Entity) -> int:
    """One partition ahead if parts have clocks of their own: a part's window may end before the entity's."""
    zones = [part.time_zone for parts in entity.sub_partitions.values() for part in parts.values()]
    return int(any(zones) and entity.end is None)


def _end(entity: Entity) -> str | None:
    """The first partition after the entity's end."""
    if entity.end is None or entity.period is None:
        return None
    end = entity.calendar.start_of(entity.end)
    return dagster_key(str(entity.period), entity.calendar.key(entity.period, end))


def _week_schedule(entity: Entity) -> tuple[str, str]:
    return f"0 0 * * {_WEEKDAYS.index(entity.week_start)}", _DATE
