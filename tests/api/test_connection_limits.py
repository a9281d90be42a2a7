"""Deadlines of connections: idle, slow and half-sent connections block no new one, and do not delay the end."""

from __future__ import annotations

import resource
from asyncio import TimerHandle
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Event
from typing import TYPE_CHECKING

import pytest

from tests.api.client import GOOD, TOKEN, Client, serving
from tests.center.test_center import CHAIN, CenterWorld
from tests.until import until
from tidemark.api.connection_limits import Connections, Phase, connection_limit
from tidemark.api.options import ApiOptions
from tidemark.api.server import serve_in_thread

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping
    from pathlib import Path

QUICK: Mapping[Phase, float] = {Phase.HEADERS: 0.5, Phase.BODY: 0.5, Phase.ANSWER: 60.0}
PATIENT: Mapping[Phase, float] = dict.fromkeys(Phase, 100_000.0)
HEAD = (
    "POST /v1/reports HTTP/1.1",
    "Host: localhost",
    f"Authorization: Bearer {TOKEN}",
    "Content-Type: application/json",
)
HALF_SENT = "\r\n".join((*HEAD, "Content-Length: 100", "", "{")).encode()


def answer_to_trickle(opened: socket.socket) -> bytes:
    """The answer of a server to a client that sends a byte every tenth of a second, until the server closes."""
    opened.settimeout(0.1)
    answer = b""
    while True:
        try:
            opened.sendall(b" ")
            received = opened.recv(65_536)
        except TimeoutError:
            continue
        except OSError:
            return answer
        if not received:
            return answer
        answer += received


@pytest.mark.parametrize(
    ("sent", "answer"),
    [(b"", b""), (b"GET /health HTTP/1.1\r\nX: ", b""), (HALF_SENT, b"HTTP/1.1 408 ")],
    ids=["nothing", "half of the headers", "half of the body"],
)
def test_a_slow_request_ends_at_the_deadline(tmp_path: Path, sent: bytes, answer: bytes) -> None:
    with serving(tmp_path, connections=Connections(deadlines=QUICK)) as client, client.open() as opened:
        opened.sendall(sent)
        assert answer_to_trickle(opened)[: len(answer)] == answer
        assert client.report(GOOD)[0] == 200


def test_a_second_request_on_a_connection_has_its_own_deadline(tmp_path: Path) -> None:
    connections = Connections(deadlines=PATIENT)
    with serving(tmp_path, connections=connections) as client, client.open() as opened:
        (connection,) = until(lambda: list(connections.opened))
        timers = list[TimerHandle | None]([None])
        for _ in range(3):
            until(lambda: connection.phase is Phase.HEADERS and connection._timer not in timers)
            timers.append(connection._timer)
            opened.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert opened.recv(65_536).startswith(b"HTTP/1.1 200 ")
        until(lambda: all(timer.cancelled() for timer in timers if timer is not None), "a deadline for each")


@pytest.mark.slow
@pytest.mark.parametrize("sent", [b"", b"GET /health HTTP/1.1\r\nX: ", HALF_SENT], ids=["idle", "slow", "half-sent"])
def test_an_idle_connection_is_closed_for_a_new_one(tmp_path: Path, sent: bytes) -> None:
    connections = Connections(limit=20, deadlines=PATIENT)
    with serving(tmp_path, connections=connections) as client, ExitStack() as opened:
        for _ in range(100):
            opened.enter_context(client.open()).sendall(sent)
        assert client.ask("GET", "/health")[0] == 200
        assert client.report(GOOD)[0] == 200
        assert len(connections.opened) <= 20


def test_requests_that_are_answered_do_not_give_way(tmp_path: Path) -> None:
    may_answer, world = Event(), CenterWorld(tmp_path, **CHAIN)
    connections = Connections(limit=2, deadlines=PATIENT)

    def status() -> dict[str, int]:
        assert may_answer.wait(60)
        return {}

    with (
        serve_in_thread(
            world.center, world.forecast(), ApiOptions(token=TOKEN), status=status, connections=connections
        ) as url,
        ThreadPoolExecutor(2) as threads,
    ):
        client = Client(world, url)
        answers = [threads.submit(client.ask, "GET", "/health") for _ in range(2)]
        until(lambda: [connection.phase for connection in connections.opened] == [Phase.ANSWER] * 2)
        with client.open() as refused:
            assert answer_to_trickle(refused) == b""
        may_answer.set()
        assert [answer.result()[0] for answer in answers] == [200, 200]


def test_half_sent_requests_do_not_keep_the_server_from_ending(tmp_path: Path) -> None:
    """Their deadlines are later than a test may last."""
    connections = Connections(deadlines=PATIENT)
    with ExitStack() as opened, serving(tmp_path, connections=connections) as client:
        for sent in (b"", b"GET /he", HALF_SENT) * 5:
            opened.enter_context(client.open()).sendall(sent)
        until(lambda: sum(connection.phase is Phase.BODY for connection in connections.opened) == 5)


def test_the_limit_follows_the_files_that_may_be_open(monkeypatch: pytest.MonkeyPatch) -> None:
    for files, limit in ((1 << 20, 1_000), (1_024, 448), (256, 64), (64, 16)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert connection_limit() == limit
