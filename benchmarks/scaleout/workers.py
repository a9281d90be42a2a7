"""The same slices on a standalone cluster of one worker and of two, each with one core."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

from benchmarks.cluster.tasks import makespan
from tests.project import CHECKOUT
from tests.spark.standalone_cluster import standalone_cluster

if TYPE_CHECKING:
    from pathlib import Path

_SLOTS: Final = (1, 2, 4, 8, 16, 32)


def one_and_two(folder: Path, slices: int) -> dict[str, Any]:
    """`workers<n>_s` by the clock; `workers_simulated_s` by slots, of the times that the tasks took with one worker."""
    told = {}
    for workers in (1, 2):
        sys.stderr.write(f"  {workers} of 2 workers\n")
        place = folder / f"workers_{workers}"
        place.mkdir()
        with standalone_cluster(place, workers) as cluster:
            told[workers] = _computed(cluster.master, place, slices)
    stages = told[1]["stages"]
    simulated = {slots: round(sum(makespan(stage, slots) for stage in stages), 2) for slots in _SLOTS}
    return {
        "workers1_s": round(told[1]["seconds"], 2),
        "workers2_s": round(told[2]["seconds"], 2),
        "workers_speedup": round(told[1]["seconds"] / told[2]["seconds"], 2),
        "workers_slices": slices,
        "workers_tasks": {workers: sum(map(len, done["stages"])) for workers, done in told.items()},
        "workers_simulated_s": simulated,
        "workers_simulated_speedup": {slots: round(simulated[1] / seconds, 2) for slots, seconds in simulated.items()},
    }


def _computed(master: str, folder: Path, slices: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.scaleout.cluster_slices", master, str(folder / "lake"), str(slices)]
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run(command, env=env, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the slices were not computed: {done.stderr[-2000:]}")
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told
