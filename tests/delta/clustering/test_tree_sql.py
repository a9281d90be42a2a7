"""The SQL of a tree sends every row of every type where the tree does."""

import datetime as dt
import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from tidemark.delta.clustering.clusterable_columns import ClusterColumn
from tidemark.delta.clustering.column_ranks import rank_column
from tidemark.delta.clustering.rewrite import file_of_row
from tidemark.delta.clustering.split_tree import assign_files
from tidemark.delta.clustering.tree_builder import build_tree

pytestmark = pytest.mark.spark

moment = dt.datetime.fromisoformat

VALUES: dict[str, list[object]] = {
    "tinyint": [-128, 0, 3, 127],
    "int": [-(2**31), -1, 0, 5, 2**31 - 1],
    "bigint": [-(2**63), 0, 7, 2**63 - 1],
    "float": [-math.inf, -1.5, -0.0, 0.0, 0.1, math.inf, math.nan],
    "double": [-math.inf, -1e300, -0.0, 0.0, 1e-300, 0.1, math.inf, math.nan],
    "decimal(38,3)": [Decimal("-1.005"), Decimal(0), Decimal("12345678901234567890.123")],
    "string": ["", "a", "a'b", 'a"b\\n', "ab\n", "é", "\U0001f600", "￿", ":name", "%"],
    "date": [dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(2026, 3, 29)],
    "timestamp": [moment("1900-01-01T00:00:00.000001"), moment("2026-03-29T01:30"), moment("9999-01-01")],
    "timestamp_ntz": [moment("1900-01-01T00:00:00.000001"), moment("2026-03-29T01:30")],
}


@pytest.mark.parametrize("kind", VALUES)
def test_every_type(spark: SparkSession, kind: str) -> None:
    values = [None, *VALUES[kind]]
    rows = [(number, values[number % len(values)], number % 7) for number in range(40 * len(values))]
    frame = spark.createDataFrame(rows, f"number INT, `the key` {kind}, other INT").repartition(1)
    arrow = frame.toArrow().sort_by("number")
    column = ClusterColumn("the key", "the key", frame.schema["the key"].dataType, 1.0)
    # The sample lacks some values: these lie between bounds.
    seen = np.flatnonzero(np.arange(len(rows)) % len(values) != 2)
    keys = [rank_column(name, arrow[name].take(pa.array(seen))) for name in ("the key", "other")]
    assert keys[0][0].values.type == column.arrow_type
    tree = build_tree([positions for _, positions in keys], [1.0, 1.0], 9)
    expression = file_of_row(tree, [key for key, _ in keys], [column.kind, frame.schema["other"].dataType])
    file_numbers = frame.select("number", sf.expr(expression).alias("file")).toArrow().sort_by("number")["file"]
    there = [key.positions(arrow[key.name]) for key, _ in keys]
    expected = assign_files(tree, there, np.arange(len(rows)))
    assert np.unique(expected).size >= 7
    assert file_numbers.to_pylist() == expected.tolist()
