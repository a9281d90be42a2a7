"""Slices cut into parts, and first writers of one table, in real runs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from tests.dagster.kinds.world import running
from tidemark.delta.delta_rs_table import read_partition
from tidemark.delta.replace_partition import replace_partition

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

MONDAY, TUESDAY = "2026-03-23", "2026-03-24"
TWO_DAYS = "time_zone: UTC\nstart: 2026-03-23\nend: 2026-03-25\n"
REGIONS = "sub_partitions: {region: {cn: {time_zone: Asia/Shanghai}, us: {time_zone: America/Los_Angeles}}}\n"
PARTED = {
    "sold.yaml": f"kind: Virtual\nperiod: day\n{REGIONS}",
    "totals.yaml": f"period: day\n{REGIONS}",
    "totals.sql": "SELECT sum(n) AS n FROM sold WHERE dt = :biz_date\n",
    "world.yaml": "period: day\n",
    "world.sql": "SELECT count(*) AS regions, sum(n) AS n FROM totals WHERE dt = :biz_date\n",
}


@pytest.mark.long
def test_each_part_is_computed_when_its_own_day_is_there(spark: SparkSession, tmp_path: Path) -> None:
    with running(spark, tmp_path, PARTED, project=TWO_DAYS) as world:
        world.arrive(f"sold@{MONDAY}/region=cn", [(2,), (3,)], "n INT")
        assert world.run() == [(f"totals@{MONDAY}/region=cn",)]
        assert world.rows(f"totals@{MONDAY}/region=cn") == [(5,)]
        world.arrive(f"sold@{MONDAY}/region=us", [(10,)], "n INT")
        assert world.run() == [(f"totals@{MONDAY}/region=us",), (f"world@{MONDAY}",)]
        assert world.rows(f"totals@{MONDAY}/region=cn") == [(5,)], "the other part stays"
        assert world.rows(f"world@{MONDAY}") == [(2, 15)]
        assert world.states(f"totals@{MONDAY}") == {"completed"}, "the whole is there with its parts"
        assert world.by_hand(f"totals@{MONDAY}/region=us").get_asset_materialization_events()
        assert not world.by_hand(f"totals@{TUESDAY}/region=us").get_asset_materialization_events()


@pytest.mark.long
def test_a_quorum_of_regions_goes_on_and_the_last_one_is_computed_into_it(spark: SparkSession, tmp_path: Path) -> None:
    """A third region is there from Tuesday on: nobody waits for its Monday."""
    regions = REGIONS.replace("us: {", "jp: {time_zone: UTC+9, start: 2026-03-24}, us: {")
    declared = PARTED | {"totals.yaml": f"period: day\nquorum: 1\n{regions}", "sold.yaml": PARTED["sold.yaml"]}
    declared["sold.yaml"] = f"kind: Virtual\nperiod: day\n{regions}"
    with running(spark, tmp_path, declared, project=TWO_DAYS) as world:
        world.arrive(f"sold@{MONDAY}/region=cn", [(2,), (3,)], "n INT")
        assert world.run() == [(f"totals@{MONDAY}/region=cn",), (f"world@{MONDAY}",)]
        assert world.rows(f"world@{MONDAY}") == [(1, 5)]
        assert world.states(f"world@{MONDAY}") == {"completed", "partial"}
        assert world.states(f"sold@{MONDAY}") == {"waiting"}, "of what comes from outside all regions are needed"
        world.arrive(f"sold@{MONDAY}/region=us", [(10,)], "n INT")
        assert world.run() == [(f"totals@{MONDAY}/region=us",), (f"world@{MONDAY}",)]
        assert world.rows(f"world@{MONDAY}") == [(2, 15)]
        assert "partial" not in world.states(f"world@{MONDAY}")
        assert world.states(f"sold@{MONDAY}") == {"completed"}


@pytest.mark.long
def test_two_first_writers_of_a_table(spark: SparkSession, tmp_path: Path) -> None:
    def write(day: int) -> Any:
        frame = spark.range(day).selectExpr("id")
        return replace_partition(frame, tmp_path / "new", {"dt": date(2026, 3, day)})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, (1, 2, 3, 4)))
    assert [read_partition(tmp_path / "new", {"dt": date(2026, 3, day)}).num_rows for day in (1, 2, 3, 4)] == [
        1,
        2,
        3,
        4,
    ]
