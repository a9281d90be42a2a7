"""A server process under attack: few files, many sockets, and a stop signal."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.api.client import GOOD, Client
from tests.api.test_connection_limits import HALF_SENT
from tests.center.test_center import CHAIN, CenterWorld
from tests.until import GUARD_SECONDS, until

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator
    from pathlib import Path

MANY_SLICES = "/v1/slices?subject=table%3Ddwd%26%26dt%3D20240101..20260920"


@contextmanager
def limited_server(folder: Path, files: int, *deadline: str) -> Iterator[tuple[Client, subprocess.Popen[str]]]:
    """A server that may open so many files; killed where it did not end by itself."""
    (folder / "server").mkdir()
    command = [sys.executable, "-m", "tests.api.limited_server", str(folder / "server"), str(files), *deadline]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Client(CenterWorld(folder, **CHAIN), process.stdout.readline().strip()), process
        finally:
            process.kill()


def ticks(client: Client) -> float:
    """How often the server's center has ticked."""
    match = re.search(r"^tidemark_center_ticks_total (\S+)$", client.ask("GET", "/metrics")[1], re.MULTILINE)
    assert match is not None
    return float(match[1])


@pytest.mark.slow
def test_sigterm_ends_it_whatever_is_half_sent_or_under_way(tmp_path: Path) -> None:
    """Deadlines that are over after the test's time keep nothing from ending."""
    with (
        limited_server(tmp_path, 1_024, "100000") as (client, process),
        ExitStack() as opened,
        ThreadPoolExecutor(4) as threads,
    ):
        for sent in (b"", b"GET /he", HALF_SENT) * 5:
            opened.enter_context(client.open()).sendall(sent)
        answers = [threads.submit(client.ask, "GET", MANY_SLICES) for _ in range(4)]
        until(lambda: _connections(process) >= 15 + 4, "open connections")
        process.send_signal(signal.SIGTERM)
        assert process.wait(GUARD_SECONDS) == 0
        for answer in answers:
            answer.exception()  # answered, told to try later, or cut off: but it came to an end


def _connections(process: subprocess.Popen[str]) -> int:
    """Those that somebody has to the server."""
    return sum(opened.status == psutil.CONN_ESTABLISHED for opened in psutil.Process(process.pid).net_connections())


@pytest.mark.long
def test_idle_and_slow_sockets_starve_nothing(tmp_path: Path) -> None:
    """1,000 idle sockets and 200 slow ones on a server that may open 256 files."""
    with limited_server(tmp_path, 256) as (client, process), ExitStack() as opened:
        sockets = [opened.enter_context(client.open()) for _ in range(1_200)]
        for number, attacker in enumerate(sockets[-200:]):
            try:
                attacker.sendall(HALF_SENT if number % 2 else b"GET /health HTTP/1.1\r\nX: ")
            except OSError:  # it had to give way by now
                continue
        before = ticks(client)
        for number in range(11):
            assert client.ask("GET", "/health")[0] == 200
            assert client.report({**GOOD, "event_id": str(number)})[0] == 200
        until(lambda: ticks(client) > before + 10, "ticks of the center")
        until(lambda: all(is_closed(attacker) for attacker in sockets), "the end of idle and slow connections")
        process.send_signal(signal.SIGTERM)
        assert process.wait(GUARD_SECONDS) == 0


def is_closed(attacker: socket.socket) -> bool:
    """Whether the server has closed a connection; what it said before is read."""
    attacker.settimeout(0.01)
    try:
        while attacker.recv(65_536):
            continue
    except TimeoutError:
        return False
    except OSError:
        return True
    return True
