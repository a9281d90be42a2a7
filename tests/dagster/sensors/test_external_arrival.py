"""A real Dagster instance and the readiness sensor: what another program puts down releases exactly its day's run."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import dagster as dg
import pytest

from tests.compute.small_warehouse import DECLARED, small_warehouse
from tests.dagster.sensors.test_readiness import runs_of
from tests.until import until
from tidemark.dagster.sensors.readiness import readiness_sensor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WRITER = """
import sys, duckdb
duckdb.sql("COPY (SELECT 1 AS id, 10 AS amount, 'cn' AS region) TO '%s/part.parquet' (FORMAT parquet)" % sys.argv[1])
"""
OTHER_LOCATION = """
import dagster as dg

@dg.asset(partitions_def=dg.DailyPartitionsDefinition("2026-03-23", end_date="2026-03-26"))
def scores():
    return None

defs = dg.Definitions(assets=[scores])
"""


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as opened:
        yield opened


@pytest.mark.long
@pytest.mark.slow
def test_an_asset_of_another_process_and_code_location_releases_its_day(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    """The other location shares Dagster's storage alone: its run is a process of its own."""
    location = tmp_path / "other_location.py"
    location.write_text(OTHER_LOCATION)
    command = [sys.executable, "-m", "dagster", "asset", "materialize", "-f", str(location)]
    command += ["--select", "scores", "--partition", "2026-03-24"]
    home = {**os.environ, "DAGSTER_HOME": str(tmp_path)}
    probe = "probe: {dagster: {asset: scores, partition: '{key}'}, settle_for: 0m, fresh_for: 0m}"
    sales = f"period: day\nkind: Virtual\nend: 2026-03-26\n{probe}\n"
    declared = {name: (f"{yaml}end: 2026-03-26\n", sql) for name, (yaml, sql) in DECLARED.items()}
    warehouse = small_warehouse(tmp_path, {**declared, "sales": (sales, DECLARED["sales"][1])})
    assert runs_of(asked_for(readiness_sensor(warehouse), instance)) == []
    subprocess.run(command, check=True, timeout=300, env=home, capture_output=True)
    later = readiness_sensor(warehouse)  # that process has looked, and would not look again for some minutes
    requests = until(lambda: asked_for(later, instance), "the run of the day")
    assert runs_of(requests) == [("totals", "2026-03-24")]
    assert instance.get_materialized_partitions(dg.AssetKey(["sales"])) == {"2026-03-24"}


def asked_for(sensor: dg.SensorDefinition, instance: dg.DagsterInstance) -> list[dg.RunRequest]:
    """The runs that one evaluation of the sensor asks for."""
    result = sensor(dg.build_sensor_context(instance=instance))
    return list(result.run_requests or ()) if isinstance(result, dg.SensorResult) else []


@pytest.mark.slow
def test_a_day_that_another_program_delivers_is_asked_for(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    folder = tmp_path / "in" / "2026-03-24"
    folder.mkdir(parents=True)
    subprocess.run([sys.executable, "-c", WRITER, str(folder)], check=True, timeout=60)
    probe = f"probe: {{files: {{path: '{tmp_path}/in/{{key}}'}}, settle_for: 0m, fresh_for: 0m}}"
    sales = f"period: day\nkind: Virtual\nend: 2026-03-26\nquality: [{{row_count: {{min: 1}}}}]\n{probe}\n"
    declared = {name: (f"{yaml}end: 2026-03-26\n", sql) for name, (yaml, sql) in DECLARED.items()}
    warehouse = small_warehouse(tmp_path, {**declared, "sales": (sales, DECLARED["sales"][1])})
    sensor = readiness_sensor(warehouse)
    requests = until(lambda: asked_for(sensor, instance), "the run of the day")
    assert runs_of(requests) == [("totals", "2026-03-24")]
    assert instance.get_materialized_partitions(dg.AssetKey(["sales"])) == {"2026-03-24"}
    (observed,) = instance.fetch_observations(dg.AssetKey(["sales"]), limit=10).records
    assert observed.partition_key == "2026-03-24"
    checks = instance.event_log_storage.get_asset_check_execution_history(
        dg.AssetCheckKey(dg.AssetKey(["sales"]), "row_count"), limit=10
    )
    assert [check.status.value for check in checks] == ["SUCCEEDED"]
