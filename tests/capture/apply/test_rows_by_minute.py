"""The capture's counters over changes of one pass: inserts bring rows, deletes take them away."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as sf

from tidemark.capture.apply.rows_by_minute import rows_by_minute

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

BEGIN = datetime(2024, 6, 3, tzinfo=UTC)
FIRST = int(BEGIN.timestamp()) // 60
CHANGES = [
    # batch, op, seconds from BEGIN
    (0, "c", 0.0),
    (0, "c", 59.999),
    (0, "u", 30.0),
    (0, "r", 60.0),
    (1, "d", 1.0),
    (1, "c", 120.0),
    (1, "d", 125.0),
    (1, "c", -1.0),
    (1, "c", None),
]
"""The update changes no row's minute; the last minute comes to nothing, one row is older than what is counted."""


@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz"])
@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata"])
def test_rows_are_counted_by_batch_and_minute(spark: SparkSession, kind: str, zone: str) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    rows = [
        (batch, op, None if at is None else (BEGIN + timedelta(seconds=at)).strftime("%Y-%m-%d %H:%M:%S.%f"))
        for batch, op, at in CHANGES
    ]
    changes = session.createDataFrame(rows, "_batch int, _op string, at string")
    held = changes.withColumn("at", sf.col("at").cast(kind)).localCheckpoint()
    session.conf.set("spark.sql.session.timeZone", zone)
    assert rows_by_minute(held, "at", FIRST) == {0: {FIRST: 2, FIRST + 1: 1}, 1: {FIRST: -1}}


def test_without_a_column_of_times_no_rows_are_counted(spark: SparkSession) -> None:
    changes = spark.createDataFrame([(0, "c", "x")], "_batch int, _op string, at string")
    assert rows_by_minute(changes, "at", 0) == {}
    assert rows_by_minute(changes, "nowhere", 0) == {}
