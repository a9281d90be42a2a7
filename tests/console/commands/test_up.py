"""`tidemark up` on machines where it cannot run: refused before anything is started, with what to do.

That it serves and stops is shown with a browser in tests/ui.
"""

from __future__ import annotations

import json
import os
import socket
from typing import TYPE_CHECKING

import psutil
import pytest
from click.testing import CliRunner, Result

from tests.console.machines import without_java
from tidemark.console.exit_codes import ExitCode
from tidemark.console.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_INSTALL_JAVA = "install a JDK or JRE 17 or newer (Debian and Ubuntu: openjdk-17-jre-headless), or set JAVA_HOME to one"
_OTHER_FOLDER = "free disk space, grant write access, or choose another folder with TIDEMARK_DATA"
_CODE = "  code     TM0520\n"


@pytest.fixture(autouse=True)
def nothing_may_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*arguments: object) -> None:
        raise AssertionError("Dagster was started on a machine that is not ready")

    monkeypatch.setattr("tidemark.console.dagster_server.server.DagsterServer.start", start)


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


def _up(tmp_path: Path, *arguments: str, **env: str | None) -> Result:
    given = {"TIDEMARK_DATA": str(tmp_path / "data"), "DAGSTER_HOME": str(tmp_path / "home"), **env}
    return CliRunner().invoke(main, ["up", *arguments], env=given)


def test_without_java(tmp_path: Path) -> None:
    refused = _up(tmp_path, "--port", "0", **without_java(tmp_path), JAVA_HOME=None)

    assert refused.exit_code == ExitCode.FAILED
    assert refused.output == (
        "error: this machine is not ready\n"
        "  found    Java: Java 17+ is needed and 'java' does not start (No such file or directory)\n"
        f"  to do    {_INSTALL_JAVA}\n" + _CODE
    )


def test_with_the_port_in_use(tmp_path: Path, taken_port: int) -> None:
    refused = _up(tmp_path, "--port", str(taken_port))

    assert refused.exit_code == ExitCode.FAILED
    holder = f"{psutil.Process().name()} (PID {os.getpid()})"
    first, found_line, to_do, _ = refused.output.splitlines()
    assert first == "error: this machine is not ready"
    assert found_line == f"  found    Port: {taken_port} on 127.0.0.1 is in use by {holder}"
    assert to_do.startswith("  to do    stop it, or choose another port: tidemark up --port ")


def test_with_data_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("in the way")

    refused = _up(tmp_path, "--port", "0")

    assert refused.exit_code == ExitCode.FAILED
    assert refused.output == (
        "error: this machine is not ready\n"
        f"  found    Data: {tmp_path}/data cannot be written (File exists)\n"
        f"  to do    {_OTHER_FOLDER}\n" + _CODE
    )
    assert (tmp_path / "data").read_text() == "in the way"


def test_with_a_dagster_home_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("in the way")

    refused = _up(tmp_path, "--port", "0")

    assert refused.exit_code == ExitCode.FAILED
    assert refused.output == (
        "error: this machine is not ready\n"
        f"  found    Dagster's storage: {tmp_path}/home cannot be written (File exists)\n"
        "  to do    free disk space, grant write access, or choose another folder with DAGSTER_HOME\n" + _CODE
    )


def test_everything_that_is_wrong_is_said_at_once_and_to_programs_in_json(tmp_path: Path, taken_port: int) -> None:
    (tmp_path / "data").write_text("in the way")

    refused = _up(tmp_path, "--json", "--port", str(taken_port), **without_java(tmp_path), JAVA_HOME=None)

    error = json.loads(refused.stdout)["error"]
    assert refused.exit_code == ExitCode.FAILED
    assert error["kind"] == "PreflightError"
    assert [part.split(":")[0] for part in error["found"].split("; ")] == ["Java", "Data", "Port"]


@pytest.mark.parametrize("port", ["65536", "-1", "http"])
def test_a_port_that_is_none(tmp_path: Path, port: str) -> None:
    assert _up(tmp_path, "--port", port).exit_code == ExitCode.USAGE
