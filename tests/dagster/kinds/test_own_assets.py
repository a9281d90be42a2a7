"""Assets that people write themselves beside the declared entities: they wait for slices and are waited for."""

from datetime import date
from pathlib import Path

import dagster as dg
import pytest
from pyspark.sql import SparkSession

from tests.dagster.kinds.world import running
from tidemark.delta.replace_partition import replace_partition

pytestmark = pytest.mark.spark

MONDAY = "2026-03-23"
TWO_DAYS = "time_zone: UTC\nstart: 2026-03-23\nend: 2026-03-25\n"
BESIDE = {
    "clicks.yaml": "kind: Virtual\nperiod: day\n",
    "scores.yaml": "period: day\nown_asset: true\ndepends_on: [clicks]\n",
    "best.yaml": "period: day\n",
    "best.sql": "SELECT max(score) AS score FROM scores WHERE dt = :biz_date\n",
}
ELSEWHERE = {**BESIDE, "scores.yaml": "kind: Virtual\nperiod: day\n"}


def scores_asset(spark: SparkSession, table: Path) -> dg.AssetsDefinition:
    """A plain asset that writes a Delta table, a partition a day."""
    days = dg.DailyPartitionsDefinition("2026-03-23", end_date="2026-03-25")

    @dg.asset(partitions_def=days, deps=["clicks"])
    def scores(context: dg.AssetExecutionContext) -> None:
        rows = spark.createDataFrame([(7,), (9,)], "score INT")
        replace_partition(rows, table, {"dt": date.fromisoformat(context.partition_key)})

    return scores


def test_an_asset_beside_the_entities_waits_and_is_waited_for(spark: SparkSession, tmp_path: Path) -> None:
    scores = scores_asset(spark, tmp_path / "data" / "warehouse" / "scores")
    with running(spark, tmp_path, BESIDE, [scores], project=TWO_DAYS) as world:
        assert world.warehouse.table_path("scores") == tmp_path / "data" / "warehouse" / "scores"
        assert world.run() == []
        world.report(f"clicks@{MONDAY}")
        assert world.run() == [(f"scores@{MONDAY}",), (f"best@{MONDAY}",)]
        assert world.rows(f"best@{MONDAY}") == [(9,)]


def test_an_asset_of_another_code_location_is_waited_for(spark: SparkSession, tmp_path: Path) -> None:
    """It shares nothing with the warehouse but Dagster's storage and the lake."""
    scores = scores_asset(spark, tmp_path / "data" / "warehouse" / "scores")
    with running(spark, tmp_path, ELSEWHERE, project=TWO_DAYS) as world:
        assert world.run() == []
        dg.materialize([scores], instance=world.instance, partition_key=MONDAY)
        assert world.run() == [(f"best@{MONDAY}",)]
        assert world.rows(f"best@{MONDAY}") == [(9,)]
