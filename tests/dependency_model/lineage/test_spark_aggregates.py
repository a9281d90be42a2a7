"""Each aggregate that Spark has may be one to the analysis: EXISTS over it always has a row."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
import sqlglot
from sqlglot.errors import ParseError

from tidemark.dependency_model.lineage.select_binding import may_aggregate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
_AGGREGATES = ".expressions.aggregate."
_FEWEST = 75


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.long)])
def test_each_aggregate_of_spark_may_be_one(spark: SparkSession, every: int) -> None:
    names = [row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect() if row[0].isidentifier()]
    aggregates = [name for name in names[::every] if _AGGREGATES in _description(spark, name)]
    assert len(aggregates) >= _FEWEST // every
    assert [name for name in aggregates if not _may_aggregate(name)] == []


def _description(spark: SparkSession, name: str) -> str:
    return "\n".join(row[0] for row in spark.sql(f"DESCRIBE FUNCTION {name}").collect())


def _may_aggregate(name: str) -> bool:
    """Whether a call of it is taken for one that may aggregate, with as many arguments as the parser lets it have."""
    for count in range(1, 5):
        with suppress(ParseError):
            call = sqlglot.parse_one(f"SELECT {name}({', '.join('abcd'[:count])})", dialect="spark").expressions[0]
            return may_aggregate(call)
    return False
