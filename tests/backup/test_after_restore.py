"""`tidemark doctor --after-restore`: shows which store is behind, and makes them consistent if requested."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest

from tests.backup.depot import TABLE, Depot
from tests.backup.test_restore_backup import FIGURES, STATES, found, run
from tidemark.center.detectors.event_log import CURSOR, TIME_CURSOR
from tidemark.dependency_model.status import RunState
from tidemark.dependency_model.status.slice_status import FOREIGN
from tidemark.state_store.backfills import Backfills
from tidemark.state_store.lease import Lease
from tidemark.state_store.positions import note_position
from tidemark.state_store.store import StateStore

if TYPE_CHECKING:
    from pathlib import Path

LATER = "2026-03-02"


def plan(depot: Depot, *arguments: str, exit_code: int = 1) -> dict[str, Any]:
    return run("doctor", "--after-restore", *arguments, root=depot.root, exit_code=exit_code)


def steps(answer: dict[str, Any]) -> dict[str, list[str]]:
    return {step["do"]: [*step["names"], *step["slices"]] for step in answer["plan"]}


def test_without_a_loss_nothing_is_behind(depot: Depot) -> None:
    assert plan(depot, exit_code=0) == {"plan": [], "applied": False, "backfill": None}


def test_an_older_store_is_completed_from_dagster_and_the_lake(depot: Depot, tmp_path: Path) -> None:
    """The backup without its lake, where both others went on."""
    shutil.copy(depot.settings.state_db, tmp_path / "yesterday")
    depot.compute(LATER, [7])
    shutil.copy(tmp_path / "yesterday", depot.settings.state_db)
    told = plan(depot)
    assert steps(told) == {"take in": [f"{TABLE}@{LATER}"]}
    assert "behind Dagster" in told["plan"][0]["why"]
    assert depot.states() == STATES, "the plan alone changes nothing"
    assert plan(depot, "--apply", exit_code=0)["backfill"] is None
    assert depot.states() == {**STATES, LATER: (RunState.COMPLETED, "1")}
    assert plan(depot, exit_code=0)["plan"] == []


def test_a_lake_of_yesterday_loses_slices_and_they_are_computed_again(depot: Depot, tmp_path: Path) -> None:
    shutil.copytree(depot.table, tmp_path / "yesterday")
    depot.compute(LATER, [7])
    shutil.rmtree(depot.table)
    shutil.copytree(tmp_path / "yesterday", depot.table)
    told = plan(depot)
    assert steps(told) == {"forget": [f"{TABLE}@{LATER}"], "compute again": [f"{TABLE}@{LATER}"]}
    assert "the lake is behind" in told["plan"][0]["why"]
    number = plan(depot, "--apply", exit_code=0)["backfill"]
    assert depot.states()[LATER][0] is RunState.ABSENT
    store = StateStore.of(depot.settings)
    assert [str(member.slice) for member in Backfills(store.database).members(number)] == [f"{TABLE}@{LATER}"]
    store.close()
    assert plan(depot, exit_code=0)["plan"] == [], "the backfill has it"
    depot.compute(LATER, [7])
    assert depot.figures() == [*FIGURES, (LATER, 7)]


def test_foreign_rows_are_computed_again(depot: Depot) -> None:
    depot.write_table("2026-03-01", [8], is_own=False)
    told = plan(depot)
    assert steps(told) == {"compute again": [f"{TABLE}@2026-03-01"]}
    assert plan(depot, "--apply", exit_code=0)["backfill"] == 1
    store = StateStore.of(depot.settings)
    status = next(c.status for c in store.read.everything()[1] if c.slice.entity == TABLE)
    store.close()
    assert FOREIGN in status.states


def test_a_new_dagster_log_is_read_from_its_beginning(depot: Depot) -> None:
    store = StateStore.of(depot.settings)
    note_position(store, CURSOR, "1000")  # a center writes it some seconds after the events
    store.close()
    shutil.rmtree(depot.home / "history")
    depot.tell_dagster(LATER, depot.write_table(LATER, [7]), 1)
    told = plan(depot)
    assert steps(told) == {"read again": [], "take in": [f"{TABLE}@{LATER}"]}
    assert "Dagster is behind the state store" in told["plan"][0]["why"]
    plan(depot, "--apply", exit_code=0)
    assert depot.states() == {**STATES, LATER: (RunState.COMPLETED, "1")}
    assert plan(depot, exit_code=0)["plan"] == []


def test_runs_that_no_process_has_are_ended(depot: Depot) -> None:
    @dg.job
    def work() -> None:
        pass

    with dg.DagsterInstance.from_config(str(depot.home)) as instance:
        run_ = instance.create_run_for_job(work, status=dg.DagsterRunStatus.STARTED)
        assert steps(plan(depot)) == {"end": [run_.run_id]}
        plan(depot, "--apply", exit_code=0)
        ended = instance.get_run_by_id(run_.run_id)
        assert ended is not None
        assert ended.status is dg.DagsterRunStatus.FAILURE


@pytest.mark.parametrize("commit", ['{"metaData": {"id"', "[" * 100_000, f'{{"x": {"9" * 5_000}}}', ""])
def test_a_table_that_cannot_be_read_is_named(commit: str, depot: Depot) -> None:
    file = depot.table / "_delta_log" / f"{0 if commit else 1:020d}.json"
    if commit:
        file.write_text(commit)
    else:
        file.mkdir()
    assert steps(plan(depot))["see to"] == [TABLE]
    depot.tick()


def test_a_data_file_that_a_power_loss_emptied_counts_as_missing(depot: Depot) -> None:
    next(depot.table.glob("dt=*/*.parquet")).write_bytes(b"")
    assert steps(plan(depot)) == {"forget": [f"{TABLE}@2026-03-01"], "compute again": [f"{TABLE}@2026-03-01"]}


def test_another_log_that_is_longer_than_the_position_is_noticed(depot: Depot) -> None:
    """An older copy of Dagster's storage went on: its newest numbers are those of other events."""
    shutil.copytree(depot.home, depot.root / "yesterday")
    with dg.DagsterInstance.from_config(str(depot.home)) as instance:
        for _ in range(3):
            instance.report_runless_asset_event(dg.AssetMaterialization("of_others"))
        read_to = instance.event_log_storage.get_maximum_record_id()
    store = StateStore.of(depot.settings)
    note_position(store, CURSOR, str(read_to))  # a center writes both some seconds after the events
    note_position(store, TIME_CURSOR, str(time.time() - 5))
    store.close()
    shutil.rmtree(depot.home)
    shutil.move(depot.root / "yesterday", depot.home)
    version = depot.write_table(LATER, [7])
    depot.tell_dagster(LATER, version, 1)
    with dg.DagsterInstance.from_config(str(depot.home)) as instance:
        for _ in range(5):
            instance.report_runless_asset_event(dg.AssetMaterialization("of_others"))
    assert steps(plan(depot)) == {"read again": [], "take in": [f"{TABLE}@{LATER}"]}
    depot.tick()
    assert depot.states() == {**STATES, LATER: (RunState.COMPLETED, "1")}


def test_a_center_at_work_does_it_itself(depot: Depot) -> None:
    depot.write_table("2026-03-01", [8], is_own=False)
    store = StateStore.of(depot.settings)
    lease = Lease(store.database, "center of somebody", 60.0)
    lease.hold()
    error = plan(depot, "--apply", exit_code=75)["error"]
    assert error["found"] == "center of somebody"
    lease.release()
    store.close()


@pytest.mark.parametrize("how", ["missing", "empty"])
def test_a_lost_store_is_reported_and_rebuilt_from_dagsters_log(how: str, depot: Depot) -> None:
    file = depot.settings.state_db
    for name in (file, file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")):
        name.unlink(missing_ok=True)
    if how == "empty":
        file.touch()
        for command in (["status"], ["catalog"], ["doctor", "--after-restore"]):
            assert "it was truncated" in found(*command, root=depot.root)
        assert file.stat().st_size == 0
        file.unlink()
    else:
        assert "missing" in run("status", root=depot.root, exit_code=1)["lost_store"]
        assert not file.exists()
    depot.tick()
    assert depot.states() == STATES
    assert plan(depot, exit_code=0)["plan"] == []
