"""The batches that are merged: one of five minutes, and those in which one strategy or another is at its best."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as sf

from benchmarks.merge.table import FIRST_DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import DataFrame, SparkSession

    from benchmarks.merge.table import TableShape


@dataclass(frozen=True)
class Changes:
    """Changes held in memory, and the partitions of their before- and after-images."""

    rows: DataFrame
    partitions: frozenset[str | None]


def five_minutes(spark: SparkSession, shape: TableShape, turn: int) -> Changes:
    """Half new rows of today, a quarter changes of today's latest rows, a quarter of yesterday's."""
    end, part = shape.rows, shape.batch_rows // 4
    new = _on_last_day(_rows(spark, shape, end + 2 * turn * part, end + 2 * (turn + 1) * part), shape)
    recent = _rows(spark, shape, end - (turn + 1) * part, end - turn * part)
    yesterday = _rows(spark, shape, end - shape.day_rows - part, end - shape.day_rows)
    whole = functools.reduce(
        lambda a, b: a.unionByName(b), [_changed(frame, turn) for frame in (new, recent, yesterday)]
    )
    return Changes(whole.localCheckpoint(), frozenset({shape.day(0), shape.day(1)}))


def few_rows_many_files(spark: SparkSession, shape: TableShape, turn: int) -> Changes:
    """Two rows of every file of the last day."""
    return _today(_changed(_spread(spark, shape, 2 * shape.day_files, turn), turn), shape)


def many_rows_one_partition(spark: SparkSession, shape: TableShape, turn: int) -> Changes:
    """A third of the last day's rows."""
    return _today(_changed(_spread(spark, shape, shape.day_rows // 3, turn), turn), shape)


def inserts_only(spark: SparkSession, shape: TableShape, turn: int) -> Changes:
    start = shape.rows + turn * shape.batch_rows
    new = _on_last_day(_rows(spark, shape, start, start + shape.batch_rows), shape)
    return _today(_changed(new, turn), shape)


def moved_keys(spark: SparkSession, shape: TableShape, turn: int) -> Changes:
    """Rows of the day before go to the last day; one turn later they come back."""
    rows = _spread(spark, shape, shape.batch_rows // 20, 0, back=1)
    moved = _on_last_day(rows, shape) if turn % 2 else rows
    return Changes(_changed(moved, turn).localCheckpoint(), frozenset({shape.day(0), shape.day(1)}))


def deletes(spark: SparkSession, shape: TableShape, turn: int) -> Changes:
    """A stretch of the last day's rows."""
    start, count = (shape.days - 1) * shape.day_rows, shape.batch_rows // 10
    return _today(_changed(_rows(spark, shape, start + turn * count, start + (turn + 1) * count), turn, "d"), shape)


def one_row(spark: SparkSession, shape: TableShape, turn: int) -> Changes:
    return _today(_changed(_rows(spark, shape, 5, 6), turn), shape)


WORKLOADS: Final[Mapping[str, Callable[[SparkSession, TableShape, int], Changes]]] = {
    "few_rows_many_files": few_rows_many_files,
    "many_rows_one_partition": many_rows_one_partition,
    "inserts_only": inserts_only,
    "moved_keys": moved_keys,
    "deletes": deletes,
}


def _today(changes: DataFrame, shape: TableShape) -> Changes:
    return Changes(changes.localCheckpoint(), frozenset({shape.day(0)}))


def _rows(spark: SparkSession, shape: TableShape, start: int, end: int) -> DataFrame:
    return spark.range(start, end, 1, 1).selectExpr(
        "id",
        f"date_add(DATE'{FIRST_DAY}', CAST(id DIV {shape.day_rows} AS INT)) AS dt",
        "id % 1000 AS user_id",
        "CAST(id * 37 % 10000 / 100 AS DECIMAL(10,2)) AS amount",
        "md5(CAST(id AS STRING)) AS note",
    )


def _on_last_day(rows: DataFrame, shape: TableShape) -> DataFrame:
    return rows.withColumn("dt", sf.lit(shape.day(0)).cast("date"))


def _spread(spark: SparkSession, shape: TableShape, count: int, turn: int, back: int = 0) -> DataFrame:
    """`count` rows spread evenly over a day, others in each turn."""
    step, start = max(1, shape.day_rows // count), (shape.days - 1 - back) * shape.day_rows
    rows = _rows(spark, shape, start, start + shape.day_rows)
    return rows.where(f"(id - {start}) % {step} = {turn % step} AND (id - {start}) DIV {step} < {count}")


def _changed(rows: DataFrame, turn: int, op: str = "u") -> DataFrame:
    amount = (sf.col("amount") + 1).cast("decimal(10,2)")
    return rows.withColumns({"amount": amount, "_offset": sf.lit(turn).cast("bigint"), "_op": sf.lit(op)})
