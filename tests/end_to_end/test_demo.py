"""The main job on the whole recording, as a person runs it."""

import json
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from deltalake import DeltaTable

from tests.world import WHOLE, DemoWorld, World, run_demo, start_tidemark
from tidemark.console.demo.source_database_answers import load_oracle
from tidemark.console.main import main
from tidemark.console.project_files import SAMPLE

# The first test that asks for it waits for the replay of the whole recording.
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group(WHOLE), pytest.mark.timeout(2400)]


def test_every_snapshot_and_every_figure_equals_the_databases_own(demo_world: DemoWorld) -> None:
    oracle = load_oracle(SAMPLE)
    values = sum(len(row) for metric in oracle.metrics for row in metric.rows)
    result = demo_world.result
    assert result["snapshots_checked"] == result["snapshots_equal"] == len(oracle.snapshots) == 5 * 9 + 2 * 48
    assert result["metrics_equal"] == result["metrics_checked"] >= values > 1_500
    assert result["partner_figures_checked"] == result["partner_figures_equal"] == 9 * 3 * 5
    assert result["windows_checked"] == result["windows_equal"] == 9 + 48
    assert result["differences"] == []
    assert result["slices_failed"] == []
    assert result["changes"] >= 150_000


def test_it_was_killed_on_its_way(demo_world: DemoWorld) -> None:
    """What the other tests see equal to the database was left by one kill -9 and completed by the next start."""
    assert demo_world.killed.returncode == -signal.SIGKILL, demo_world.killed.stdout + demo_world.killed.stderr


def test_a_second_run_changes_nothing(demo_world: DemoWorld) -> None:
    before = table_versions(demo_world.world)
    second = run_demo(demo_world.world, timeout_seconds=900)
    assert second["slices_computed"] == 0
    assert second["snapshots_equal"] == demo_world.result["snapshots_equal"]
    assert second["metrics_equal"] == demo_world.result["metrics_equal"]
    assert table_versions(demo_world.world) == before
    assert len(before) >= 20


def test_what_the_readme_asks_of_tables_and_slices_is_answered(
    demo_world: DemoWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEMARK_DATA", str(demo_world.world.data))
    monkeypatch.setenv("DAGSTER_HOME", str(demo_world.world.dagster_home))
    for command, told in (
        ("delta history dws_course_orders_1d", "WRITE"),
        ("delta repair dws_course_orders_1d 2026-03-23 --from-version 0 --dry-run", "nothing was changed"),
        ("show ads_gmv_course 2026-03-25 --limit 2", "2026-03-25"),
        ("explain ads_gmv_course 2026-03-25", "16 rows"),
        ("status", "630 slices completed"),
        ("completeness orders_complete_1d 2026-03-29", "1 of day"),
        ("catalog partner_ads", "2026-03-31/region=antilles"),
        ("probe partner_ads 2026-03-29 --part region=reunion", "is there"),
        ("explain dws_ad_spend_1d 2026-03-29 --part region=antilles", "3 rows"),
    ):
        result = CliRunner().invoke(main, command.split())
        assert result.exit_code == 0, result.output
        assert told in result.stdout


def test_a_second_demo_at_the_same_time_is_refused(tmp_path: Path) -> None:
    import fcntl

    world = World.at(tmp_path)
    world.data.mkdir()
    with (world.data / "demo.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = start_tidemark(world, "demo", "--json", timeout_seconds=120)
    assert done.returncode == 75
    error = json.loads(done.stdout)["error"]
    assert error["transient"] is True
    assert "running on this data already" in error["message"]


def table_versions(world: World) -> Mapping[str, int]:
    """Every Delta table's version: a commit, even one without rows, would raise it."""
    tables = [path for path in (world.data / "warehouse").iterdir() if DeltaTable.is_deltatable(str(path))]
    return {path.name: DeltaTable(str(path)).version() for path in sorted(tables)}
