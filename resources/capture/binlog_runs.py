"""The runs of a scan's records: the same cuts as `order.run.runs_of` makes, by Spark in one job."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from resources.capture.envelope.record import POSITION
from resources.capture.order.position import Position
from resources.capture.order.progress import Again
from resources.capture.order.run import MINUTE_MS, Run
from resources.capture.scan import Scan


def runs_in(scan: Scan, reached: Mapping[str, int]) -> dict[str, list[Run]]:
    """Per instance the runs of its records from offset `reached` on, in order; none where there are no positions."""
    begun = sf.lit(col=False)
    for instance, offset in reached.items():
        begun = begun | ((sf.col("instance") == instance) & (sf.col("offset") >= offset))
    placed = scan.records.where("position IS NOT NULL AND event_ms IS NOT NULL").where(begun)
    if scan.repeated:
        placed = placed.dropDuplicates(["instance", "offset"])
    found: dict[str, list[Run]] = defaultdict(list)
    for row in _summed(placed).toArrow().to_pylist():
        found[row["instance"]].append(_run(row))
    return {instance: sorted(runs, key=lambda run: run.start) for instance, runs in found.items()}


def _summed(placed: DataFrame) -> DataFrame:
    in_order = Window.partitionBy("instance").orderBy("offset")
    # The origin and the number of MariaDB's 0-1-42 and of MySQL's uuid:42.
    origin = sf.regexp_extract("gtid", r"^(\d+)-\d+-\d+$|^([0-9a-fA-F-]{36}):\d+$", 0)
    cut = placed.select(
        "instance",
        "offset",
        "log",
        "position",
        "event_ms",
        sf.when(origin != "", sf.regexp_replace("gtid", r"-\d+-\d+$|:\d+$", "")).alias("origin"),
        sf.when(origin != "", sf.regexp_extract("gtid", r"(\d+)$", 1).cast("bigint")).alias("sequence"),
    ).withColumn("number", sf.sum(sf.when(_goes_on(in_order), 0).otherwise(1)).over(in_order))
    return cut.groupBy("instance", "number").agg(
        sf.min("offset").alias("start"),
        sf.first("log").alias("log"),
        sf.min("position").alias("first"),
        sf.max("position").alias("last"),
        sf.min_by("event_ms", "offset").alias("first_ms"),
        sf.max("event_ms").alias("newest_ms"),
        sf.first("origin").alias("origin"),
        sf.min("sequence").alias("first_sequence"),
        sf.max("sequence").alias("last_sequence"),
    )


def _goes_on(in_order: Any) -> Column:
    def before(name: str) -> Column:
        return sf.lag(name).over(in_order)

    step = sf.coalesce(sf.col("sequence") - before("sequence"), sf.lit(0))
    return (
        (sf.col("log") == before("log"))
        & (sf.col("position.file") == before("position").getField("file"))
        & (sf.col("position") > before("position"))
        & (sf.floor(sf.col("event_ms") / MINUTE_MS) == sf.floor(before("event_ms") / MINUTE_MS))
        & sf.col("origin").eqNullSafe(before("origin"))
        & step.between(0, 1)
    )


def _run(row: Mapping[str, Any]) -> Run:
    return Run(
        start=row["start"],
        base=row["log"],
        first=Position(**row["first"]),
        last=Position(**row["last"]),
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
