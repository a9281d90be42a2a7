"""`tidemark health`: a server that answers and one that does not, a beat that is young, old or was never there."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from tidemark.console.exit_codes import ExitCode
from tidemark.console.main import main
from tidemark.console.service_beat import ServiceBeat, beat_file
from tidemark.system.free_port import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def health(*arguments: str, data: Path | None = None) -> Result:
    return CliRunner().invoke(main, ["health", *arguments], env={"TIDEMARK_DATA": str(data)} if data else {})


@contextmanager
def server(status: int) -> Iterator[tuple[int, list[str]]]:
    """The port of a server that answers so, and which paths it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    listening = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=listening.serve_forever, daemon=True).start()
    yield listening.server_port, asked
    listening.shutdown()
    listening.server_close()


@pytest.mark.parametrize(("service", "path"), [("up", "/server_info"), ("center", "/health")])
@pytest.mark.parametrize(("status", "code"), [(200, ExitCode.OK), (503, ExitCode.FAILED)])
def test_a_server_is_asked(service: str, path: str, status: int, code: ExitCode) -> None:
    with server(status) as (port, asked):
        answer = health(service, "--port", str(port), "--json")
    assert answer.exit_code == code
    assert json.loads(answer.stdout) == {
        "healthy": code == ExitCode.OK,
        "service": service,
        "found": f"answers {status} on 127.0.0.1:{port}{path}",
    }
    assert asked == [path]


def test_one_that_is_not_there_is_told() -> None:
    port = free_port()
    answer = health("up", "--port", str(port))
    assert answer.exit_code == ExitCode.FAILED
    assert f"up: does not answer on 127.0.0.1:{port}" in answer.stdout


@pytest.mark.parametrize("service", ["capture", "distribute"])
def test_a_service_that_never_began_has_no_beat(service: str, tmp_path: Path) -> None:
    answer = health(service, data=tmp_path)
    assert answer.exit_code == ExitCode.FAILED
    assert "has never beaten in this data folder" in answer.stdout


@pytest.mark.parametrize(("ago", "code"), [(0, ExitCode.OK), (30, ExitCode.OK), (90, ExitCode.FAILED)])
def test_a_beat_may_be_so_old(ago: int, code: ExitCode, tmp_path: Path) -> None:
    ServiceBeat(tmp_path, "capture")
    file = beat_file(tmp_path, "capture")
    at = file.stat().st_mtime - ago
    os.utime(file, (at, at))
    answer = health("capture", "--within", "60", data=tmp_path)
    assert answer.exit_code == code
    assert "60 s are let pass" in answer.stdout


def test_a_service_that_begins_anew_beats_at_once_and_then_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("tidemark.console.service_beat.time.monotonic", lambda: now[0])
    file = beat_file(tmp_path, "capture")

    def age() -> None:
        os.utime(file, (0, 0))

    ServiceBeat(tmp_path, "capture")
    age()
    beat = ServiceBeat(tmp_path, "capture")
    assert file.stat().st_mtime > 0
    age()
    beat.beat()
    assert file.stat().st_mtime == 0
    now[0] = 5.0
    beat.beat()
    assert file.stat().st_mtime > 0
