"""Business time of a slice (A2): its partition and the parameters of its SQL, never the clock of the run."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from tidemark.dependency_model.time.partition_columns import clock_values, partition_columns
from tidemark.dependency_model.time.period import Period
from tidemark.warehouse.dagster_partition_keys import dagster_key, period_of

if TYPE_CHECKING:
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.time.partition_columns import PartitionValue


def partition_values(period: str, key: str) -> dict[str, dt.date | str]:
    """The start of a slice on its local clock: `dt` as a date, `hour` and `minute` as text."""
    names = partition_columns(Period.parse(period))
    day, *clock = clock_values(key) if len(names) > 1 else (dagster_key(period, key),)
    return {"dt": dt.date.fromisoformat(day), **dict(zip(names[1:], clock, strict=True))}


def time_values(entity: Entity, slice_: Slice) -> dict[str, PartitionValue]:
    """The values of the columns with the business time of a slice's rows; empty for a static slice."""
    if entity.period is None:
        return {}
    day, *clock = partition_values(str(entity.period), slice_.key).values()
    if not isinstance(day, dt.date):
        raise TypeError(day)
    return {column.name: column.value(day, *map(str, clock)) for column in entity.times}


def slice_values(entity: Entity, slice_: Slice) -> dict[str, PartitionValue]:
    """The values of all partition columns of a slice's rows: its time, then its sub-partition."""
    return {**time_values(entity, slice_), **dict(slice_.sub)}


def slice_column_types(entity: Entity) -> dict[str, str]:
    """Spark's types of the partition columns of an entity's table, by name."""
    times = {column.name: column.type for column in entity.times}
    return {**times, **dict.fromkeys(sorted(entity.sub_partitions), "string")}


def sql_parameters(graph: DependencyGraph, slice_: Slice) -> dict[str, dt.date | dt.datetime | str]:
    """The values of `:biz_date`, `:biz_hour`, `:biz_minute`, `:period_start` and `:period_end` for this slice.

    biz_date is the local date on which the slice starts. The two instants are aware and in UTC. A slice with a
    sub-partition also has its dimensions (`:region`). A static slice has no parameters.
    """
    if graph.entity(slice_.entity).is_static:
        return {}
    window = graph.window(slice_)
    values = partition_values(period_of(graph, slice_.entity), slice_.key)
    parameters = {"biz_date" if name == "dt" else f"biz_{name}": value for name, value in values.items()}
    return {**parameters, **dict(slice_.sub), "period_start": window.start, "period_end": window.end}
