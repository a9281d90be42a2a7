"""How many rows the changes of each batch bring and take away, by the minute of a column: the capture's counters (C4).

They are counted before anything is merged, and are told in the commit that merges: so the rows of the files that the
commits add can be compared with them, whatever the merge, or anybody after it, did to the table.
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
    """By batch, the rows of each minute from `first` on (since 1970, on the column's clock); one Spark job.

    `changes` are what `table_changes_by_batch` gave, before the newest of each key is chosen. An insert brings a row, a
    delete takes one away; an update changes no row's minute. Nothing of a column that holds no time.
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
