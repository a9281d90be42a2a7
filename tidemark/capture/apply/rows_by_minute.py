"""Counts the rows that each batch adds and removes, by the minute of a column (capability C4).

The rows are counted before the merge, and the merge's commit records the counts. Later the files of the commits can be
compared with the counts. The comparison finds rows that the merge, or another program after it, lost or changed.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import DataType, TimestampNTZType, TimestampType

from tidemark.quoting.spark import quote

_MINUTES: Final[Mapping[type[DataType], str]] = {
    TimestampNTZType: "timestampdiff(MINUTE, TIMESTAMP_NTZ '1970-01-01 00:00:00', {})",
    TimestampType: "unix_seconds({}) DIV 60",
}


def rows_by_minute(changes: DataFrame, column: str, first: int) -> dict[int, dict[int, int]]:
    """The net number of rows of each batch and minute, in one Spark job.

    Minutes are since 1970 on the column's clock, from `first` on. `changes` come from `table_changes_by_batch`, before
    the newest change of each key is chosen. An insert counts 1, a delete -1, an update 0. The result is empty if the
    column does not hold times.
    """
    types = {field.name: type(field.dataType) for field in changes.schema.fields}
    if types.get(column) not in _MINUTES:
        return {}
    minute = sf.expr(_MINUTES[types[column]].format(quote(column)))
    rows = sf.when(sf.col("_op").isin("c", "r"), 1).when(sf.col("_op") == "d", -1).otherwise(0)
    counted = (
        changes.select("_batch", minute.cast("bigint").alias("minute"), rows.alias("rows"))
        .where(sf.col("minute") >= first)
        .groupBy("_batch", "minute")
        .agg(sf.sum("rows").alias("rows"))
        .where("rows <> 0")
    )
    by_batch: dict[int, dict[int, int]] = defaultdict(dict)
    for row in counted.toArrow().to_pylist():
        by_batch[row["_batch"]][row["minute"]] = row["rows"]
    return dict(by_batch)
