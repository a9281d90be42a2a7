import subprocess
import sys
import time

import psutil

from console.demo.memory import PeakMemory

MEGABYTES = 200
HOLD = f"held = bytearray({MEGABYTES} * 2**20); print('there', flush=True); input()"


def test_a_child_that_lasts_is_counted() -> None:
    with PeakMemory(every_seconds=0.01) as alone:
        time.sleep(0.05)
    with PeakMemory(every_seconds=0.01) as memory, _holding() as child:
        assert child.stdout
        assert child.stdout.readline() == "there\n"
        deadline = time.monotonic() + 10
        while memory.megabytes < alone.megabytes + MEGABYTES and time.monotonic() < deadline:
            time.sleep(0.01)
        child.communicate("\n")
    assert memory.megabytes >= alone.megabytes + MEGABYTES


def test_a_child_that_was_not_there_a_look_before_is_not_counted() -> None:
    with _holding() as child:
        assert child.stdout
        child.stdout.readline()
        with PeakMemory(every_seconds=60) as memory:
            time.sleep(0.2)
        child.communicate("\n")
    own = psutil.Process().memory_info().rss / 2**20
    assert 0 < memory.megabytes < own + MEGABYTES / 2


def _holding() -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
