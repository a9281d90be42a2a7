"""Processes: healthy, ended by themselves, too slow, stopped."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

from tidemark.console.servers.errors import ComponentFailedError
from tidemark.console.servers.server_process import accepts_connections, run, start
from tidemark.system.free_port import LOOPBACK, free_port

if TYPE_CHECKING:
    from pathlib import Path

LISTENER = "import socket, time; s = socket.create_server(('{host}', {port})); print('up', flush=True); time.sleep(60)"


def test_a_server_is_healthy_once_it_listens_and_gone_once_it_is_stopped(tmp_path: Path) -> None:
    port = free_port()
    server = start("listener", [sys.executable, "-c", LISTENER.format(host=LOOPBACK, port=port)], tmp_path)

    server.wait_until(lambda: accepts_connections(port), 30)
    assert server.process.poll() is None
    server.stop()
    assert server.process.poll() is not None
    assert not accepts_connections(port)


def test_the_error_of_an_ended_server_has_its_output(tmp_path: Path) -> None:
    server = start("short", [sys.executable, "-c", "print('no space left'); raise SystemExit(3)"], tmp_path)

    with pytest.raises(ComponentFailedError, match=r"short ended with 3(.|\n)*no space left"):
        server.wait_until(lambda: False, 30)


def test_a_server_that_never_becomes_healthy_is_given_up(tmp_path: Path) -> None:
    server = start("slow", [sys.executable, "-c", "import time; time.sleep(60)"], tmp_path)

    with pytest.raises(ComponentFailedError, match="slow not healthy after 0 s"):
        server.wait_until(lambda: False, 0.2)
    server.stop()


def test_a_preparing_command_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(ComponentFailedError, match=r"ended with 1(.|\n)*no licence"):
        run("prepare", [sys.executable, "-c", "raise SystemExit('no licence')"], tmp_path)


def test_a_server_inherits_no_secret_of_the_operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary")
    monkeypatch.setenv("TIDEMARK_TOKEN", "canary")
    program = "import json, os; print(json.dumps(dict(os.environ)), flush=True)"
    server = start("environment", [sys.executable, "-c", program], tmp_path, {"GIVEN": "yes"})
    server.process.wait(60)

    environment = json.loads(server.log.read_text())
    assert environment["GIVEN"] == "yes"
    assert environment["PATH"] == os.environ["PATH"]
    assert "canary" not in environment.values()
