"""Stopping ends all child processes, even stubborn ones and orphans, and no other process."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tidemark.console.dagster_server.stop_process_session import session_members, stop_session

if TYPE_CHECKING:
    from collections.abc import Iterator

_POLITE = "import time; print('up', flush=True); time.sleep(300)"
_STUBBORN = (
    "import signal, time; [signal.signal(s, signal.SIG_IGN) for s in (signal.SIGINT, signal.SIGTERM)]; "
    "print('up', flush=True); time.sleep(300)"
)
# A child of the leader outlives it as an orphan of the same session.
_FAMILY = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {_STUBBORN!r}]); time.sleep(300)"


def _start(program: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    return process


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    process = _start(_POLITE)
    yield process
    process.kill()
    process.communicate()


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = ((signal.SIGINT, 2.0), (signal.SIGTERM, 0.2), (signal.SIGKILL, 10.0))
    monkeypatch.setattr("tidemark.console.dagster_server.stop_process_session._STEPS", steps)


@pytest.mark.parametrize("program", [_POLITE, _STUBBORN, _FAMILY], ids=["polite", "stubborn", "family"])
def test_nothing_of_the_session_remains_and_others_live(program: str, bystander: subprocess.Popen[bytes]) -> None:
    leader = _start(program)
    assert leader.pid in session_members(leader.pid)

    stop_session(leader)

    assert session_members(leader.pid) == []
    assert leader.poll() is not None
    assert bystander.poll() is None
    leader.communicate()


def test_an_urgent_stop_waits_for_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tidemark.console.dagster_server.stop_process_session._STEPS",
        ((signal.SIGINT, 100_000.0), (signal.SIGTERM, 100_000.0), (signal.SIGKILL, 100_000.0)),
    )
    leader = _start(_STUBBORN)

    stop_session(leader, in_a_hurry=lambda: True)

    assert leader.poll() == -signal.SIGKILL
    leader.communicate()


def test_stopping_an_ended_process_is_not_an_error() -> None:
    leader = _start("print('up', flush=True)")
    leader.wait(10)

    stop_session(leader)

    assert leader.returncode == 0
    leader.communicate()
