"""What `tidemark up` says while it serves, and how it takes signals; Dagster itself is played."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest
from click.testing import CliRunner, Result

from tidemark.console.dagster_server.errors import DagsterStartError
from tidemark.console.exit_codes import ExitCode
from tidemark.console.main import main

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class _PlayedServer:
    """A server that is ready at once; `when_watched` happens the first time that `up` looks after it."""

    when_watched: Callable[[], None]
    errors: list[str] = field(default_factory=list)
    stopped: int = 0
    url: str = "http://127.0.0.1:1"
    log: Path = Path("/data/logs/dagster.log")

    def wait_until_ready(self, stopped: Callable[[], bool]) -> bool:
        return not stopped()

    def check_running(self) -> None:
        self.when_watched()

    def load_errors(self) -> list[str]:
        return self.errors

    def stop(self, in_a_hurry: Callable[[], bool]) -> None:
        assert not in_a_hurry()
        self.stopped += 1


class _PlayedWorkers:
    """Warm workers that are none."""

    def __init__(self, *_: Any) -> None:
        self.is_kept = False

    def __enter__(self) -> Self:
        self.is_kept = True
        return self

    def __exit__(self, *_: object) -> None:
        self.is_kept = False

    def check(self) -> None:
        assert self.is_kept


def _up(server: _PlayedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Result:
    def start(*_: Any) -> _PlayedServer:
        return server

    monkeypatch.setattr("tidemark.console.dagster_server.server.DagsterServer.start", start)
    monkeypatch.setattr("tidemark.warm_runs.host_supervisor.WorkerHostSupervisor", _PlayedWorkers)
    env = {"TIDEMARK_DATA": str(tmp_path / "data"), "DAGSTER_HOME": str(tmp_path / "home")}
    return CliRunner().invoke(main, ["up", "--port", "0", *arguments], env=env)


def _signal_us(signum: int) -> Callable[[], None]:
    return lambda: os.kill(os.getpid(), signum)


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_prints_its_address_and_serves_until_a_signal(
    signum: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler = signal.getsignal(signum)
    server = _PlayedServer(_signal_us(signum))

    served = _up(server, tmp_path, monkeypatch)

    assert served.exit_code == ExitCode.OK, served.output
    assert served.stdout == (
        "Dagster is starting ...\n"
        "Dagster UI   http://127.0.0.1:1\n"
        "  tables     http://127.0.0.1:1/asset-groups   (open one, then Materialize)\n"
        "  log        /data/logs/dagster.log\n"
        "  stop       Ctrl-C\n"
        "Stopped.\n"
    )
    assert server.stopped == 1
    assert signal.getsignal(signum) is handler


def test_a_program_gets_one_json_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = _up(_PlayedServer(_signal_us(signal.SIGTERM), ["tidemark: no"]), tmp_path, monkeypatch, "--json")

    assert json.loads(served.stdout) == {
        "url": "http://127.0.0.1:1",
        "pid": os.getpid(),
        "log": "/data/logs/dagster.log",
        "load_errors": ["tidemark: no"],
    }


def test_definitions_that_do_not_load_are_said_and_the_ui_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = _up(_PlayedServer(_signal_us(signal.SIGTERM), ["tidemark: no module 'x'"]), tmp_path, monkeypatch)

    assert "The definitions do not load. tidemark: no module 'x'\n" in served.stdout
    assert served.exit_code == ExitCode.OK


def test_a_server_that_ends_without_a_signal_is_an_error_and_is_cleaned_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end() -> None:
        raise DagsterStartError("ended by itself with status 1", Path("/log"), "last words")

    server = _PlayedServer(end)
    served = _up(server, tmp_path, monkeypatch)

    assert served.exit_code == ExitCode.FAILED
    assert "error: Dagster ended by itself with status 1\n" in served.stderr
    assert "last words" in served.stderr
    assert server.stopped == 1
