"""A process that is asked to stop ends in time, even if Python's signal handlers do not run."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.until import GUARD_SECONDS
from tidemark.console.exit_codes import ExitCode

# A lock that this thread has already is waited for by it in C for ever; no signal ends the wait.
_IN_C = """
import ctypes
lock = ctypes.create_string_buffer(256)
c = ctypes.CDLL(None)
c.pthread_mutex_lock(lock)
print("there", flush=True)
c.pthread_mutex_lock(lock)
"""
_IN_PYTHON = """
import time
print("there", flush=True)
while not signals:
    time.sleep(0.01)
"""


def _process(work: str, seconds: float) -> subprocess.Popen[str]:
    program = f"""
from tidemark.console.end_deadline import end_within
from tidemark.console.stop_signals import stop_signals
with stop_signals() as signals, end_within({seconds}, "it did not answer"):
    exec({work!r})
print("ended by itself")
"""
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", program], stdout=pipe, stderr=pipe, text=True)


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_process_that_waits_in_c_ends_after_the_deadline(signum: signal.Signals) -> None:
    with _process(_IN_C, 0.2) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        process.send_signal(signum)
        said, errors = process.communicate(timeout=GUARD_SECONDS)
    assert (process.returncode, said, errors) == (ExitCode.TRY_AGAIN, "", "it did not answer\n")


def test_a_process_that_handles_the_signal_ends_at_once() -> None:
    with _process(_IN_PYTHON, 100_000) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        process.send_signal(signal.SIGTERM)
        said, errors = process.communicate(timeout=GUARD_SECONDS)
    assert (process.returncode, said, errors) == (0, "ended by itself\n", "")


def test_nothing_ends_without_a_signal() -> None:
    with _process("print('there')", 0.0) as process:
        said, errors = process.communicate(timeout=GUARD_SECONDS)
    assert (process.returncode, said, errors) == (0, "there\nended by itself\n", "")
