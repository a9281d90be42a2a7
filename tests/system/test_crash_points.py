"""Crash points kill for real, at the pass that was asked for."""

import os
import signal
import subprocess
import sys

import pytest

from tidemark.system.crash_points import ENV_NAME

PROGRAM = """
from tidemark.system.crash_points import crash_point
for number in range(3):
    crash_point("demo.other")
    crash_point("demo.point")
    print(number, flush=True)
"""


@pytest.mark.parametrize(
    ("wanted", "passed", "status"),
    [
        ("", 3, 0),
        ("demo.absent", 3, 0),
        ("demo.point", 0, -signal.SIGKILL),
        ("demo.point:3", 2, -signal.SIGKILL),
    ],
)
def test_dies_at_the_pass_that_was_asked_for(wanted: str, passed: int, status: int) -> None:
    env = {**os.environ, ENV_NAME: wanted}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == status, done.stderr
    assert done.stdout.splitlines() == [str(number) for number in range(passed)]
