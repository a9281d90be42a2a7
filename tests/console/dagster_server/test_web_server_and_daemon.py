"""The web server and the daemon together: when one ends, so does the other; SIGINT ends both. Both are played."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tidemark.console.dagster_server.web_server_and_daemon import stop, watch

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

_RUNS = "import time; print('up', flush=True); time.sleep(300)"
_ENDS = "import sys; print('up', flush=True); sys.exit(3)"
_STUBBORN = (
    "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); print('up', flush=True); time.sleep(300)"
)


@contextmanager
def _start_programs(*programs: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Programs that have said that they run."""
    services = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for program in programs
    ]
    try:
        for service in services:
            assert service.stdout is not None
            assert service.stdout.readline() == b"up\n"
        yield services
    finally:
        for service in services:
            service.kill()
            service.communicate()


def test_the_end_of_one_is_seen(capfd: pytest.CaptureFixture[str]) -> None:
    with _start_programs(_RUNS, _ENDS) as services:
        assert watch(services) == 1
    assert "ended by itself with status 3" in capfd.readouterr().err


def test_both_are_ended_and_waited_for() -> None:
    with _start_programs(_RUNS, _ENDS, _RUNS) as services:
        stop(services)
        assert all(service.returncode is not None for service in services)


def test_one_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidemark.console.dagster_server.web_server_and_daemon._STOP_SECONDS", 0.2)
    with _start_programs(_STUBBORN) as services:
        stop(services)
        assert services[0].returncode == -9
