"""The figure of overheads: capture's merge and a plain merge make the same rows, and their ratios are reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.overhead import merge_ratios

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]


def test_merges_are_measured(spark: SparkSession, tmp_path: Path) -> None:
    ratios = merge_ratios(spark.newSession(), tmp_path, warm=0, rounds=1)
    assert {name for name, ratio in ratios.items() if ratio > 0} == {"merge_cpu_ratio", "merge_wall_ratio"}
