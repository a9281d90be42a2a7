"""`tidemark center` as a process: it answers over a real socket, goes on where it was, and refuses to be left open."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.warm_runs.warm_home import write_home
from tests.world import World, start_tidemark
from tidemark.console.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOKEN = "a token of some length"
DAY = "partner_ads@2026-03-24/region=reunion"
REPORT = {"subject": DAY, "event": "observed", "event_id": "1", "event_time": "2026-03-25T00:01:00+01:00"}


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World.at(tmp_path)
    write_home(made.dagster_home, "warehouse_assets.definitions", workers=1)
    return made


@contextmanager
def running(world: World, *arguments: str) -> Iterator[int]:
    """The port of a center; stopped by Ctrl-C in the end."""
    command = [sys.executable, "-m", "tidemark.console", "center", "--port", "0", "--json", *arguments]
    environment = {**world.environment, "TIDEMARK_TOKEN": TOKEN}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(json.loads(process.stdout.readline())["url"].rpartition(":")[2])
            assert process.poll() is None
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0


def ask(port: int, method: str, path: str, body: Any = None, token: str | None = TOKEN) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    connection.request(method, path, json.dumps(body), headers)
    response = connection.getresponse()
    answer = response.status, json.loads(response.read())
    connection.close()
    return answer


def run_states(port: int) -> list[str]:
    return [slice_["status"]["run_state"] for slice_ in ask(port, "GET", f"/v1/slices?subject={DAY}")[1]["slices"]]


@pytest.mark.slow
def test_it_takes_reports_answers_and_goes_on_where_it_was(world: World) -> None:
    with running(world) as port:
        assert ask(port, "POST", "/v1/reports", REPORT, token=None)[0] == 401
        assert ask(port, "POST", "/v1/reports", {**REPORT, "event": "painted"})[0] == 400
        assert run_states(port) == ["waiting"]
        assert ask(port, "POST", "/v1/reports", REPORT) == (200, {"new": 1, "known": 0})
        assert run_states(port) != ["waiting"]  # it may have been launched by now
        assert ask(port, "GET", "/health", token=None) == (200, {"healthy": True, "active": True, "troubles": []})
        assert ask(port, "GET", "/metrics", token=None)[0] == 401
    with running(world, "--host", "0.0.0.0") as port:  # noqa: S104 - it has a token
        assert ask(port, "POST", "/v1/reports", REPORT) == (200, {"new": 0, "known": 1})
        assert run_states(port) != ["waiting"]


@pytest.mark.slow
def test_other_addresses_need_a_token(world: World) -> None:
    refused = start_tidemark(
        world,
        "center",
        "--port",
        "0",
        "--host",
        "0.0.0.0",  # noqa: S104 - refused
        timeout_seconds=60,
        env={"TIDEMARK_TOKEN": ""},
    )
    assert refused.returncode == ExitCode.FAILED
    assert "without a token, the API listens only on this machine" in refused.stderr
