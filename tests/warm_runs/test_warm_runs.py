"""Runs on real workers: they end, print, fail, crash and are stopped as runs of processes of their own do."""

from __future__ import annotations

import os
import signal
import stat
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from dagster._core.events import DagsterEvent, DagsterEventType
from dagster._core.launcher.base import LaunchRunContext, WorkerStatus

from tests.until import until
from tests.warm_runs.warm_home import WarmHome, warm_home, write_home
from tidemark.warm_runs.errors import WorkersDownError
from tidemark.warm_runs.host_supervisor import WorkerHostSupervisor
from tidemark.warm_runs.launcher import WarmRunLauncher
from tidemark.warm_runs.run_identity import RUN_TAG

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.components, pytest.mark.xdist_group("warm_runs"), pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[WarmHome, WorkerHostSupervisor]]:
    home = tmp_path_factory.mktemp("warm") / "home"
    write_home(home, workers=1)
    with warm_home(home) as warm, WorkerHostSupervisor(home, home / "workers.log", os.environ) as keeper:
        yield warm, keeper


@pytest.fixture
def warm(kept: tuple[WarmHome, WorkerHostSupervisor]) -> WarmHome:
    kept[0].wait_until_ready()
    return kept[0]


def test_a_run_succeeds_and_dagster_finds_its_output(warm: WarmHome) -> None:
    (worker,) = warm.warm_workers()["pids"]
    runs = [warm.launch("quick") for _ in range(3)]
    assert [warm.ended(run) for run in runs] == ["SUCCESS"] * 3
    assert warm.warm_workers()["pids"] == [worker]
    assert f"warm worker of process {worker}" in warm.messages(runs[-1])
    manager = warm.instance.compute_log_manager
    (key,) = [
        [runs[1], "compute_logs", event.dagster_event.logs_captured_data.file_key]
        for event in warm.instance.all_logs(runs[1])
        if event.dagster_event and event.dagster_event.event_type_value == "LOGS_CAPTURED"
    ]
    log_data = manager.get_log_data(key)
    assert log_data.stdout == b"on standard output\n"
    assert b"on standard error" in (log_data.stderr or b"")
    assert manager.is_capture_complete(key)


def test_a_step_that_fails_fails_its_run_alone(warm: WarmHome) -> None:
    run = warm.launch("failing")
    assert warm.ended(run) == "FAILURE"
    assert "the cluster is on fire" in str(warm.instance.all_logs(run))
    assert warm.ended(warm.launch("quick")) == "SUCCESS"


@pytest.mark.long
def test_a_crash_fails_its_run_and_says_so(warm: WarmHome) -> None:
    run, after = warm.launch("dying"), warm.launch("quick")
    assert warm.ended(run) == "FAILURE"
    assert "was ended by signal 9" in warm.messages(run)
    assert warm.ended(after) == "SUCCESS"


def test_a_run_is_stopped_and_its_worker_replaced(warm: WarmHome) -> None:
    (worker,) = warm.warm_workers()["pids"]
    run, queued = warm.launch("lasting"), warm.launch("quick")
    until(lambda: warm.status(run) == "STARTED", "start")
    health = warm.instance.run_launcher.check_run_worker_health(warm.instance.get_run_by_id(run))  # type: ignore[arg-type]
    assert health.status is WorkerStatus.RUNNING
    assert warm.instance.run_launcher.terminate(queued)
    assert warm.ended(queued) == "CANCELED"
    assert warm.instance.run_launcher.terminate(run)
    assert warm.ended(run) == "CANCELED"
    assert not warm.instance.run_launcher.terminate(run)
    until(lambda: warm.warm_workers()["pids"] != [worker] and warm.warm_workers()["ready"], "another worker")
    until(lambda: not psutil.pid_exists(worker), "the end of the first one")


def test_a_worker_that_is_stopped_is_replaced_and_its_run_failed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write_home(home, workers=1, silent_seconds=12)
    with warm_home(home) as warm, WorkerHostSupervisor(home, home / "workers.log", os.environ):
        warm.wait_until_ready()
        (worker,) = warm.warm_workers()["pids"]
        os.kill(worker, signal.SIGSTOP)
        run = warm.launch("quick")
        assert warm.ended(run) == "FAILURE"
        assert "said nothing for 12 s and was killed" in warm.messages(run)
        warm.wait_until_ready()
        assert warm.ended(warm.launch("quick")) == "SUCCESS"


def test_a_run_that_another_machine_has_begun_is_left_to_it(warm: WarmHome) -> None:
    run = warm.create("quick")
    begun = DagsterEvent(DagsterEventType.RUN_START.value, job_name="__ASSET_JOB")
    warm.instance.report_dagster_event(begun, run)
    warm.instance.run_launcher.launch_run(launch_context(warm, run))
    until(lambda: warm.ended(warm.launch("quick")) == "SUCCESS", "a run after it")
    assert warm.status(run) == "STARTED"
    until(lambda: warm.warm_workers()["running"] == 0, "a worker that is idle again")


def test_the_socket_is_its_users_alone(warm: WarmHome) -> None:
    path = Path((warm.home / "warm_runs" / "address").read_text())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE((warm.home / "warm_runs").stat().st_mode) == 0o700


@pytest.mark.long
def test_a_killed_host_restarts_and_closes_its_runs(kept: tuple[WarmHome, WorkerHostSupervisor]) -> None:
    warm, keeper = kept
    warm.wait_until_ready()
    (worker,) = warm.warm_workers()["pids"]
    run, queued = warm.launch("lasting"), warm.launch("quick")
    until(lambda: warm.status(run) == "STARTED", "start")
    os.kill(keeper.pid, signal.SIGKILL)
    until(lambda: not warm.warm_workers(), "the end of the host")
    launcher = warm.instance.run_launcher
    assert isinstance(launcher, WarmRunLauncher)
    with pytest.raises(WorkersDownError, match="no host of warm workers"):
        launcher.launch_run(launch_context(warm, warm.create("quick")))

    def is_back() -> bool:
        keeper.check()
        return bool(warm.warm_workers().get("ready"))

    until(is_back, "another host")
    assert not psutil.pid_exists(worker)
    assert [warm.ended(run_id) for run_id in (run, queued)] == ["FAILURE", "FAILURE"]
    assert warm.ended(warm.launch("quick")) == "SUCCESS"
    until(lambda: not list((warm.home / "warm_runs" / "runs").iterdir()), "an empty journal")


def test_a_second_keeper_waits_for_its_turn(kept: tuple[WarmHome, WorkerHostSupervisor]) -> None:
    warm, _ = kept
    warm.wait_until_ready()
    pids = warm.warm_workers()["pids"]
    with WorkerHostSupervisor(warm.home, warm.home / "second.log", os.environ) as second:
        assert warm.ended(warm.launch("quick")) == "SUCCESS"
        waits = second.is_running
    assert (waits, second.is_running) == (True, False)
    assert warm.warm_workers()["pids"] == pids


@pytest.mark.long
def test_nothing_outlives_its_owner(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write_home(home, workers=1)
    with warm_home(home) as warm:
        with WorkerHostSupervisor(home, home / "workers.log", os.environ) as keeper:
            warm.wait_until_ready()
            run = warm.launch("lasting")
            until(lambda: warm.status(run) == "STARTED", "start")
            family = psutil.Process(keeper.pid).children(recursive=True)
            assert len(family) == 1
        assert not psutil.pid_exists(keeper.pid)
        assert not any(process.is_running() for process in family)
        assert warm.status(run) == "FAILURE"
        assert not (home / "warm_runs" / "address").exists()


def launch_context(warm: WarmHome, run_id: str) -> LaunchRunContext:
    run = warm.instance.get_run_by_id(run_id)
    assert run is not None
    return LaunchRunContext(run, None)


def test_a_slice_requested_by_sensor_and_center_runs_once(warm: WarmHome) -> None:
    own = warm.create("quick")
    doubled = warm.create("quick", tags={RUN_TAG: own, "dagster/run_key": own})
    warm.instance.run_launcher.launch_run(launch_context(warm, doubled))
    assert warm.status(doubled) == "CANCELED"
    asked = str(uuid.uuid4())
    alone = warm.create("quick", tags={RUN_TAG: asked, "dagster/run_key": asked})
    warm.instance.run_launcher.launch_run(launch_context(warm, alone))
    assert warm.ended(alone) == "SUCCESS"
