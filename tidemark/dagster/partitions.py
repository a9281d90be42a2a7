"""An entity's slices as Dagster's time-window partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.warehouse.partition_keys import dagster_key, first_slice

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


def partitions_definition(entity: Entity, graph: DependencyGraph) -> dg.TimeWindowPartitionsDefinition:
    """The entity's slices as Dagster's time-window partitions, from its start to its end where it has one."""
    period = str(entity.period)
    cron, fmt = _week_schedule(entity) if period == "week" else _SCHEDULES[period]
    return dg.TimeWindowPartitionsDefinition(
        start=dagster_key(period, first_slice(graph, entity.name).key),
        end=_end(entity),
        fmt=fmt,
        cron_schedule=cron,
        timezone=entity.time_zone,
    )


def _end(entity: Entity) -> str | None:
    """The first partition that does not exist any more."""
    if entity.end is None or entity.period is None:
        return None
    end = entity.calendar.start_of(entity.end)
    return dagster_key(str(entity.period), entity.calendar.key(entity.period, end))


def _week_schedule(entity: Entity) -> tuple[str, str]:
    return f"0 0 * * {_WEEKDAYS.index(entity.week_start)}", _DATE
