"""Slices with other partition columns than `dt` and `hour`: computed, read, checked, repaired, exported."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pytest
from deltalake import DeltaTable

from tests.dagster.kinds.world import running
from tidemark.compute.business_time import slice_values
from tidemark.compute.read_slice_rows import slice_rows
from tidemark.compute.repair import RepairRequest, carry_out, plan
from tidemark.compute.runtime import Runtime
from tidemark.delta.replace_partition import replace_partition, replace_partitions
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

NOW = datetime(2026, 3, 24, tzinfo=UTC)
ONE_DAY = "time_zone: UTC\nstart: 2026-03-23\nend: 2026-03-24\npartition_columns: {ds: yyyyMMdd, hh: HH}\n"
FILES = {
    "clicks.yaml": "kind: Virtual\nperiod: hour\npartition_columns: {ds: int yyyyMMdd, hh: int HH}\n",
    "by_hour.yaml": "period: hour\nquality: [{row_count: {min: 1}}]\n",
    "by_hour.sql": """
        SELECT who, count(*) AS n FROM clicks
        WHERE ds = int(date_format(:biz_date, 'yyyyMMdd')) AND hh = int(:biz_hour) GROUP BY who
    """,
    "by_day.yaml": "period: day\nexport: true\nquality: [{unique: [who]}]\n",
    "by_day.sql": """
        INSERT OVERWRITE TABLE by_day PARTITION (ds = date_format(:biz_date, 'yyyyMMdd'))
        SELECT who, sum(n) AS n FROM by_hour WHERE ds = date_format(:biz_date, 'yyyyMMdd') GROUP BY who
    """,
    "growth.yaml": "period: day\npartition_columns: {p_date: date}\nexport: true\n",
    "growth.sql": """
        SELECT sum(if(ds = date_format(:biz_date, 'yyyyMMdd'), n, 0)) AS today,
               sum(if(ds < date_format(:biz_date, 'yyyyMMdd'), n, 0)) AS before
        FROM by_day WHERE ds >= date_format(date_sub(:biz_date, 1), 'yyyyMMdd')
                      AND ds <= date_format(:biz_date, 'yyyyMMdd')
    """,
}
HOURS = [f"2026-03-23T{hour:02}" for hour in range(24)]


@pytest.mark.long
def test_slices_are_recognized_by_the_declared_columns(spark: SparkSession, tmp_path: Path) -> None:
    with running(spark, tmp_path, FILES, project=ONE_DAY) as world:
        clicks = world.warehouse.entities["clicks"]
        parts = [
            (
                slice_values(clicks, Slice("clicks", hour)),
                spark.createDataFrame([("ann",)] * (at % 3 + 1), "who STRING"),
            )
            for at, hour in enumerate(HOURS)
        ]
        replace_partitions(parts, world.warehouse.table_path("clicks"))
        for hour in HOURS:
            world.report(f"clicks@{hour}")
        while world.run():
            pass
        for name, columns in (("clicks", ["ds", "hh"]), ("by_hour", ["ds", "hh"]), ("by_day", ["ds"])):
            assert DeltaTable(str(world.warehouse.table_path(name))).metadata().partition_columns == columns
        written = DeltaTable(str(world.warehouse.table_path("clicks"))).schema().to_json()
        types = {field["name"]: field["type"] for field in json.loads(written)["fields"]}
        assert types == {"who": "string", "ds": "integer", "hh": "integer"}
        assert world.rows("by_hour@2026-03-23T07") == [("ann", 2)]
        assert world.rows("by_day@2026-03-23") == [("ann", 48)]
        assert world.rows("growth@2026-03-23") == [(48, 0)]
        assert world.states("olap_growth@2026-03-23") == {"completed"}
        runtime = Runtime(world.warehouse)
        assert runtime.olap.read("by_day", {"ds": "20260323"}).num_rows == 1
        assert runtime.olap.read("growth", {"p_date": date(2026, 3, 23)}).to_pylist()[0]["today"] == 48
        seen = slice_rows(runtime, Slice("clicks", "2026-03-23T05"), "who = 'ann'", 10)
        assert seen.num_rows == 3
        assert {(row["ds"], row["hh"]) for row in seen.to_pylist()} == {(20260323, 5)}
        _repaired(spark, runtime)
        assert world.rows("by_day@2026-03-23") == [("ann", 48)]


def _repaired(spark: SparkSession, runtime: Runtime) -> None:
    path = runtime.warehouse.table_path("by_day")
    before = DeltaTable(str(path)).version()
    replace_partition(spark.createDataFrame([("eve", 1)], "who STRING, n BIGINT"), path, {"ds": "20260323"})
    planned = plan(runtime, RepairRequest("by_day", "2026-03-23", from_version=before), NOW)
    assert planned.plan.partition == {"ds": "20260323"}
    report, written = carry_out(runtime, planned)
    assert report.rows == 1
    assert written is not None
    assert all(check.passed for check in written.audit.checks)
