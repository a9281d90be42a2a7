"""Places of records in their binlogs, as Spark columns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from tidemark.capture.binlog.columnar_binlog import COLUMNS
from tidemark.capture.binlog.continuity import Again

_NO_END: Final = 2**63 - 1


def with_positions(records: DataFrame, reached: Mapping[str, int]) -> DataFrame:
    """The records that have a place, from the offset in `reached` on, with the columns for `binlogs_of`.

    Records are neither sorted nor shuffled. In a small pass that would cost as much as reading them.
    """
    has_place = "binlog_file IS NOT NULL AND event_ms IS NOT NULL"
    return records.where(has_place).where(_is_begun(reached)).select(*COLUMNS)


def _is_begun(reached: Mapping[str, int]) -> Column:
    begun = sf.lit(col=False)
    for instance, offset in reached.items():
        begun = begun | ((sf.col("instance") == instance) & (sf.col("offset") >= offset))
    return begun


def read_before(again: Mapping[str, tuple[Again, ...]]) -> Column:
    """Whether a row change was read before. The expression stays shallow, however many ranges were redelivered."""
    is_skipped = sf.lit(col=False)
    for instance, ranges in again.items():
        is_skipped = is_skipped | (
            (sf.col("instance") == instance) & _in_one_of(sorted(ranges, key=lambda span: span.start))
        )
    return is_skipped


def _in_one_of(ranges: Sequence[Again]) -> Column:
    """Whether a record's offset is in one of the ranges, and its place at most the range's.

    The ranges are sorted and disjoint.
    """
    starts = _array((span.start for span in ranges), "BIGINT")
    ends = _array((_NO_END if span.end is None else span.end for span in ranges), "BIGINT")
    last = sf.size(sf.filter(starts, lambda start: start <= sf.col("offset"))) - 1
    file, position, row = (_array(values, "BIGINT") for values in zip(*(span.until for span in ranges), strict=True))
    until = sf.struct(*(sf.get(place, last) for place in (file, position, row)))
    number = sf.substring_index("binlog_file", ".", -1).try_cast("bigint")
    # NULL is less than any number inside a struct.
    place = sf.struct(number, sf.col("binlog_pos").cast("bigint"), sf.col("binlog_row").cast("bigint"))
    is_in = (last >= 0) & (sf.col("offset") < sf.get(ends, last)) & number.isNotNull() & (place <= until)
    return sf.coalesce(is_in, sf.lit(col=False))


def _array(values: Iterable[int | None], kind: str) -> Column:
    return sf.array(*map(sf.lit, values)).cast(f"ARRAY<{kind}>")
