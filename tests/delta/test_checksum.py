"""The content checksum against the same rule written in plain Python."""

import hashlib
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from pyspark.sql import SparkSession

from tidemark.delta.checksum import content_checksum

pytestmark = pytest.mark.spark

SCHEMA = "_shard STRING, id BIGINT, amount DECIMAL(10,2), day DATE, at TIMESTAMP_NTZ, seen TIMESTAMP, note STRING"


def by_hand(*texts: str) -> int:
    return int(hashlib.md5("|".join(texts).encode(), usedforsecurity=False).hexdigest()[:15], 16)


def test_sum_of_the_rows_digests(spark: SparkSession) -> None:
    local, instant = datetime(2026, 3, 29, 3, 0, 1), datetime(2026, 3, 29, 1, 0, 1, tzinfo=UTC)  # noqa: DTZ001
    data = [
        ("a.school.orders_0", 7, Decimal("2.5"), date(2026, 3, 29), local, instant, "a|b 🎉"),
        ("b.school.orders_2", 8, None, None, None, None, ""),
    ]
    expected = by_hand(
        "a.school.orders_0", "7", "2.50", "2026-03-29", "2026-03-29 03:00:01", "2026-03-29 01:00:01", "a|b 🎉"
    ) + by_hand("b.school.orders_2", "8", "\\N", "\\N", "\\N", "\\N", "")
    rows = spark.createDataFrame(data, SCHEMA)
    assert content_checksum(rows, ["id", "amount", "day", "at", "seen", "note"]) == (2, str(expected))


def test_nothing_is_zero(spark: SparkSession) -> None:
    assert content_checksum(spark.createDataFrame([], SCHEMA), ["id"]) == (0, "0")
