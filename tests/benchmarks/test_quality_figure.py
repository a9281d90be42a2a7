"""The figure of rules: all that it judges holds, in one pass, and both ways to publish are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.quality import RULES, of_publishing, of_rules

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.mark.long
def test_rules_are_one_pass(spark: SparkSession, tmp_path: Path) -> None:
    figures = of_rules(spark.newSession(), tmp_path, rows=2_000, warm=0, repeat=1)
    assert (figures["rules"], figures["passes_over_data"]) == (len(RULES), 1.0) == (20, 1.0)
    assert figures["time_vs_one_read"] > 0


@pytest.mark.long
def test_publishing_is_measured(spark: SparkSession, tmp_path: Path) -> None:
    assert of_publishing(spark.newSession(), tmp_path, rows=2_000, warm=0, repeat=1)["wap_overhead_ratio"] > 0
