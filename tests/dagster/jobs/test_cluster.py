"""The job that clusters what is declared: one slice, everything, nothing; and what it tells Dagster."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from tests.compute.small_warehouse import small_warehouse
from tidemark.dagster.jobs.cluster import cluster_job, clustered_columns, nightly, run_config
from tidemark.dagster.resources import engine_resources
from tidemark.dagster.sensors import cluster_sensors
from tidemark.delta.delta_rs_table import read_rows, table_metrics
from tidemark.warehouse.warehouse import Warehouse

YAML = "period: day\ncluster_by: [id, amount]\n"
SQL = "SELECT 1 AS id, 10 AS amount, 'cn' AS region WHERE 1 = 0\n"


def warehouse_of(folder: Path) -> Warehouse:
    return small_warehouse(folder, {"sales": (YAML, SQL)})


def observations(result: dg.ExecuteInProcessResult) -> list[dict[str, object]]:
    events = (event.asset_observation_data for event in result.all_events if event.is_asset_observation)
    return [{name: value.value for name, value in event.asset_observation.metadata.items()} for event in events]


def test_declared_tables_have_an_active_schedule_and_sensor(tmp_path: Path) -> None:
    warehouse = warehouse_of(tmp_path)
    assert clustered_columns(warehouse) == {"sales": ("id", "amount")}
    schedule = nightly(cluster_job(warehouse), warehouse)
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("30 4 * * *", "Europe/Paris")
    assert schedule.default_status is dg.DefaultScheduleStatus.RUNNING
    (sensor,) = cluster_sensors(warehouse)
    assert (sensor.name, sensor.default_status) == ("cluster_sales", dg.DefaultSensorStatus.RUNNING)
    plain = small_warehouse(tmp_path / "plain")
    assert nightly(cluster_job(plain), plain).default_status is dg.DefaultScheduleStatus.STOPPED


@dataclass
class Daemon:
    """Who evaluates a sensor: it keeps the cursor."""

    sensor: dg.SensorDefinition
    instance: dg.DagsterInstance
    cursor: str | None = None

    def complete(self, asset: str, *partitions: str) -> None:
        for partition in partitions:
            self.instance.report_runless_asset_event(dg.AssetMaterialization(asset, partition=partition))

    def asked(self) -> list[Mapping[str, Any]]:
        """The runs that one evaluation asks for."""
        with dg.build_sensor_context(self.instance, self.cursor) as context:
            result = self.sensor.evaluate_tick(context)
        self.cursor = result.cursor
        return [request.run_config for request in result.run_requests or ()]


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as opened:
        yield opened


def test_all_that_completes_between_two_evaluations_is_clustered_in_one_run(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    (sensor,) = cluster_sensors(warehouse_of(tmp_path))
    daemon = Daemon(sensor, instance)
    assert daemon.asked() == []
    daemon.complete("sales", "2026-03-23", "2026-03-24", "2026-03-23")
    assert daemon.asked() == [run_config("sales", ["2026-03-23", "2026-03-24"])]
    assert daemon.asked() == []
    daemon.complete("sales", "2026-03-24")
    assert daemon.asked() == [run_config("sales", ["2026-03-24"])], "it was computed again"


def test_a_sensor_that_is_new_begins_with_the_last_slice(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    (sensor,) = cluster_sensors(warehouse_of(tmp_path))
    daemon = Daemon(sensor, instance)
    daemon.complete("sales", "2026-03-23", "2026-03-24")
    assert daemon.asked() == [run_config("sales", ["2026-03-24"])]
    assert daemon.asked() == []


def test_files_of_an_hour_that_is_complete_by_counts_are_compacted(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    """No window of a day asks for it: its 24 hours did."""
    counted = "start: 2026-03-23\nprobe: {counts: {of: sales}}\n"
    texts = {"sales_by_hour": f"kind: Virtual\nperiod: hour\n{counted}"}
    texts |= {"sales_by_day": f"kind: Virtual\nperiod: day\n{counted}"}
    warehouse = small_warehouse(tmp_path, {"sales": (YAML, SQL)} | {name: (text, "") for name, text in texts.items()})
    sensors = {sensor.name: sensor for sensor in cluster_sensors(warehouse)}
    assert sorted(sensors) == ["cluster_sales", "cluster_sales_by_hour"]
    daemon = Daemon(sensors["cluster_sales_by_hour"], instance)
    daemon.complete("sales_by_hour", "2026-03-23-04:00")
    assert daemon.asked() == [run_config("sales", ())]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("column", ["dt: date", pytest.param("ds: int yyyyMMdd", marks=pytest.mark.long)])
def test_days_before_are_compacted_too_where_many_files_came_late(tmp_path: Path, column: str) -> None:
    """Not those with a few, and not the day that is not over: its files still come."""
    warehouse = small_warehouse(tmp_path, {"sales": (f"{YAML}kind: Virtual\npartition_columns: {{{column}}}\n", "")})
    path, name = warehouse.table_path("sales"), column[:2]
    days = {day: date(2026, 3, day) if name == "dt" else 20260300 + day for day in (23, 24, 25, 26)}
    landed = [(number, day) for day, files in ((23, 8), (24, 7), (25, 3), (26, 9)) for number in range(files)]
    for number, day in landed:
        row = pa.table({"id": [number], "amount": [day], name: [days[day]]})
        write_deltalake(str(path), row, mode="append", partition_by=[name])

    def counts() -> list[int]:
        files = pa.table(DeltaTable(str(path)).get_add_actions(flatten=True))[f"partition.{name}"].to_pylist()
        return [files.count(value) for value in days.values()]

    job, resources = cluster_job(warehouse), engine_resources(warehouse.settings)
    assert counts() == [8, 7, 3, 9]
    job.execute_in_process(run_config=run_config("sales", ["2026-03-25"]), resources=resources)
    assert counts() == [1, 7, 1, 9]
    rows = [(row["id"], row["amount"], row[name]) for row in read_rows(path).to_pylist()]
    assert sorted(rows) == sorted((number, day, days[day]) for number, day in landed)


@pytest.mark.long
@pytest.mark.spark
def test_a_slice_then_the_rest_then_nothing(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = warehouse_of(tmp_path)
    path = warehouse.table_path("sales")
    for _ in range(2):
        rows = spark.range(40).selectExpr(
            "id", "id * 7 % 40 AS amount", "'cn' AS region", "date_add(DATE'2026-03-23', CAST(id % 2 AS INT)) AS dt"
        )
        rows.write.format("delta").partitionBy("dt").mode("append").save(str(path))
    files = table_metrics(path).files
    job, resources = cluster_job(warehouse), engine_resources(warehouse.settings)
    result = job.execute_in_process(run_config=run_config("sales", ["2026-03-23"]), resources=resources)
    (slice_,) = observations(result)
    assert (slice_["rows"], slice_["files_after"]) == (40, 1)
    assert str(slice_["depth"]).startswith("![sales: files by value](data:image/png;base64,")
    assert table_metrics(path).files == files // 2 + 1
    (rest,) = observations(job.execute_in_process(resources=resources))
    assert (rest["rows"], table_metrics(path).files) == (40, 2)
    (nothing,) = observations(job.execute_in_process(resources=resources))
    assert (nothing["rows"], nothing["files_before"]) == (0, 0)
