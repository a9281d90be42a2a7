"""Assets that people write themselves beside the declared entities: they wait for slices and are waited for."""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg
import pytest
from pyspark.sql import SparkSession

from tests.dagster.kinds import other_location
from tests.dagster.kinds.world import RunningWarehouse, running
from tidemark.delta.replace_partition import replace_partition

if TYPE_CHECKING:
    from dagster._core.definitions.asset_daemon_cursor import AssetDaemonCursor

pytestmark = pytest.mark.spark

MONDAY, TUESDAY = "2026-03-23", "2026-03-24"
TWO_DAYS = "time_zone: UTC\nstart: 2026-03-23\nend: 2026-03-25\n"
BESIDE = {
    "clicks.yaml": "kind: Virtual\nperiod: day\n",
    "scores.yaml": "period: day\nown_asset: true\ndepends_on: [clicks]\n",
    "best.yaml": "period: day\n",
    "best.sql": "SELECT max(score) AS score FROM scores WHERE dt = :biz_date\n",
}
ELSEWHERE = {**BESIDE, "scores.yaml": "kind: Virtual\nperiod: day\n"}
WAITED_FOR = {
    **ELSEWHERE,
    "counted.yaml": "period: day\nquality: [{not_null: [n]}]\n",
    "counted.sql": "SELECT max(n) AS n FROM clicks WHERE dt = :biz_date\n",
}


def scores_asset(spark: SparkSession, table: Path) -> dg.AssetsDefinition:
    """A plain asset that writes a Delta table, a partition a day."""
    days = dg.DailyPartitionsDefinition("2026-03-23", end_date="2026-03-25")

    @dg.asset(partitions_def=days, deps=["clicks"])
    def scores(context: dg.AssetExecutionContext) -> None:
        rows = spark.createDataFrame([(7,), (9,)], "score INT")
        replace_partition(rows, table, {"dt": date.fromisoformat(context.partition_key)})

    return scores


def test_a_plain_asset_waits_for_entities_and_entities_wait_for_it(spark: SparkSession, tmp_path: Path) -> None:
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


class OtherLocation:
    """Dagster's daemon over both code locations: what it requests of the other one."""

    def __init__(self, world: RunningWarehouse) -> None:
        self._world = world
        self._workspace = world.definitions([other_location.scores])
        self._cursor: AssetDaemonCursor | None = None

    def requested(self) -> list[str]:
        result = dg.evaluate_automation_conditions(
            self._workspace, self._world.instance, dg.AssetSelection.assets("scores"), cursor=self._cursor
        )
        self._cursor = result.cursor
        return sorted(filter(None, result.get_requested_partitions(dg.AssetKey("scores"))))

    def run(self, days: list[str]) -> None:
        for day in days:
            dg.materialize([other_location.scores], instance=self._world.instance, partition_key=day)


@pytest.mark.long
def test_an_asset_of_another_code_location_waits_for_its_inputs(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For all slices that it reads, and for none that broke a rule; what it makes is waited for in turn."""
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path / "data"))
    with running(spark, tmp_path, WAITED_FOR, project=TWO_DAYS) as world:
        other = OtherLocation(world)
        requested = [other.requested()]
        for clicks, n in ((f"clicks@{TUESDAY}", 4), (f"clicks@{MONDAY}", None), (f"clicks@{MONDAY}", 3)):
            world.arrive(clicks, [(n,)], "n INT")
            world.run()
            requested.append(other.requested())
        assert requested == [[], [], [], [MONDAY, TUESDAY]]
        other.run(requested[-1])
        world.run()
        assert [world.rows(f"best@{day}") for day in (MONDAY, TUESDAY)] == [[(3,)], [(7,)]]
        assert other.requested() == []
