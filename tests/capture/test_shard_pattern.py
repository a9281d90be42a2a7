"""Which physical tables are shards, by the pattern's numbers alone, in Python and in Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tidemark.capture.shard_pattern import ShardPattern
from tidemark.capture.source.envelope.change_record import route
from tidemark.capture.source_table import SourceTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = (
    "school.orders",
    "school.orders_0",
    "school.orders_1_bak",
    "school.orders_15",
    "school.orders_16",
    "school.orders_9999",
    "school.orders_03",
    "school.orders_20260323",
    "school.orders_old",
    "other.orders_0",
    "school.orders16",
    "school.orders20260323",
)
SHARDS = {
    "school.orders": {"school.orders"},
    "school.orders_*": {
        "school.orders_0",
        "school.orders_15",
        "school.orders_16",
        "school.orders_9999",
        "school.orders_03",
    },
    "school.orders_{0..15}": {"school.orders_0", "school.orders_15"},
    "school.orders_{00..15}": {"school.orders_03", "school.orders_15"},
    "school.orders_{16..31}": {"school.orders_16"},
    "school.orders*": {"school.orders16"},
    "school.orders{1..16}": {"school.orders16"},
}


@pytest.mark.parametrize("declared", SHARDS)
def test_only_numbers_of_the_pattern_are_shards(declared: str) -> None:
    assert {name for name in NAMES if ShardPattern.parse(declared).matches(name)} == SHARDS[declared]


@pytest.mark.parametrize(
    ("one_name", "other", "shared"),
    [
        ("s.t_*", "s.t_3", "s.t_3"),
        ("s.t_*", "s.t_{4..7}", "s.t_4"),
        ("s.t_{0..3}", "s.t_{3..7}", "s.t_3"),
        ("s.t_{0..3}", "s.t_{4..7}", None),
        ("s.t_*", "s.u_*", None),
        ("s.t_*", "s.t*", None),
        ("s.t*", "s.t{1..8}", "s.t1"),
        ("s.t", "s.t_*", None),
    ],
)
def test_two_patterns_share_a_table_or_none(one_name: str, other: str, shared: str | None) -> None:
    assert ShardPattern.parse(one_name).overlaps(ShardPattern.parse(other)) == shared


@pytest.mark.spark
def test_records_are_routed_by_the_same_rule(spark: SparkSession) -> None:
    tables = [
        SourceTable(declared, declared, ("a", "b"), ("id",), None, ())
        for declared in (
            "school.orders",
            "school.orders_{0..15}",
            "school.orders_{16..31}",
            "other.orders_*",
            "school.orders*",
        )
    ]
    names = ("instance", "physical", "op", "changes", "ddl", "loaded", "load_problem", "problem", "line")
    columns = ", ".join(f"{name} STRING" for name in names)
    rows = [(instance, name, "c", None, None, None, None, None, "") for instance in "abc" for name in NAMES]
    routes = {
        (row["instance"], row["physical"]): row["table"]
        for row in route(spark.createDataFrame(rows, columns), tables).collect()
    }
    for instance in "abc":
        for name in NAMES:
            expected = [table.name for table in tables if table.holds(instance, name)]
            assert routes[instance, name] == (expected[0] if expected else None)
