"""Waiting for Dagster: ready, not loading, ended by itself, told to stop. Its web server is played by a small one."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from tidemark.console.dagster_server.errors import DagsterStartError
from tidemark.console.dagster_server.server import DagsterServer, graphql
from tidemark.system.free_port import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOADED = {"name": "tidemark", "locationOrLoadError": {"__typename": "RepositoryLocation"}}
BROKEN = {"name": "tidemark", "locationOrLoadError": {"__typename": "PythonError", "message": "no module 'x'\n"}}
LOADING = {"name": "tidemark", "locationOrLoadError": None}


@contextmanager
def _web_server(*entries: dict[str, Any]) -> Iterator[int]:
    """A server that answers every question with these code locations."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            body = json.dumps({"data": {"workspaceOrError": {"locationEntries": entries}}}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@contextmanager
def _dagster(tmp_path: Path, port: int, program: str = "import time; time.sleep(300)") -> Iterator[DagsterServer]:
    log = tmp_path / "dagster.log"
    with log.open("wb") as output:
        process = subprocess.Popen([sys.executable, "-c", program], stdout=output, stderr=output)
    try:
        yield DagsterServer(process, port, log)
    finally:
        process.kill()
        process.wait()


def test_ready_once_the_location_is_loaded(tmp_path: Path) -> None:
    with _web_server(LOADED) as port, _dagster(tmp_path, port) as dagster:
        assert dagster.wait_until_ready() is True
        assert dagster.load_errors() == []
        assert dagster.url == f"http://127.0.0.1:{port}"


def test_ready_with_definitions_that_do_not_load_says_why(tmp_path: Path) -> None:
    with _web_server(BROKEN) as port, _dagster(tmp_path, port) as dagster:
        assert dagster.wait_until_ready() is True
        assert dagster.load_errors() == ["tidemark: no module 'x'"]


def test_told_to_stop_before_it_is_ready(tmp_path: Path) -> None:
    asked = iter([False, True])
    with _web_server(LOADING) as port, _dagster(tmp_path, port) as dagster:
        assert dagster.wait_until_ready(stopped=lambda: next(asked)) is False


def test_not_ready_in_time_shows_the_end_of_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidemark.console.dagster_server.server._READY_SECONDS", 0.0)
    with _web_server(LOADING) as port, _dagster(tmp_path, port) as dagster:
        dagster.log.write_text("\n".join(f"line {n}" for n in range(100)))
        with pytest.raises(DagsterStartError, match="Dagster was not ready after 0 s") as late:
            dagster.wait_until_ready()
    assert late.value.found == "its log ends with:\n" + "\n".join(f"line {n}" for n in range(80, 100))


def test_ended_by_itself_shows_status_and_log(tmp_path: Path) -> None:
    program = "import sys; print('address in use', flush=True); sys.exit(3)"
    with _dagster(tmp_path, free_port(), program) as dagster:
        dagster.process.wait(30)
        with pytest.raises(DagsterStartError) as ended:
            dagster.wait_until_ready()

    assert ended.value.message == "Dagster ended by itself with status 3"
    assert ended.value.where == f"{tmp_path}/dagster.log"
    assert ended.value.found == "its log ends with:\naddress in use"
    assert ended.value.hint is not None
    assert "tidemark doctor" in ended.value.hint


def test_a_missing_server_is_an_os_error() -> None:
    with pytest.raises(OSError, match="refused"):
        graphql(free_port(), "{ version }")
