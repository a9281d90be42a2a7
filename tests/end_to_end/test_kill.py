"""kill -9 at named points and at seeded random moments; started again, the demo ends in the one right state.

The replay that the other tests share (`demo_world`) was killed at one of the points as well.
"""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.world import World, run_demo, start_tidemark

pytestmark = [pytest.mark.spark, pytest.mark.long]

LAST_DAY = ("--until", "2026-03-23")
POINTS = [
    "ingest.before_tags",
    "delta.before_replace:3",
    "delta.after_replace:4",
    "olap.after_delete",
    "olap.after_commit:2",
]
SEED = 20260323


def test_killed_at_named_points_it_ends_equal_to_the_database(tmp_path: Path) -> None:
    """One warehouse, killed again and again: each start finds what the one before left."""
    world = World.at(tmp_path)
    for point in POINTS:
        killed = start_tidemark(
            world, "demo", "--json", *LAST_DAY, timeout_seconds=600, env={"TIDEMARK_CRASH_AT": point}
        )
        assert killed.returncode == -signal.SIGKILL, f"{point} was not reached\n{killed.stdout}\n{killed.stderr}"
    result = run_demo(world, *LAST_DAY, timeout_seconds=600)
    assert result["snapshots_checked"] == result["snapshots_equal"] == 5
    assert result["metrics_checked"] == result["metrics_equal"] > 100
    assert result["slices_failed"] == []


@pytest.mark.parametrize("seed", range(SEED, SEED + 10))
def test_killed_at_any_moment_it_ends_equal_to_the_database(tmp_path: Path, seed: int) -> None:
    """`pytest -m long -k 'moment and 20260327'` replays one seed."""
    world, moments = World.at(tmp_path), random.Random(seed)
    for _ in range(4):
        demo = subprocess.Popen(
            [sys.executable, "-m", "tidemark.console", "demo", "--json", "--until", "2026-03-24"],
            env=world.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            demo.wait(timeout=moments.uniform(8, 60))
        except subprocess.TimeoutExpired:
            os.kill(demo.pid, signal.SIGKILL)
            demo.wait()
    result = run_demo(world, "--until", "2026-03-24", timeout_seconds=900)
    assert result["snapshots_checked"] == result["snapshots_equal"] == 10
    assert result["metrics_checked"] == result["metrics_equal"]
    assert result["slices_failed"] == []
