"""Counts of late changes by event minute. The slices of late changes are found by these counts."""

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from tidemark.capture.binlog.consecutive_records import MINUTE_MS
from tidemark.capture.heartbeat.slow_clock import Spans


@dataclass(frozen=True)
class LateMinute:
    """Late changes of one event minute (epoch ms) in one batch; `dated` of them have reliable event times."""

    batch: int
    minute: int
    changes: int
    dated: int


def late_minutes(changes: DataFrame, slow: Mapping[str, Spans]) -> list[LateMinute]:
    """The late changes by minute, in one Spark job over the result of `table_changes`."""
    minute = (sf.floor(sf.col("_event_ms") / MINUTE_MS) * MINUTE_MS).cast("bigint")
    minutes = (
        changes.where("_late AND NOT _bad")
        .groupBy(sf.col("_batch").alias("batch"), minute.alias("minute"))
        .agg(sf.count("*").alias("changes"), sf.count_if(is_dated(slow)).alias("dated"))
    )
    return [LateMinute(**row) for row in minutes.toArrow().to_pylist()]


def is_dated(slow: Mapping[str, Spans]) -> Column:
    """Whether a row is an event (not a row of an initial load) and its time is not from a slow clock."""
    made_by_it = sf.lit(0) == 1
    for instance, spans in slow.items():
        of_instance = sf.startswith(sf.col("_shard"), sf.lit(f"{instance}."))
        for start, end in spans:
            inside = sf.col("_offset") >= start
            made_by_it |= of_instance & (inside if end is None else inside & (sf.col("_offset") < end))
    return (sf.col("_op") != "r") & ~made_by_it
