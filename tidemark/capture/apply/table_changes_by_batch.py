"""A table's records of one scan as rows of the lake, cut into the planned batches."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from tidemark.capture.apply.image_values import ImageValues
from tidemark.capture.binlog.spark_positions import read_before
from tidemark.capture.planning.commit_planner import PlannedBatch
from tidemark.capture.planning.continuity_of_scan import BinlogOrder
from tidemark.capture.schema.row_encodings_of_scan import RowEncodings, row_encodings
from tidemark.capture.schema.table_columns import TableColumns
from tidemark.capture.source.scan import Scan
from tidemark.capture.source_table import SourceTable
from tidemark.spark.held_rows import held
from tidemark.spark.temporary_settings import settings

_BEFORE, _AFTER = "_partition_before", "_partition_after"


@dataclass(frozen=True)
class BatchStats:
    """Statistics of one shard in one batch; `changes` does not count `bad` changes.

    `first_late`, `first_bad` and `first_altered` are offsets, None if there is no such record. `partitions` are the
    partition values of before- and after-images as text; None if a before-image is missing.
    """

    batch: int
    shard: str
    changes: int
    late: int
    first_late: int | None
    bad: int
    first_bad: int | None
    first_altered: int | None
    newest_ms: int
    partitions: frozenset[str | None] | None


def table_changes(
    spark: SparkSession,
    scan: Scan,
    order: BinlogOrder,
    table: SourceTable,
    columns: TableColumns,
    batches: Sequence[PlannedBatch],
) -> DataFrame:
    """The changes in `batches` that were not read before.

    Columns: _batch, _op, _late, _bad, _altered, _last and the lake's own. `_last` marks the newest good change of a key
    in its batch. Only that change is merged.
    """
    records = spark.table(f"global_temp.{scan.view}").where(sf.col("table") == table.name)
    if scan.repeated:
        records = records.dropDuplicates(["instance", "offset", "row"])
    if order.again:
        records = records.where(~read_before(order.again))
    cut = records.withColumn("_batch", _batch_number(table, batches)).where("_batch IS NOT NULL")
    values = ImageValues(_forms(scan, table, columns, batches), with_text=scan.with_text)
    images = values.parse_images(cut, table.partition_by)
    committed_ms = _committed_ms(scan, table, batches)
    rows = images.select(
        "_batch",
        sf.col("op").alias("_op"),
        (committed_ms < _late_before(batches)).alias("_late"),
        (values.is_bad() | _lacks_key(values, table.key)).alias("_bad"),
        values.is_altered().alias("_altered"),
        values.text_of(table.partition_by, "prior").alias(_BEFORE),
        values.text_of(table.partition_by, "image").alias(_AFTER),
        _lacks_partition().alias("_no_before"),
        *(values.value(name, "image").alias(name) for name in columns.by_name),
        sf.concat_ws(".", "instance", "physical").alias("_shard"),
        sf.timestamp_millis("event_ms").alias("_event_time"),
        sf.col("offset").alias("_offset"),
        committed_ms.alias("_event_ms"),
        sf.col("row").alias("_row"),
    )
    newest = Window.partitionBy("_batch", "_shard", "_bad", *table.key).orderBy(
        sf.col("_offset").desc(), sf.col("_row").desc()
    )
    return rows.withColumn("_last", (sf.row_number().over(newest) == 1) & ~sf.col("_bad"))


def held_changes(
    spark: SparkSession,
    scan: Scan,
    order: BinlogOrder,
    table: SourceTable,
    columns: TableColumns,
    batches: Sequence[PlannedBatch],
) -> DataFrame:
    """`table_changes`, computed once and held, so that later queries do not analyse the parsing again.

    Constraint propagation is off: with a hundred columns it takes minutes, and no query here needs it.
    """
    with settings(spark, {"spark.sql.constraintPropagation.enabled": "false"}):
        return held(table_changes(spark, scan, order, table, columns, batches))


def _forms(scan: Scan, table: SourceTable, columns: TableColumns, batches: Sequence[PlannedBatch]) -> RowEncodings:
    starts = {instance: span.start for instance, span in batches[0].spans.items()}
    there = ((instance, physical or "") for instance, physical in scan.summary.first_changes)
    return row_encodings(columns, (shard for shard in there if table.holds(*shard)), starts)


def batch_stats(changes: DataFrame) -> list[BatchStats]:
    """The statistics of each batch and shard, in one Spark job."""
    grouped = changes.groupBy("_batch", "_shard").agg(
        sf.count_if(~sf.col("_bad")).alias("changes"),
        sf.count_if("_bad").alias("bad"),
        sf.count_if("_late").alias("late"),
        sf.min(sf.when(sf.col("_late"), sf.col("_offset"))).alias("first_late"),
        sf.min(sf.when(sf.col("_bad"), sf.col("_offset"))).alias("first_bad"),
        sf.min(sf.when(sf.col("_altered"), sf.col("_offset"))).alias("first_altered"),
        sf.max("_event_ms").alias("newest_ms"),
        # `collect_set` keeps a struct whose only field is NULL, but drops a bare NULL.
        sf.collect_set(sf.when(sf.col("_op") != "c", sf.struct(sf.col(_BEFORE).alias("v")))).alias("before"),
        sf.collect_set(sf.struct(sf.col(_AFTER).alias("v"))).alias("after"),
        sf.bool_or("_no_before").alias("no_before"),
    )
    return [_stats(row) for row in grouped.toArrow().to_pylist()]


def _stats(row: dict[str, Any]) -> BatchStats:
    values = frozenset(image["v"] for image in (*row["before"], *row["after"]))
    return BatchStats(
        batch=row["_batch"],
        shard=row["_shard"],
        changes=row["changes"],
        late=row["late"],
        first_late=row["first_late"],
        bad=row["bad"],
        first_bad=row["first_bad"],
        first_altered=row["first_altered"],
        newest_ms=row["newest_ms"],
        partitions=None if row["no_before"] else values,
    )


def _lacks_partition() -> Column:
    """Whether the row's earlier partition is unknown.

    Canal records have no position that shows whether an insert is redelivered. Its row may have moved to another
    partition since.
    """
    lacks_before = sf.col("op").isin("u", "d", "r") & sf.col("before").isNull()
    return lacks_before | (sf.col("text") & (sf.col("op") == "c"))


def _committed_ms(scan: Scan, table: SourceTable, batches: Sequence[PlannedBatch]) -> Column:
    """A record's event time, or its transaction's newest time if the transaction crosses the end of a slice."""
    ends = {batch.late_before for batch in batches if batch.late_before is not None}
    passing = [
        (instance, transaction)
        for instance in table.instances
        for transaction in scan.summary.transactions.get(instance, ())
        if any(transaction.oldest_ms < end_ms <= transaction.newest_ms for end_ms in ends)
    ]
    time = sf.col("event_ms")
    for instance, transaction in passing:
        is_in = (sf.col("instance") == instance) & sf.col("offset").between(transaction.first, transaction.last)
        time = sf.when(is_in, sf.lit(transaction.newest_ms)).otherwise(time)
    return time


def _batch_number(table: SourceTable, batches: Sequence[PlannedBatch]) -> Column:
    """The index of the batch that holds an offset; NULL before the first batch and after the last."""
    offset = sf.col("offset")
    number = sf.when(sf.lit(0) == 1, sf.lit(0))
    for instance in table.instances:
        spans = [batch.spans[instance] for batch in batches]
        ends = sf.array(*(sf.lit(span.end) for span in spans))
        passed = sf.size(sf.filter(ends, lambda end: end <= offset))
        inside = (sf.col("instance") == instance) & (offset >= spans[0].start) & (offset < spans[-1].end)
        number = number.when(inside, passed)
    return number


def _lacks_key(values: ImageValues, key: Sequence[str]) -> Column:
    """Whether a key column is NULL. No database allows this, and such a row has no identity."""
    lacks = sf.lit(col=False)
    for name in key:
        lacks = lacks | values.value(name, "image").isNull()
    return lacks


def _late_before(batches: Sequence[PlannedBatch]) -> Column:
    # 0, not NULL, if no slice is closed yet: no event is older than 1970.
    return sf.get(sf.array(*(sf.lit(batch.late_before or 0) for batch in batches)), sf.col("_batch"))
