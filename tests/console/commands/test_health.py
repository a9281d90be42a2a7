"""`tidemark health`: a server that answers and one that does not, a beat that is young, old or was never there."""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

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
def server(status: int, answer: object) -> Iterator[tuple[int, list[str]]]:
    """The port of a server with this one answer, and the paths that were asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    listening = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=listening.serve_forever, daemon=True).start()
    yield listening.server_port, asked
    listening.shutdown()
    listening.server_close()


def test_the_center_says_itself_whether_it_works() -> None:
    with server(200, {"healthy": True, "active": True, "troubles": []}) as (port, asked):
        answer = health("center", "--port", str(port), "--json")
    assert answer.exit_code == ExitCode.OK
    words = f"answers 200 on 127.0.0.1:{port}/health"
    assert json.loads(answer.stdout) == {"healthy": True, "service": "center", "found": words}
    assert asked == ["/health"]


def test_problems_of_the_center_are_shown() -> None:
    troubles = ["no tick has succeeded for 61 s", "no host of warm workers can start a run for 90 s"]
    with server(503, {"healthy": False, "active": True, "troubles": troubles}) as (port, _):
        answer = health("center", "--port", str(port), "--json")
    assert answer.exit_code == ExitCode.FAILED
    assert json.loads(answer.stdout)["found"] == "; ".join(troubles)


def dagster(ago: float | None, location: str) -> dict[str, Any]:
    """What Dagster's web server answers where a daemon beat so many seconds ago."""
    beat = None if ago is None else time.time() - ago
    daemons = [
        {"daemonType": "SENSOR", "required": True, "lastHeartbeatTime": beat},
        {"daemonType": "ASSET", "required": False, "lastHeartbeatTime": None},
    ]
    entries = [{"name": "shop", "locationOrLoadError": {"__typename": location}}]
    workspace = {"__typename": "Workspace", "locationEntries": entries}
    return {"data": {"instance": {"daemonHealth": {"allDaemonStatuses": daemons}}, "workspaceOrError": workspace}}


@pytest.mark.parametrize(
    ("ago", "location", "code", "words"),
    [
        (20, "RepositoryLocation", ExitCode.OK, "Dagster's daemons work"),
        (100, "RepositoryLocation", ExitCode.FAILED, "daemons of Dagster are silent: SENSOR"),
        (-3600, "RepositoryLocation", ExitCode.FAILED, "daemons of Dagster are silent: SENSOR"),
        (None, "RepositoryLocation", ExitCode.FAILED, "daemons of Dagster are silent: SENSOR (never)"),
        (20, "PythonError", ExitCode.FAILED, "code locations are not loaded: shop"),
    ],
)
def test_up_works_while_daemons_beat_and_code_is_loaded(
    ago: float | None, location: str, code: ExitCode, words: str
) -> None:
    with server(200, dagster(ago, location)) as (port, _):
        result = health("up", "--port", str(port), "--json")
    assert result.exit_code == code
    assert words in json.loads(result.stdout)["found"]


def test_a_server_without_an_answer_is_not_healthy() -> None:
    port = free_port()
    answer = health("up", "--port", str(port))
    assert answer.exit_code == ExitCode.FAILED
    assert f"up: does not answer on 127.0.0.1:{port}" in answer.stdout


@pytest.mark.parametrize("service", ["capture", "distribute"])
def test_a_service_that_never_began_has_no_beat(service: str, tmp_path: Path) -> None:
    answer = health(service, data=tmp_path)
    assert answer.exit_code == ExitCode.FAILED
    assert "has sent no heartbeat in this data folder" in answer.stdout


@pytest.mark.parametrize(("ago", "code"), [(0, ExitCode.OK), (30, ExitCode.OK), (90, ExitCode.FAILED)])
def test_a_beat_may_be_so_old(ago: int, code: ExitCode, tmp_path: Path) -> None:
    ServiceBeat(tmp_path, "capture")
    file = beat_file(tmp_path, "capture")
    at = file.stat().st_mtime - ago
    os.utime(file, (at, at))
    answer = health("capture", "--within", "60", data=tmp_path)
    assert answer.exit_code == code
    assert "expected at most 60 s" in answer.stdout


@pytest.mark.parametrize("service", ["workers", "replicate", "refresh"])
def test_a_beat_of_these_is_a_minute_old_at_most(tmp_path: Path, service: str) -> None:
    ServiceBeat(tmp_path, service)
    assert health(service, data=tmp_path).exit_code == ExitCode.OK
    file = beat_file(tmp_path, service)
    at = file.stat().st_mtime - 61
    os.utime(file, (at, at))
    assert health(service, data=tmp_path).exit_code == ExitCode.FAILED


@pytest.mark.parametrize("service", ["workers", "replicate", "refresh"])
def test_a_beat_from_the_future_says_nothing(tmp_path: Path, service: str) -> None:
    ServiceBeat(tmp_path, service)
    file = beat_file(tmp_path, service)
    at = file.stat().st_mtime + 3600
    os.utime(file, (at, at))
    answer = health(service, data=tmp_path)
    assert answer.exit_code == ExitCode.FAILED
    assert "in the future" in answer.stdout


def test_a_restarted_service_sends_a_heartbeat_at_once_and_then_regularly(
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
