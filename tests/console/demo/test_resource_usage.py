"""The looks are taken by hand: when a thread gets to look, and how soon, is the machine's."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from tidemark.console.demo.resource_usage import Usage

MEGABYTES = 200
SPIN_SECONDS = 0.3
HOLD = f"held = bytearray({MEGABYTES} * 2**20)"
SPIN = f"import time\nwhile time.process_time() < {SPIN_SECONDS}: pass"


def test_a_child_that_lasts_is_counted() -> None:
    usage = Usage()
    usage.look()
    alone = usage.megabytes
    with _child_that_waits(HOLD):
        usage.look()
        usage.look()
    assert usage.megabytes >= alone + MEGABYTES


def test_a_child_that_was_not_there_a_look_before_is_not_counted() -> None:
    usage = Usage()
    with _child_that_waits(HOLD):
        usage.look()
    own = psutil.Process().memory_info().rss / 2**20
    assert 0 < usage.megabytes < own + MEGABYTES / 2


def test_processor_time_of_a_child_is_counted_and_stays_when_it_has_ended() -> None:
    usage = Usage()
    with _child_that_waits(SPIN) as child:
        usage.look()
        times = child.cpu_times()
        usage.look()
    usage.look()
    assert times.user + times.system > 0
    assert usage.cpu_seconds >= times.user + times.system


def test_a_context_looks_by_itself() -> None:
    with Usage(every_seconds=3600) as usage:
        pass
    assert usage.megabytes > 0


@contextmanager
def _child_that_waits(work: str) -> Iterator[psutil.Process]:
    """A process that has done its work, and does nothing until the context ends."""
    program = f"{work}\nprint('done', flush=True)\ninput()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout
        assert child.stdout.readline() == "done\n"
        yield psutil.Process(child.pid)
        child.communicate("\n")
