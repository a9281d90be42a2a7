"""A table rebuilt for another type or another period: its rows, what is refused, and a kill at each step."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import date
from typing import TYPE_CHECKING, Any, Final

import dagster as dg
import pytest
from click.testing import CliRunner

from tests.project import write_project
from tidemark.center.sensor_host import SensorHost
from tidemark.compute.errors import QualityError, RebuildRefusedError
from tidemark.compute.rebuild import carry_out
from tidemark.compute.runtime import Runtime
from tidemark.console.main import main
from tidemark.dagster.jobs.rebuild import TableRebuild
from tidemark.delta.delta_rs_table import current_version, partitions_of, read_partition
from tidemark.delta.errors import TableChangedError
from tidemark.delta.open_table import open_table
from tidemark.delta.replace_partition import replace_partition, replace_partitions
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.errors import UnknownEntityError
from tidemark.storage.stored_files import stored_files
from tidemark.system.crash_points import ENV_NAME
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("repair job")]

MONDAY, TUESDAY = date(2026, 3, 23), date(2026, 3, 24)
DAYS: Final = ("2026-03-23", "2026-03-24")
FILES: Final = {
    "project.yaml": "start: 2026-03-23\nend: 2026-03-25\nowner: o@s.example\n",
    "dwd/sales.yaml": "period: day\ncolumns: [id, amount, region]\nkind: Virtual\n",
    "dws/totals.yaml": "period: day\nquality: [{not_null: [region]}]\n",
    "dws/totals.sql": "SELECT region, sum(amount) AS amount FROM sales WHERE dt = :biz_date GROUP BY region\n",
    "dws/running.yaml": "period: day\n",
    "dws/running.sql": "SELECT count(*) AS n FROM totals WHERE dt = :biz_date\n",
}
HALVES: Final = "SELECT region, sum(amount) * 0.5 AS amount FROM sales WHERE dt = :biz_date GROUP BY region\n"
OLD: Final = {"2026-03-23": [("cn", 11), ("eu", 5)], "2026-03-24": [("eu", 7)]}
NEW: Final = {day: [(region, amount / 2) for region, amount in rows] for day, rows in OLD.items()}


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as opened:
        yield opened


@pytest.fixture
def root(tmp_path: Path, spark: SparkSession) -> Path:
    """Totals of two days, computed before the query or the period changes."""
    root = write_project(tmp_path / "shop", FILES, "time_zone: UTC\n")
    runtime = runtime_at(root)
    sales = {MONDAY: [(1, 10, "cn"), (2, 5, "eu"), (3, 1, "cn")], TUESDAY: [(4, 7, "eu")]}
    parts = [
        ({"dt": day}, spark.createDataFrame(rows, "id INT, amount INT, region STRING")) for day, rows in sales.items()
    ]
    replace_partitions(parts, runtime.warehouse.table_path("sales"))
    runtime.computer().compute([Slice("totals", day) for day in DAYS])
    return root


def runtime_at(root: Path) -> Runtime:
    return Runtime(load_warehouse(Settings.at(root / "data", root=root)))


def changed(root: Path, **texts: str) -> Runtime:
    for kind, text in texts.items():
        (root / f"warehouse_assets/dws/totals.{kind}").write_text(text)
    return runtime_at(root)


def report(instance: dg.DagsterInstance, *names: str, days: tuple[str, ...] = DAYS) -> None:
    for name in names:
        for day in days:
            instance.report_runless_asset_event(dg.AssetMaterialization(name, partition=day))


def rows(root: Path, day: str) -> list[tuple[Any, ...]]:
    there = read_partition(runtime_at(root).warehouse.table_path("totals"), {"dt": date.fromisoformat(day)})
    return sorted((row["region"], row["amount"]) for row in there.to_pylist())


def test_another_type_takes_all_slices_and_readers_follow(root: Path, instance: dg.DagsterInstance) -> None:
    report(instance, "sales", "totals", "running")
    host = SensorHost(runtime_at(root).warehouse)
    host.tick(instance)
    host.store.close()
    runtime = changed(root, sql=HALVES)
    computed = TableRebuild(instance, runtime, "totals").carry_out()
    assert [str(result.slice) for result in computed] == [f"totals@{day}" for day in DAYS]
    assert {day: rows(root, day) for day in DAYS} == NEW
    assert not list(stored_files(runtime.warehouse.settings.warehouse / "totals.rebuilt").names())
    host = SensorHost(runtime.warehouse)
    host.tick(instance)
    for name in ("totals", "running"):
        assert host.center.status(Slice(name, DAYS[0])).generation == 2, name
    assert host.center.status(Slice("totals", DAYS[0])).run_state is RunState.COMPLETED
    host.store.close()


@pytest.mark.long
def test_another_period_has_its_own_partitions(root: Path, instance: dg.DagsterInstance) -> None:
    report(instance, "sales")
    runtime = changed(root, yaml="period: hour\n", sql="SELECT id FROM sales WHERE dt = :biz_date AND id > :biz_hour\n")
    planned = TableRebuild(instance, runtime, "totals").planned
    assert (len(planned.slices), len(planned.waiting)) == (48, 0)
    path = runtime.warehouse.table_path("totals")
    list(carry_out(runtime, planned))
    told = partitions_of(path)
    assert told is not None
    assert told[0] == ("dt", "hour")
    assert [field.name for field in open_table(path).schema().fields] == ["id", "dt", "hour"]
    assert len(open_table(path).to_pyarrow_table()) == 1 + 2 + 3 + 0 + 4


@pytest.mark.long
def test_a_slice_would_be_lost_or_breaks_a_rule(root: Path, instance: dg.DagsterInstance) -> None:
    report(instance, "totals")
    report(instance, "sales", days=DAYS[1:])
    host = SensorHost(runtime_at(root).warehouse)
    host.tick(instance)
    host.store.close()
    runtime = changed(root, sql=HALVES)
    with pytest.raises(RebuildRefusedError, match="misses sales@2026-03-23"):
        TableRebuild(instance, runtime, "totals").carry_out()
    report(instance, "sales", days=DAYS[:1])
    broken = changed(root, sql=HALVES.replace("SELECT region", "SELECT nullif(region, 'cn') AS region"))
    with pytest.raises(QualityError, match="not_null"):
        TableRebuild(instance, broken, "totals").carry_out()
    assert {day: rows(root, day) for day in DAYS} == OLD


@pytest.mark.long
def test_a_commit_of_another_writer_is_kept(
    root: Path, instance: dg.DagsterInstance, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    report(instance, "sales")
    runtime, late = changed(root, sql=HALVES), [("us", 1)]
    path = runtime.warehouse.table_path("totals")

    def commit(point: str) -> None:
        if point == "swap.files_written":
            replace_partition(spark.createDataFrame(late, "region STRING, amount BIGINT"), path, {"dt": MONDAY})

    monkeypatch.setattr("tidemark.delta.swap_table.crash_point", commit)
    with pytest.raises(TableChangedError):
        TableRebuild(instance, runtime, "totals").carry_out()
    assert rows(root, DAYS[0]) == late


@pytest.mark.long
@pytest.mark.parametrize(("entity", "error"), [("sales", RebuildRefusedError), ("running", RebuildRefusedError)])
def test_only_a_computed_table_that_is_there(
    root: Path, instance: dg.DagsterInstance, entity: str, error: type[Exception]
) -> None:
    report(instance, "sales")
    with pytest.raises(error):
        TableRebuild(instance, runtime_at(root), entity).carry_out()


@pytest.mark.parametrize("arguments", [[], ["a", "b"], ["totals", "--slices", "x"], ["totals", "--approve"]])
def test_wrong_usage(tmp_path: Path, arguments: list[str]) -> None:
    root = write_project(tmp_path / "shop", FILES, "time_zone: UTC\n")
    result = CliRunner().invoke(main, ["apply", "--rebuild", *arguments, "--root", str(root)])
    assert result.exit_code == 2


@pytest.mark.long
def test_readers_see_the_old_or_the_new_table_whenever_the_command_is_killed(root: Path) -> None:
    env = {**os.environ, "TIDEMARK_DATA": str(root / "data"), "DAGSTER_HOME": str(root / "dagster_home")}
    (root / "dagster_home").mkdir(exist_ok=True)
    with dg.DagsterInstance.from_config(str(root / "dagster_home")) as instance:
        report(instance, "sales")
    runtime = changed(root, sql=HALVES)
    path, command = runtime.warehouse.table_path("totals"), [sys.executable, "-m", "tidemark.console"]
    command += ["apply", "totals", "--rebuild", "--json", "--root", str(root)]
    expected = {
        "rebuild.slices_staged": OLD,
        "swap.files_written": OLD,
        "swap.committed": NEW,
        "rebuild.told": NEW,
    }
    for point, there in expected.items():
        killed = subprocess.run(command, env={**env, ENV_NAME: point}, check=False, capture_output=True, text=True)
        assert killed.returncode == -signal.SIGKILL, (point, killed.stderr)
        assert {day: rows(root, day) for day in DAYS} == there, point
    before = current_version(path) or 0
    subprocess.run(command, env=env, check=True, capture_output=True)
    assert ({day: rows(root, day) for day in DAYS}, current_version(path)) == (NEW, before + 1)
    with dg.DagsterInstance.from_config(str(root / "dagster_home")) as instance:
        assert instance.get_materialized_partitions(dg.AssetKey("totals")) == {*DAYS}


def test_an_unknown_entity(tmp_path: Path) -> None:
    root = write_project(tmp_path / "shop", FILES, "time_zone: UTC\n")
    result = CliRunner().invoke(main, ["apply", "--rebuild", "total", "--root", str(root)])
    assert isinstance(result.exception, SystemExit | UnknownEntityError)
    assert result.exit_code == 1
