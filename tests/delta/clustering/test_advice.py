"""Advice from what queries filtered by and how the files lie."""

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from tests.delta.clustering.tables import create_table
from tidemark.delta.clustering.advice import advice_for
from tidemark.delta.clustering.layout import ColumnLayout, Layout
from tidemark.delta.clustering.usage_recorder import UsageRecorder
from tidemark.delta.delta_rs_table import read_table
from tidemark.state_store.database import Database
from tidemark.state_store.scan_counts import ScanCounts


def layout(files: int = 100, **depths: float) -> Layout:
    columns = (ColumnLayout(name, depth, round(depth), files) for name, depth in depths.items())
    return Layout(7, files, 10**9, tuple(columns))


def test_the_columns_that_filters_use() -> None:
    usage = Counter({frozenset("a"): 60, frozenset("ab"): 30, frozenset("z"): 10, frozenset(): 5})
    advice = advice_for(usage, layout(a=90.0, b=80.0, c=1.0))
    assert advice.action == "cluster"
    assert advice.weights == {"a": pytest.approx(90 / 105), "b": pytest.approx(30 / 105)}
    assert "90 of 105 scans filter by a" in advice.reason


@pytest.mark.parametrize(
    ("usage", "lies", "action", "said"),
    [
        (Counter(), layout(a=90), "none", "no query"),
        (Counter({frozenset("z"): 3}), layout(a=90), "none", "has bounds"),
        (Counter({frozenset("a"): 3}), layout(a=1.5), "keep", "1.5 of 100 files by a"),
        (Counter({frozenset("a"): 3}), layout(files=4, a=4), "keep", "4 files"),
    ],
)
def test_clustering_that_does_not_pay(usage: Counter[frozenset[str]], lies: Layout, action: str, said: str) -> None:
    advice = advice_for(usage, lies)
    assert advice.action == action
    assert said in advice.reason


@pytest.mark.spark
def test_filters_of_plans_are_recorded(spark: SparkSession, tmp_path: Path) -> None:
    path = create_table(spark, tmp_path / "a table", spark.range(9).selectExpr("id", "id * 2 AS `b-c`", "id AS d"))
    counts, rows = ScanCounts(Database.at(tmp_path / "state.db")), read_table(spark, path)
    recorder = UsageRecorder(counts)
    recorder.ran("1", rows.where("id = 3 AND `b-c` > 2 AND d IS NOT NULL"))
    recorder.ran("2", rows.where("id IN (1, 2)").join(rows.where(sf.col("d") % 2 == 1), "id"))
    advice = counts.of(str(path))
    assert advice[frozenset({"id", "b-c"})] == 1
    assert sum(advice.values()) == 3
