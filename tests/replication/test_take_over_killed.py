"""Processes that are killed in the middle of a take-over: the next one goes on, and nothing is computed twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

import pytest

from tests.replication.two_centers import TwoCenters
from tidemark.dependency_model.slice import Slice
from tidemark.system.crash_points import ENV_NAME

if TYPE_CHECKING:
    from pathlib import Path

DAYS: Final = [f"2026-03-{day}" for day in range(23, 28)]
_PROCESS: Final = """
import sys
from datetime import datetime
from pathlib import Path
from tests.replication.two_centers import TwoCenters
world = TwoCenters(Path(sys.argv[1]), datetime.fromisoformat(sys.argv[2]))
world.a.replicate() if sys.argv[3] == "replicate" else world.b.take_over(is_lost=True)
print(world.now.isoformat())
"""


def run(world: TwoCenters, what: str, crash: str = "") -> None:
    """Another process does it, and is killed at a point."""
    environment = {**os.environ, **({ENV_NAME: f"{crash}:1"} if crash else {})}
    command = [sys.executable, "-c", _PROCESS, str(world.folder), world.now.isoformat(), what]
    ended = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    assert ended.returncode == (-signal.SIGKILL if crash else 0), ended.stderr
    world.now = datetime.fromisoformat(ended.stdout.strip()) if not crash else world.now + timedelta(minutes=1)


POINTS = ["writing", "written", "fenced", "taken_in"]


@pytest.mark.long
@pytest.mark.parametrize("point", POINTS)
def test_a_killed_take_over_goes_on_after_the_loss_of_a_killed_center(tmp_path: Path, point: str) -> None:
    world = TwoCenters(tmp_path)
    world.a.tick()
    world.a.replicate()
    world.now += timedelta(days=1)
    world.a.tick()
    # The first center is killed while it copies its last day, after the commit or before it.
    killed_at = "replicate.published" if point in POINTS[::2] else "replicate.before_publish"
    run(world, "replicate", killed_at)
    run(world, "take over", f"take_over.{point}")
    assert not world.b.fence.may_launch("a")
    run(world, "take over")
    world.b.restart()
    world.b.tick()
    computed = [] if killed_at == "replicate.published" else [DAYS[-1]]
    assert (world.a.computed, world.b.computed, world.b.completed()) == (DAYS, computed, DAYS)
    assert not world.a.fence.may_launch("a")
    world.a.restart()
    world.b.replicate()
    world.a.tick()
    assert world.a.writers() == world.b.writers() == {**dict.fromkeys(DAYS, "a"), **dict.fromkeys(computed, "b")}
    assert world.a.center.status(Slice("sales", DAYS[-1])).valid
