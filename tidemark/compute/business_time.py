"""Business time of a slice (A2): the partition it writes, the parameters of its SQL - never the clock of the run."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from tidemark.warehouse.partition_keys import dagster_key, period_of

if TYPE_CHECKING:
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice


def partition_values(period: str, key: str) -> dict[str, dt.date | str]:
    """Partition columns of a slice's rows: dt (the day it starts in), and hour and minute as text for shorter periods.

    The hour that an autumn day repeats keeps its offset (`02+01:00`), so that both are partitions of their own and
    `hour BETWEEN '00' AND '23'` still takes the whole day.
    """
    date, _, clock = key.partition("T")
    match period:
        case "hour":
            return {"dt": dt.date.fromisoformat(date), "hour": clock}
        case "5min" | "10min":
            hour, minute = clock[:2], clock[3:5]
            return {"dt": dt.date.fromisoformat(date), "hour": hour + clock[5:], "minute": minute}
        case _:
            return {"dt": dt.date.fromisoformat(dagster_key(period, key))}


def partition_columns(period: str) -> tuple[str, ...]:
    """Names of the partition columns that rows of this period have."""
    match period:
        case "hour":
            return ("dt", "hour")
        case "5min" | "10min":
            return ("dt", "hour", "minute")
        case _:
            return ("dt",)


def sql_parameters(graph: DependencyGraph, slice_: Slice) -> dict[str, dt.date | dt.datetime | str]:
    """What `:biz_date`, `:biz_hour`, `:biz_minute`, `:period_start` and `:period_end` are for this slice.

    biz_date is the local date on which the slice starts; the two instants are aware and in UTC.
    """
    window = graph.window(slice_)
    values = partition_values(period_of(graph, slice_.entity), slice_.key)
    named = {"biz_date" if name == "dt" else f"biz_{name}": value for name, value in values.items()}
    return {**named, "period_start": window.start, "period_end": window.end}
