import subprocess
import sys
import time

import psutil

from tidemark.console.demo.resource_usage import Usage

MEGABYTES = 200
SPIN_SECONDS = 0.3
HOLD = f"held = bytearray({MEGABYTES} * 2**20); print('there', flush=True); input()"


def test_a_child_that_lasts_is_counted() -> None:
    with Usage(every_seconds=0.01) as alone:
        time.sleep(0.05)
    with Usage(every_seconds=0.01) as memory, _holding() as child:
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
        with Usage(every_seconds=60) as memory:
            time.sleep(0.2)
        child.communicate("\n")
    own = psutil.Process().memory_info().rss / 2**20
    assert 0 < memory.megabytes < own + MEGABYTES / 2


def _holding() -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_processor_time_of_a_child_is_counted() -> None:
    spin = f"import time\nwhile time.process_time() < {SPIN_SECONDS}: pass\nprint(1); input()"
    with Usage(every_seconds=0.02) as usage:
        child = subprocess.Popen([sys.executable, "-c", spin], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        with child:
            assert child.stdout
            child.stdout.readline()
            deadline = time.monotonic() + 10
            while usage.cpu_seconds < SPIN_SECONDS and time.monotonic() < deadline:
                time.sleep(0.02)
            child.communicate("\n")
    assert usage.cpu_seconds >= SPIN_SECONDS
