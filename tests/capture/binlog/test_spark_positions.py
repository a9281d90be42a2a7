"""Records that were read before are distinguished from new ones; compared with a loop over the ranges."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tidemark.capture.binlog.continuity import Again
from tidemark.capture.binlog.position import Position
from tidemark.capture.binlog.spark_positions import read_before

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCHEMA = "instance STRING, offset BIGINT, binlog_file STRING, binlog_pos BIGINT, binlog_row INT"


@pytest.mark.parametrize("count", [1, 3, 300, pytest.param(1500, marks=pytest.mark.long)])
def test_records_redelivered_any_number_of_times(spark: SparkSession, count: int) -> None:
    chance = random.Random(count)
    again = {instance: _ranges(chance, count) for instance in ("a", "b")}
    rows = [_record(chance, 20 * count) for _ in range(400)]
    rows_read = spark.createDataFrame(rows, SCHEMA).select(read_before(again).alias("again")).collect()
    expected = [_is_again(again.get(row[0], ()), row) for row in rows]
    assert [entry["again"] for entry in rows_read] == expected
    assert len(set(expected)) == 2


def _ranges(chance: random.Random, count: int) -> tuple[Again, ...]:
    """In order and apart, the last one without an end."""
    bounds = sorted(chance.sample(range(20 * count), 2 * count))
    pairs = list(zip(bounds[::2], bounds[1::2], strict=True))
    return tuple(
        Again(start, end if at + 1 < count else None, Position(chance.randint(1, 3), chance.randint(0, 9), 0))
        for at, (start, end) in enumerate(pairs)
    )


def _record(chance: random.Random, end: int) -> tuple[str, int, str | None, int | None, int | None]:
    file = chance.choice(["binlog.000001", "binlog.000002", "binlog.000003", "odd", None])
    return chance.choice("abc"), chance.randrange(end), file, chance.choice([None, chance.randrange(10)]), 0


def _is_again(ranges: Sequence[Again], row: tuple[str, int, str | None, int | None, int | None]) -> bool:
    _, offset, file, position, number = row
    if file is None or not file.startswith("binlog."):
        return False
    place = (int(file.removeprefix("binlog.")), -1 if position is None else position, number)
    return any(
        span.start <= offset and (span.end is None or offset < span.end) and place <= tuple(span.until)
        for span in ranges
    )
