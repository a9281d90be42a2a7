"""The dispatching center as processes: it runs what is ready on warm workers; another one takes its place in time."""

from __future__ import annotations

import os
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import dagster as dg
import psutil
import pytest

from benchmarks.launch.location import START
from benchmarks.launch.world import LaunchWorld
from tests.until import until
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.state_store.store import StateStore
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.components, pytest.mark.xdist_group("warm_runs"), pytest.mark.timeout(600)]


class Served(LaunchWorld):
    """A world whose slices are asked for in the store."""

    def arrive(self, number: int, day: str = START) -> None:
        with dg.DagsterInstance.from_config(str(self.home)) as instance:
            instance.report_runless_asset_event(dg.AssetMaterialization(f"feed_{number}", partition=day))

    def run_state(self, number: int, day: str = START) -> tuple[RunState, int]:
        store = StateStore.of(Settings.load(self.environment))
        current = store.read.current(Slice(f"small_{number}", day))
        store.close()
        return (current.status.run_state, current.status.generation) if current else (RunState.WAITING, 1)

    def is_there(self, number: int, day: str = START) -> bool:
        return self.run_state(number, day)[0] is RunState.COMPLETED

    def log(self, name: str = "center.log") -> str:
        return (self.folder / name).read_text()

    @contextmanager
    def center_at(self, log: str = "center.log") -> Iterator[psutil.Process]:
        """A center; whatever becomes of it, nothing of it is left."""
        process = self.start_center(log)
        process_tree = psutil.Process(process.pid)
        try:
            yield process_tree
        finally:
            family = process_tree.children(recursive=True) if process_tree.is_running() else []
            process.terminate()
            try:
                process.wait(30)
            finally:
                _, alive = psutil.wait_procs(family, 15)
                for process_ in alive:
                    process_.kill()
            assert not alive


@pytest.fixture
def world(tmp_path: Path) -> Served:
    made = Served(tmp_path, workers=1, retry_seconds=1.0)
    made.write(3)
    return made


@pytest.mark.long
def test_what_is_ready_is_run_on_a_warm_worker_and_sigterm_ends_everything(world: Served) -> None:
    with world.center_at() as center:
        until(lambda: '"active"' in world.log(), "an active center")
        world.arrive(0)
        until(lambda: world.is_there(0), "the slice")
        with dg.DagsterInstance.from_config(str(world.home)) as instance:
            until(lambda: all(run.is_finished for run in instance.get_runs()), "the end of its run")
            (run,) = instance.get_runs()
            assert run.status is dg.DagsterRunStatus.SUCCESS
            assert run.remote_job_origin is not None
            assert run.tags["tidemark/run"] == run.run_id
            assert "warm worker" in "".join(entry.message for entry in instance.all_logs(run.run_id))
        assert len(center.children(recursive=True)) == 2
    assert world.log().splitlines()[-1] == '{"event": "stopped"}'


@pytest.mark.long
def test_another_center_takes_over_within_ten_seconds_and_the_zombie_does_nothing(world: Served) -> None:
    with world.center_at() as first:
        until(lambda: '"active"' in world.log(), "an active center")
        with world.center_at("second.log"):
            world.arrive(0)
            until(lambda: world.is_there(0), "the slice")
            time.sleep(1)
            assert '"active"' not in world.log("second.log")
            first.suspend()
            until(lambda: '"active", "fencing_token": 2' in world.log("second.log"), "the second center")
            world.arrive(1)
            until(lambda: world.is_there(1), "the slice of the second center")
            first.resume()
            until(lambda: '"standby"' in world.log(), "the first one to notice")
            world.arrive(2)
            until(lambda: world.is_there(2), "the slice of the second center")
    with dg.DagsterInstance.from_config(str(world.home)) as instance:
        assert len(instance.get_runs()) == 3
    assert '"launched"' not in world.log().partition('"standby"')[2]


@pytest.mark.long
def test_a_center_that_is_killed_leaves_nothing_behind_and_its_successor_ends_its_work(world: Served) -> None:
    with world.center_at() as first:
        until(lambda: '"active"' in world.log(), "an active center")
        family = first.children(recursive=True)
        world.arrive(0)
        world.arrive(1)
        until(lambda: world.run_state(0)[0] is not RunState.WAITING, "a decision")
        os.kill(first.pid, signal.SIGKILL)
        _, alive = psutil.wait_procs(family, 15)
        assert alive == []
    with world.center_at("second.log"):
        until(lambda: world.is_there(0) and world.is_there(1), "the slices")
        world.arrive(2)
        until(lambda: world.is_there(2), "a slice of its own")
    assert world.run_state(2) == (RunState.COMPLETED, 1)
