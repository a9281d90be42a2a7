"""A command of the chain: with our environment, and with the token only where it is given."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.until import GUARD_SECONDS, until
from tidemark.console.cdc_demo.child_command import ChildCommand, children
from tidemark.console.dagster_server.stop_process_session import session_members

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.console.servers.server_process import ServerProcess

PROGRAM = "import json, os; print(json.dumps(dict(os.environ)), flush=True)"


def _environment(folder: Path, given: dict[str, str]) -> dict[str, str]:
    """What a command sees that is started with these variables."""
    with children([ChildCommand("shown", [], 60.0, given)], folder) as (started,):
        started.process.wait(60)
    environment: dict[str, str] = json.loads(started.log.read_text())
    return environment


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the place of `tidemark`: a program that prints its environment."""
    _replace(f"exec {sys.executable} -c '{PROGRAM}'", tmp_path, monkeypatch)


def _replace(script: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interpreter = folder / "interpreter"
    interpreter.write_text(f"#!/bin/sh\n{script}\n")
    interpreter.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(interpreter))


def test_the_token_is_not_inherited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMARK_TOKEN", "canary")
    monkeypatch.setenv("TIDEMARK_SPARK_MASTER", "local[1]")
    environment = _environment(tmp_path / "log", {"TIDEMARK_DATA": "/data"})
    assert "TIDEMARK_TOKEN" not in environment
    assert (environment["TIDEMARK_DATA"], environment["TIDEMARK_SPARK_MASTER"]) == ("/data", "local[1]")
    assert environment["PATH"] == os.environ["PATH"]


def test_the_token_is_given(tmp_path: Path) -> None:
    assert _environment(tmp_path / "log", {"TIDEMARK_TOKEN": "canary"})["TIDEMARK_TOKEN"] == "canary"


def _started(grace_seconds: float, folder: Path) -> list[ServerProcess]:
    """Three that were there, after all were told to end."""
    commands = [ChildCommand(name, [], grace_seconds, {}) for name in ("a", "b", "c")]
    with children(commands, folder) as started:
        for server in started:
            until(lambda log=server.log: "there" in log.read_text(), server.name)  # type: ignore[misc]
    return [*started]


def test_all_processes_get_the_signal_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each ends when all have heard it."""
    heard = "while ! [ -e ../a/told -a -e ../b/told -a -e ../c/told ]; do sleep 0.05; done"
    _replace(
        f"trap 'touch told; {heard}; exit 0' TERM\necho there\nwhile :; do sleep 0.05; done", tmp_path, monkeypatch
    )
    assert [server.process.poll() for server in _started(GUARD_SECONDS, tmp_path)] == [0, 0, 0]


def test_processes_that_ignore_the_signal_are_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _replace("trap '' TERM INT\necho there\nwhile :; do sleep 0.1; done", tmp_path, monkeypatch)
    started = _started(0.1, tmp_path)
    assert [server.process.poll() for server in started] == [-signal.SIGKILL] * 3
    assert [session_members(server.pid) for server in started] == [[], [], []]


def test_processes_started_before_a_failing_one_are_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _replace("echo $$ > pid\nexec sleep 600", tmp_path, monkeypatch)
    commands = [ChildCommand(name, [], 5.0, {}) for name in ("a", "b")]
    (tmp_path / "b").write_text("no folder")
    before = set(psutil.Process().children())
    with pytest.raises(OSError, match="b"), children(commands, tmp_path):
        pass
    remaining = set(psutil.Process().children()) - before
    assert not [process for process in remaining if process.status() != psutil.STATUS_ZOMBIE]
