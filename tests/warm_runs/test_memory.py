"""A worker's memory stays what it is, however many runs it executes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.warm_runs.warm_home import warm_home, write_home
from tidemark.warm_runs.host_supervisor import WorkerHostSupervisor

if TYPE_CHECKING:
    from pathlib import Path

_RUNS = 2_000
_SETTLED = 400
_AT_ONCE = 20


@pytest.mark.long
@pytest.mark.timeout(7_200)
def test_memory_is_flat_over_two_thousand_runs(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write_home(home, workers=1, runs_a_worker=10 * _RUNS)
    with warm_home(home) as warm, WorkerHostSupervisor(home, home / "workers.log", os.environ):
        warm.wait_until_ready()
        (pid,) = warm.warm_workers()["pids"]
        megabytes = []
        for number in range(0, _RUNS, _AT_ONCE):
            runs = [warm.launch("quick") for _ in range(_AT_ONCE)]
            assert {warm.ended(run) for run in runs} == {"SUCCESS"}
            if number >= _SETTLED:
                megabytes.append(psutil.Process(pid).memory_info().rss / 1_048_576)
        assert warm.warm_workers()["pids"] == [pid]
    first, last = megabytes[: len(megabytes) // 4], megabytes[-len(megabytes) // 4 :]
    assert sum(last) / len(last) < 1.1 * sum(first) / len(first), megabytes
