"""Behind a proxy Dagster's web server answers to the host that people ask for, and to no other."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tidemark.console.dagster_server.recorded_actions import ServedStore
from tidemark.console.dagster_server.server import DagsterServer
from tidemark.console.dagster_server.server_arguments import server_arguments
from tidemark.console.dagster_server.web_server import GuardedWebserver
from tidemark.console.dagster_server.web_server_and_daemon import _services
from tidemark.system.http_guard import HttpGuard
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    import pytest


def status(allowed_hosts: list[str], host: str, origin: str | None = None) -> int | None:
    """Which refusal a POST for `host` gets; None where it is let in."""
    web = GuardedWebserver(cast("Any", None), "127.0.0.1", None, ServedStore(Settings.load()), allowed_hosts)
    guard: Any = web.build_middleware()[0]
    headers = [(b"host", host.encode()), *([(b"origin", origin.encode())] if origin else [])]
    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": "/graphql",
        "query_string": b"",
        "headers": headers,
    }
    assert guard.cls is HttpGuard
    refusal = asyncio.run(HttpGuard(cast("Any", None), *guard.args, **guard.kwargs).refusal(scope))
    return refusal.status if refusal else None


def test_the_host_of_a_proxy_is_answered_where_it_is_named() -> None:
    assert status([], "dagster.example") == 403
    assert status(["dagster.example"], "dagster.example", "https://dagster.example") is None
    assert status(["dagster.example"], "127.0.0.1:3000") is None
    assert status(["dagster.example"], "other.example") == 403
    assert status(["dagster.example"], "dagster.example", "https://other.example") == 403


def test_the_names_reach_the_web_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through both processes on the way, as words of their commands."""
    started: list[list[str]] = []

    class Played:
        def __init__(self, command: list[str], **_: Any) -> None:
            started.append(command)
            self.args = command

        def poll(self) -> int:
            return 0

        def wait(self, _seconds: float) -> int:
            return 0

    monkeypatch.setattr("subprocess.Popen", Played)
    DagsterServer.start(tmp_path, tmp_path, 3000, tmp_path / "log", {}, ["dagster.example", "b.example"])
    monkeypatch.setattr(sys, "argv", started.pop()[2:])
    options = server_arguments(None)
    assert options.allowed_hosts == ["dagster.example", "b.example"]
    with _services(Path("workspace.yaml"), options, None):
        web, daemon = started
    assert web[-6:-2] == ["--allowed-host", "dagster.example", "--allowed-host", "b.example"]
    assert "--allowed-host" not in daemon
