"""The job that clusters what is declared: one slice, everything, nothing; and what it tells Dagster."""

from pathlib import Path

import dagster as dg
import pytest
from pyspark.sql import SparkSession

from tests.compute.small_warehouse import small_warehouse
from tidemark.dagster.jobs.cluster import cluster_job, clustered_columns, nightly, run_config
from tidemark.dagster.resources import engine_resources
from tidemark.dagster.sensors import cluster_sensors
from tidemark.delta.delta_rs_table import table_metrics
from tidemark.warehouse.warehouse import Warehouse

YAML = "period: day\ncluster_by: [id, amount]\n"
SQL = "SELECT 1 AS id, 10 AS amount, 'cn' AS region WHERE 1 = 0\n"


def warehouse_of(folder: Path) -> Warehouse:
    return small_warehouse(folder, {"sales": (YAML, SQL)})


def observations(result: dg.ExecuteInProcessResult) -> list[dict[str, object]]:
    events = (event.asset_observation_data for event in result.all_events if event.is_asset_observation)
    return [{name: value.value for name, value in event.asset_observation.metadata.items()} for event in events]


def test_what_is_declared_has_a_schedule_and_a_sensor(tmp_path: Path) -> None:
    warehouse = warehouse_of(tmp_path)
    assert clustered_columns(warehouse) == {"sales": ("id", "amount")}
    job = cluster_job(warehouse)
    schedule = nightly(job, "Europe/Paris")
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("30 4 * * *", "Europe/Paris")
    assert [sensor.name for sensor in cluster_sensors(warehouse)] == ["cluster_sales"]


def test_an_hour_that_is_complete_by_counts_lets_its_files_be_compacted(tmp_path: Path) -> None:
    """No window of a day asks for it: its 24 hours did."""
    counted = "start: 2026-03-23\nprobe: {counts: {of: sales}}\n"
    texts = {"sales_by_hour": f"kind: Virtual\nperiod: hour\n{counted}"}
    texts |= {"sales_by_day": f"kind: Virtual\nperiod: day\n{counted}"}
    warehouse = small_warehouse(tmp_path, {"sales": (YAML, SQL)} | {name: (text, "") for name, text in texts.items()})
    sensors = {sensor.name: sensor for sensor in cluster_sensors(warehouse)}
    assert sorted(sensors) == ["cluster_sales", "cluster_sales_by_hour"]
    with dg.DagsterInstance.ephemeral() as instance:
        hour = dg.AssetMaterialization("sales_by_hour", partition="2026-03-23-04:00")
        instance.report_runless_asset_event(hour)
        context = dg.build_sensor_context(instance=instance)
        result = sensors["cluster_sales_by_hour"].evaluate_tick(context)
    assert [request.run_config for request in result.run_requests or ()] == [run_config("sales", "")]


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
    result = job.execute_in_process(run_config=run_config("sales", "2026-03-23"), resources=resources)
    (slice_,) = observations(result)
    assert (slice_["rows"], slice_["files_after"]) == (40, 1)
    assert str(slice_["depth"]).startswith("![sales: files by value](data:image/png;base64,")
    assert table_metrics(path).files == files // 2 + 1
    (rest,) = observations(job.execute_in_process(resources=resources))
    assert (rest["rows"], table_metrics(path).files) == (40, 2)
    (nothing,) = observations(job.execute_in_process(resources=resources))
    assert (nothing["rows"], nothing["files_before"]) == (0, 0)
