"""Where records are in their binlogs, by Spark."""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from resources.capture.order.binlog import COLUMNS
from resources.capture.order.position import Position
from resources.capture.order.progress import Again


def placed(records: DataFrame, reached: Mapping[str, int]) -> DataFrame:
    """The records that have a place, per instance from offset `reached` on, as `order.binlog` takes them.

    Nothing is sorted or sent from task to task for it: that would cost a small pass as much as reading it did.
    """
    has_place = "binlog_file IS NOT NULL AND event_ms IS NOT NULL"
    return records.where(has_place).where(_begun(reached)).select(*COLUMNS)


def _begun(reached: Mapping[str, int]) -> Column:
    begun = sf.lit(col=False)
    for instance, offset in reached.items():
        begun = begun | ((sf.col("instance") == instance) & (sf.col("offset") >= offset))
    return begun


def read_before(again: Mapping[str, tuple[Again, ...]]) -> Column:
    """Whether a row change was read before."""
    found = sf.lit(col=False)
    for instance, ranges in again.items():
        for one in ranges:
            inside = (sf.col("instance") == instance) & (sf.col("offset") >= one.start)
            inside = inside if one.end is None else inside & (sf.col("offset") < one.end)
            found = found | (inside & _is_until(one.until))
    return found


def _is_until(last: Position) -> Column:
    number = sf.substring_index("binlog_file", ".", -1).try_cast("bigint")
    place = sf.struct(number, "binlog_pos", "binlog_row")
    until = sf.struct(*(sf.lit(value) for value in last)).cast("STRUCT<a: BIGINT, b: BIGINT, c: INT>")
    # NULL is less than any number inside of a struct.
    return number.isNotNull() & (place <= until)
