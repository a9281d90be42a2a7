"""The main job as a person runs it: on the recording's first day here, on all nine in the long tests."""

import json
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from deltalake import DeltaTable

from tests.world import FIRST_DAY, UNTIL_FIRST_DAY, WHOLE, DemoWorld, World, run_demo, start_tidemark
from tidemark.console.demo.source_database_answers import load_oracle
from tidemark.console.main import main
from tidemark.console.project_files import SAMPLE

pytestmark = [pytest.mark.spark, pytest.mark.timeout(2400)]


@dataclass(frozen=True)
class Recording:
    """How much of the recording is replayed, and what commands of README's say of it afterwards."""

    arguments: tuple[str, ...]
    days: int
    hours: int
    figures: int
    changes: int
    answers: Mapping[str, str]


ONE_DAY = Recording(
    arguments=UNTIL_FIRST_DAY,
    days=1,
    hours=0,
    figures=100,
    changes=10_000,
    answers={
        "delta history dws_course_orders_1d": "WRITE",
        "delta repair dws_course_orders_1d 2026-03-23 --from-version 0 --dry-run": "nothing was changed",
        "show ads_gmv_course 2026-03-23 --limit 2": "2026-03-23",
        "explain ads_gmv_course 2026-03-23": "16 rows",
        "completeness orders_complete_1d 2026-03-23": "1 of day",
        "catalog partner_ads": "2026-03-23/region=antilles",
        "probe partner_ads 2026-03-23 --part region=reunion": "is there",
        "explain dws_ad_spend_1d 2026-03-23 --part region=antilles": "3 rows",
    },
)
NINE_DAYS = Recording(
    arguments=(),
    days=9,
    hours=48,
    figures=1_500,
    changes=150_000,
    answers={
        **ONE_DAY.answers,
        "explain ads_gmv_course 2026-03-25": "16 rows",
        "status": "630 slices completed",
        "completeness orders_complete_1d 2026-03-29": "1 of day",
        "catalog partner_ads": "2026-03-31/region=antilles",
        "probe partner_ads 2026-03-29 --part region=reunion": "is there",
        "explain dws_ad_spend_1d 2026-03-29 --part region=antilles": "3 rows",
    },
)


@pytest.fixture(
    params=[
        pytest.param(("demo_world", ONE_DAY), id="one day", marks=pytest.mark.xdist_group(FIRST_DAY)),
        pytest.param(
            ("whole_demo_world", NINE_DAYS), id="nine days", marks=[pytest.mark.xdist_group(WHOLE), pytest.mark.long]
        ),
    ]
)
def replayed(request: pytest.FixtureRequest) -> tuple[DemoWorld, Recording]:
    """The first test that asks for it waits for the replay."""
    world, recording = request.param
    return request.getfixturevalue(world), recording


def test_every_snapshot_and_every_figure_equals_the_databases_own(replayed: tuple[DemoWorld, Recording]) -> None:
    result, recording = replayed[0].result, replayed[1]
    days, hours = recording.days, recording.hours
    assert result["snapshots_checked"] == result["snapshots_equal"] == 5 * days + 2 * hours
    assert result["metrics_equal"] == result["metrics_checked"] > recording.figures
    assert result["partner_figures_checked"] == result["partner_figures_equal"] == days * 3 * 5
    assert result["windows_checked"] == result["windows_equal"] == days + hours
    assert result["differences"] == []
    assert result["slices_failed"] == []
    assert result["changes"] >= recording.changes


@pytest.mark.long
@pytest.mark.xdist_group(WHOLE)
def test_all_that_the_database_was_asked_is_compared(whole_demo_world: DemoWorld) -> None:
    oracle = load_oracle(SAMPLE)
    assert whole_demo_world.result["snapshots_checked"] == len(oracle.snapshots)
    assert whole_demo_world.result["metrics_checked"] >= sum(
        len(row) for metric in oracle.metrics for row in metric.rows
    )


def test_it_was_killed_on_its_way(replayed: tuple[DemoWorld, Recording]) -> None:
    """What the other tests see equal to the database was left by one kill -9 and completed by the next start."""
    killed = replayed[0].killed
    assert killed.returncode == -signal.SIGKILL, killed.stdout + killed.stderr


@pytest.mark.long
def test_a_second_run_changes_nothing(replayed: tuple[DemoWorld, Recording]) -> None:
    demo, recording = replayed
    before = table_versions(demo.world)
    second = run_demo(demo.world, *recording.arguments, timeout_seconds=900)
    assert second["slices_computed"] == 0
    assert second["snapshots_equal"] == demo.result["snapshots_equal"]
    assert second["metrics_equal"] == demo.result["metrics_equal"]
    assert table_versions(demo.world) == before
    assert len(before) >= 15


def test_what_the_readme_asks_of_tables_and_slices_is_answered(
    replayed: tuple[DemoWorld, Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    demo, recording = replayed
    monkeypatch.setenv("TIDEMARK_DATA", str(demo.world.data))
    monkeypatch.setenv("DAGSTER_HOME", str(demo.world.dagster_home))
    for command, told in recording.answers.items():
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
    assert "another demo is using this data folder" in error["message"]


def table_versions(world: World) -> Mapping[str, int]:
    """Every Delta table's version: a commit, even one without rows, would raise it."""
    tables = [path for path in (world.data / "warehouse").iterdir() if DeltaTable.is_deltatable(str(path))]
    return {path.name: DeltaTable(str(path)).version() for path in sorted(tables)}
