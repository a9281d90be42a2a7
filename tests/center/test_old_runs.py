"""Old runs are removed from Dagster's storage; every slice, partition and open work stays as it was."""

from __future__ import annotations

import json
from collections.abc import Iterator  # noqa: TC003 - Dagster reads the annotation
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Never

import dagster as dg
import pytest
import yaml
from click.testing import CliRunner

from tests.project import write_project
from tests.state_store.conftest import empty_database
from tidemark.center.center_tick import CenterTick
from tidemark.center.old_runs import OWN_JOBS, OldRuns
from tidemark.console.main import main
from tidemark.dagster_internals import stored_runs
from tidemark.dagster_internals.partition_checks import report_check
from tidemark.state_store.store import StateStore
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse
from tidemark.warm_runs.run_identity import RUN_TAG

DECLARATIONS = {
    "project.yaml": "start: 2026-03-01\n",
    "external/orders.yaml": "kind: Virtual\nperiod: day\ncolumns: [id]\n",
    "dwd/sales.yaml": "period: day\ndepends_on: [orders]\nquality: [{not_null: [n]}]\n",
    "dwd/sales.sql": "SELECT id AS n FROM orders\n",
}
DAYS = [f"2026-03-0{day}" for day in range(1, 4)]


def asset(name: str) -> dg.AssetsDefinition:
    specs = [dg.AssetCheckSpec("not_null_n", asset=name)]

    @dg.asset(name=name, partitions_def=dg.StaticPartitionsDefinition(DAYS), check_specs=specs)
    def compute() -> Iterator[dg.MaterializeResult[None]]:
        yield dg.MaterializeResult(
            metadata={"delta_version": 1}, check_results=[dg.AssetCheckResult(passed=True, check_name="not_null_n")]
        )

    return compute


class Shop:
    """A project whose runs are played, and their clock."""

    def __init__(self, root: Path, storage: dict[str, Any]) -> None:
        write_project(root, DECLARATIONS, "time_zone: UTC\nruns_days: 30\n")
        home = root / "dagster_home"
        home.mkdir(parents=True)
        (home / "dagster.yaml").write_text(yaml.safe_dump({"telemetry": {"enabled": False}, **storage}))
        self.root, self.settings = root, Settings.load({"TIDEMARK_ROOT": str(root)})
        self.warehouse = load_warehouse(self.settings)
        self.instance = dg.DagsterInstance.from_config(str(home))
        self.store = StateStore.of(self.settings)

    def run(self, day: str, name: str = "sales", **tags: str) -> str:
        done = dg.materialize([asset(name)], instance=self.instance, partition_key=day, tags=tags)
        return done.run_id

    def tick(self) -> None:
        tick = CenterTick(self.warehouse, "center")
        tick.tick(self.instance)
        assert tick.isolated.troubles == {}
        tick.store.close()

    def clean(self, days: int = 31, most: int = 2) -> int:
        old, now = OldRuns(self.warehouse, self.store), datetime.now(UTC) + timedelta(days=days)
        removed = [old.poll(self.instance, now, most) for _ in range(9)]
        return sum(removed)

    def runs(self) -> set[str]:
        return {run.run_id for run in self.instance.get_runs()}

    def answers(self) -> dict[str, Any]:
        """Statuses, readiness, and what Dagster's pages show of partitions."""
        tick = CenterTick(self.warehouse, "reader")
        tick.tick(self.instance)
        tick.tick(self.instance)
        center = tick.center
        told = {
            "statuses": {str(current.slice): current.status for current in tick.store.read.everything()[1]},
            "ready": list(map(str, center.ready())),
            "partitions": self.instance.get_materialized_partitions(dg.AssetKey("sales")),
            "newest": self.instance.event_log_storage.get_latest_storage_id_by_partition(
                dg.AssetKey("sales"), dg.DagsterEventType.ASSET_MATERIALIZATION
            ),
            "checks": [
                record.status
                for record in self.instance.event_log_storage.get_latest_asset_check_execution_by_key(
                    [dg.AssetCheckKey(dg.AssetKey("sales"), "not_null_n")]
                ).values()
            ],
        }
        tick.store.close()
        return told


POSTGRESQL = [pytest.mark.components, pytest.mark.slow]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=[*POSTGRESQL, pytest.mark.long])])
def shop(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    storage: dict[str, Any] = {}
    if request.param == "postgresql":
        server = request.getfixturevalue("postgres_server")
        storage = {"storage": {"postgres": {"postgres_url": empty_database(server.url, tmp_path)}}}
    monkeypatch.setattr("tidemark.center.old_runs._UNREAD", -timedelta(days=1))
    made = Shop(tmp_path / "shop", storage)
    yield made
    made.store.close()
    made.instance.dispose()


@pytest.mark.parametrize("shop", ["sqlite", pytest.param("postgresql", marks=POSTGRESQL)], indirect=True)
def test_nothing_that_is_asked_changes_when_old_runs_are_removed(shop: Shop) -> None:
    runs = [shop.run(day) for day in (*DAYS, DAYS[0])]
    before = shop.answers()
    assert shop.clean(days=29) == 0
    assert shop.runs() == set(runs)
    assert shop.clean() == len(runs)
    assert (shop.runs(), shop.answers()) == (set(), before)
    assert shop.instance.fetch_materializations(dg.AssetKey("sales"), limit=99).records[-1].run_id == runs[1]
    history = Path(shop.instance.root_directory) / "history" / "runs"
    assert not [file for run in runs for file in history.glob(f"{run}*")]
    assert not list((Path(shop.instance.root_directory) / "storage").glob("*/compute_logs"))


def test_a_store_built_again_from_the_log_has_the_same_statuses(shop: Shop) -> None:
    for day in DAYS:
        shop.run(day)
    before = shop.answers()["statuses"]
    assert shop.clean() == len(DAYS)
    shop.store.close()
    for file in shop.settings.state_db.parent.glob("state.db*"):
        file.unlink()
    assert shop.answers()["statuses"] == before
    shop.store = StateStore.of(shop.settings)


def test_runs_in_use_and_of_others_stay(shop: Shop) -> None:
    """Others: an external table, an asset of another location, and a job of another location."""

    @dg.job
    def work() -> None:
        pass

    @dg.job
    def vacuum() -> None:
        pass

    held, repeated = shop.run(DAYS[0], **{"dagster/backfill": "open"}), shop.run(DAYS[1])
    others = {
        shop.run(DAYS[0], "orders"),
        shop.run(DAYS[0], "foreign"),
        work.execute_in_process(instance=shop.instance).run_id,
    }
    launched = shop.run(DAYS[2], **{RUN_TAG: "asked"})
    active = shop.instance.create_run_for_job(
        work, parent_run_id=repeated, root_run_id=repeated, status=dg.DagsterRunStatus.STARTED
    )
    free = {shop.run(DAYS[0]), vacuum.execute_in_process(instance=shop.instance).run_id}
    shop.tick()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tidemark.center.old_runs.open_backfill_ids", lambda _: frozenset({"open"}))
        patch.setattr(type(shop.store.read), "runs_under_way", lambda _: {"asked"})
        assert shop.clean(most=3) == len(free)
    assert shop.runs() == {held, repeated, launched, active.run_id, *others}


def test_runs_whose_events_are_unread_stay(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    run = shop.run(DAYS[0])
    assert shop.clean() == 0, "the center has read nothing"
    shop.tick()
    monkeypatch.setattr("tidemark.center.old_runs._UNREAD", timedelta(minutes=10))
    assert shop.clean() == 0
    assert shop.runs() == {run}


def test_a_removal_that_was_killed_is_done_again(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    for day in DAYS:
        shop.run(day)
    before = shop.answers()

    def killed(*_: object, **__: object) -> Never:
        raise OSError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(type(shop.instance.compute_log_manager), "delete_logs", killed)
        with pytest.raises(OSError, match="killed"):
            shop.clean()
    assert shop.clean() == len(DAYS)
    assert shop.answers() == before


def test_files_of_events_without_a_run_are_removed_by_age(tmp_path: Path) -> None:
    shop = Shop(tmp_path, {})
    run = shop.run(DAYS[0])
    report_check(
        shop.instance, dg.AssetCheckEvaluation(dg.AssetKey("sales"), "valid", passed=True, metadata={}), "valid-1"
    )
    history = Path(shop.instance.root_directory) / "history" / "runs"
    now = datetime.now(UTC).timestamp()
    assert [stored_runs.remove_files_without_run(shop.instance, at, 9) for at in (now - 60, now + 60)] == [0, 1]
    assert {file.stem for file in history.glob("*.db")} == {"index", run}
    shop.store.close()
    shop.instance.dispose()


def test_the_command_shows_first_and_removes_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = Shop(tmp_path, {})
    for day in DAYS:
        shop.run(day)
    shop.tick()
    monkeypatch.setattr("tidemark.center.old_runs._UNREAD", -timedelta(days=1))
    monkeypatch.setattr(OldRuns, "_before", lambda *_: datetime.now(UTC) + timedelta(minutes=1))

    def told(*arguments: str) -> dict[str, Any]:
        done = CliRunner().invoke(main, ["--root", str(tmp_path), "upkeep", "--json", *arguments])
        assert done.exit_code == 0, done.output
        answer: dict[str, Any] = json.loads(done.output)
        return answer

    assert told("--dry-run") == {"runs": 3, "files": 0, "dry_run": True, "runs_days": 30}
    assert told("--most", "2")["runs"] == 2
    assert told() == {"runs": 1, "files": 0, "dry_run": False, "runs_days": 30}
    assert shop.runs() == set()
    shop.store.close()
    shop.instance.dispose()


def test_without_a_limit_of_age_all_runs_stay(tmp_path: Path) -> None:
    shop = Shop(tmp_path, {})
    shop.run(DAYS[0])
    shop.tick()
    shop.warehouse = replace(shop.warehouse, settings=shop.settings.model_copy(update={"runs_days": 0}))
    assert shop.clean(days=9_999) == 0
    shop.store.close()
    shop.instance.dispose()


def test_jobs_without_assets_are_known_by_name() -> None:
    folder = Path(stored_runs.__file__).parents[1] / "dagster" / "jobs"
    assert all(f'"{name}"' in (folder / f"{name}.py").read_text() for name in OWN_JOBS)
