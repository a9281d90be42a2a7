"""A process that is asked to stop ends in time, even if Python's signal handlers do not run."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.until import GUARD_SECONDS
from tidemark import console
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


def test_a_service_whose_thread_does_not_end_is_ended(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from threading import Event
from tidemark.console import end_deadline
end_deadline.end_within.__wrapped__.__defaults__ = (0.1, end_deadline.ENDED)
from tidemark.console.service_beat import ServiceBeat
from tidemark.console.service_threads import serve_in_threads
def parses_for_ever(_goes_on):
    print("there", flush=True)
    Event().wait()
serve_in_threads([parses_for_ever], ServiceBeat(Path(sys.argv[1]), "refresh"))
"""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdout=pipe, stderr=pipe, text=True
    ) as service:
        assert service.stdout is not None
        assert service.stdout.readline() == "there\n"
        service.send_signal(signal.SIGTERM)
        _, said = service.communicate(timeout=GUARD_SECONDS)
    assert service.returncode == ExitCode.TRY_AGAIN
    assert "The next process continues where the last commit ended" in said


# These end processes of their own, or only print.
_OWN_ENDS = {"up.py", "up_kafka.py", "workers.py", "center.py", "status.py"}


def test_every_service_that_parses_foreign_text_has_a_deadline_for_its_end() -> None:
    stopped = [path for path in Path(console.__file__).parent.rglob("*.py") if "stop_signals() as" in path.read_text()]
    without = {path.name for path in stopped if "end_within(" not in path.read_text()}
    assert without == _OWN_ENDS
    assert len(stopped) > len(_OWN_ENDS)
