"""For any table and any other writers, no version of a clustering has other content."""

from collections import Counter

import pytest
from pyspark.sql import SparkSession

from tests.delta.clustering.random_tables import try_once
from tidemark.system.table_location import TableLocation

pytestmark = pytest.mark.spark


@pytest.mark.long
def test_random_tables_keep_their_content(spark: SparkSession, lake: TableLocation) -> None:
    seen: Counter[str] = Counter()
    for seed in range(2):
        seen.update(try_once(spark, lake, seed))
    assert seen["commits"] >= 4


@pytest.mark.long
@pytest.mark.timeout(14_400)
def test_a_thousand_random_tables_keep_their_content(spark: SparkSession, lake: TableLocation) -> None:
    seen: Counter[str] = Counter()
    for seed in range(100, 1_100):
        seen.update(try_once(spark, lake, seed, steps=1))
    assert seen["tables"] == 1_000
    assert seen["commits"] > 700
    assert seen["voided"] > 50
