"""The runs of records: the same cuts as `order.run.runs_of` makes, by Spark."""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from resources.capture.envelope.record import POSITION
from resources.capture.order.position import Position
from resources.capture.order.progress import Again
from resources.capture.order.run import MINUTE_MS, Run


def runs_in(records: DataFrame, reached: Mapping[str, int]) -> DataFrame:
    """One row a run (`run_of` reads it) of the records with positions, per instance from offset `reached` on.

    A run ends where offsets are missing between two files, too: the second one is not read then. A record that is there
    twice is in one run.
    """
    placed = records.where("position IS NOT NULL AND event_ms IS NOT NULL").where(_begun(reached))
    in_order = Window.partitionBy("instance").orderBy("offset")
    minute = sf.floor(sf.col("event_ms") / MINUTE_MS).alias("minute")
    cut = (
        placed.select("instance", "path", "offset", "log", "position", "event_ms", minute, *_gtid())
        # One value: each one that a window looks back for costs every record.
        .withColumn("seen", sf.struct("path", "offset", "log", "position", "minute", "origin", "sequence"))
        .withColumn("before", sf.lag("seen").over(in_order))
        .withColumn("number", sf.sum(sf.when(_goes_on(), 0).otherwise(1)).over(in_order))
    )
    # All that is no number is a key, which it can be as it is one value in a run: so nothing is sorted once more.
    return cut.groupBy("instance", "number", "log", "position.file", "origin").agg(
        sf.min("offset").alias("start"),
        sf.min_by("position.pos", "offset").alias("first_pos"),
        sf.min_by("position.row", "offset").alias("first_row"),
        sf.max_by("position.pos", "offset").alias("last_pos"),
        sf.max_by("position.row", "offset").alias("last_row"),
        sf.min_by("event_ms", "offset").alias("first_ms"),
        sf.max("event_ms").alias("newest_ms"),
        sf.min("sequence").alias("first_sequence"),
        sf.max("sequence").alias("last_sequence"),
    )


def _begun(reached: Mapping[str, int]) -> Column:
    begun = sf.lit(col=False)
    for instance, offset in reached.items():
        begun = begun | ((sf.col("instance") == instance) & (sf.col("offset") >= offset))
    return begun


def _gtid() -> list[Column]:
    """The origin and the number of MariaDB's `0-1-42` and of MySQL's `uuid:42`; without patterns, which cost more."""
    is_mysqls = sf.col("gtid").contains(":")
    first, last = (
        sf.when(is_mysqls, sf.substring_index("gtid", ":", end)).otherwise(sf.substring_index("gtid", "-", end))
        for end in (1, -1)
    )
    sequence = last.try_cast("bigint")
    return [sf.when(sequence.isNotNull(), first).alias("origin"), sequence.alias("sequence")]


def _goes_on() -> Column:
    def same(name: str) -> Column:
        return sf.col(name).eqNullSafe(sf.col(f"before.{name}"))

    step = sf.coalesce(sf.col("sequence") - sf.col("before.sequence"), sf.lit(0))
    follows = (
        same("log")
        & same("minute")
        & same("origin")
        & (same("path") | (sf.col("offset") == sf.col("before.offset") + 1))
        & (sf.col("position.file") == sf.col("before.position.file"))
        & (sf.col("position") > sf.col("before.position"))
        & step.between(0, 1)
    )
    return follows | same("offset")


def run_of(row: Mapping[str, Any]) -> Run:
    """A row of `runs_in`."""
    return Run(
        start=row["start"],
        base=row["log"],
        first=Position(row["file"], row["first_pos"], row["first_row"]),
        last=Position(row["file"], row["last_pos"], row["last_row"]),
        first_ms=row["first_ms"],
        newest_ms=row["newest_ms"],
        origin=row["origin"],
        first_sequence=row["first_sequence"] or 0,
        last_sequence=row["last_sequence"] or 0,
    )


def read_before(again: Mapping[str, tuple[Again, ...]]) -> Column:
    """Whether a row change was read before."""
    found = sf.lit(col=False)
    for instance, ranges in again.items():
        for one in ranges:
            inside = (sf.col("instance") == instance) & (sf.col("offset") >= one.start)
            inside = inside if one.end is None else inside & (sf.col("offset") < one.end)
            until = sf.struct(*(sf.lit(value).alias(name) for name, value in one.until._asdict().items())).cast(
                POSITION
            )
            found = found | (inside & (sf.col("position") <= until))
    return sf.coalesce(found, sf.lit(col=False))
