"""Connections and bodies of Dagster's web server: bounded, and a page that listens is left alone. Dagster is played."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack, contextmanager, suppress
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tidemark.api.connection_limits import Connections, Phase
from tidemark.console.dagster_server.web_server import configuration
from tidemark.system.http_guard import HttpGuard, host_names

if TYPE_CHECKING:
    from collections.abc import Iterator

DEADLINES = {Phase.HEADERS: 0.5, Phase.BODY: 0.5, Phase.ANSWER: 1.0}
POST = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


async def played(scope: Any, receive: Any, send: Any) -> None:
    """Echoes over a WebSocket, answers over HTTP."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (said := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": said["text"]})
    elif scope["type"] == "http":
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})


@contextmanager
def serving(limit: int = 100, connections: Connections | None = None) -> Iterator[int]:
    """The port of a server with short deadlines."""
    app = HttpGuard(played, host_names("127.0.0.1"), most_bytes=1_000)
    server = uvicorn.Server(configuration(app, "127.0.0.1", 0, connections or Connections(limit, DEADLINES)))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(30)


def answer(port: int, sent: bytes) -> bytes:
    """All that is answered until the server closes."""
    with socket.create_connection(("127.0.0.1", port), 30) as opened:
        opened.sendall(sent)
        return b"".join(iter(lambda: opened.recv(65_536), b""))


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nX: ", POST + b"Content-Length: 100\r\n\r\n{"])
def test_stalled_connections_are_closed(sent: bytes) -> None:
    with serving() as port:
        answer(port, sent)


@pytest.mark.parametrize(
    ("lengths", "status"),
    [
        (b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"411"),
        (b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"411"),
        (b"Content-Length: 2000\r\n\r\n", b"413"),
        (b"Content-Length: 999999999999999999\r\n\r\n", b"413"),
        (b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", b"400"),
        (b"Content-Length: -2\r\n\r\n{}", b"400"),
        (b"Content-Length : 2\r\n\r\n{}", b"400"),
        (b"Content-Length: 2\r\n\r\n{}", b"200"),
    ],
)
def test_bodies_have_one_length_and_a_limit(lengths: bytes, status: bytes) -> None:
    with serving() as port:
        assert answer(port, POST + b"Connection: close\r\n" + lengths).startswith(b"HTTP/1.1 " + status)


def test_headers_have_a_limit() -> None:
    with serving() as port:
        assert answer(port, POST + b"X: " + b"x" * 66_000).startswith(b"HTTP/1.1 431")


def test_a_page_that_listens_is_left_alone() -> None:
    """Longer than every deadline, and while others push each other out."""
    with serving(limit=3) as port, connect(f"ws://127.0.0.1:{port}/", proxy=None) as page, ExitStack() as opened:
        for _ in range(10):
            opened.enter_context(socket.create_connection(("127.0.0.1", port), 30))
        time.sleep(2.5 * max(DEADLINES.values()))
        page.send("still there")
        assert page.recv(30) == "still there"
        assert answer(port, b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").startswith(
            b"HTTP/1.1 200"
        )


def test_idle_web_sockets_count_and_block_no_new_connection() -> None:
    """The oldest gives way: so many that the process has no file left cannot be."""
    with serving(limit=8) as port, ExitStack() as stack:
        sockets = [stack.enter_context(connect(f"ws://127.0.0.1:{port}/graphql")) for _ in range(20)]
        sockets[-1].send("still there")
        assert sockets[-1].recv(10) == "still there"
        closed = 0
        for opened in sockets[:-8]:
            with suppress(TimeoutError):
                with pytest.raises(ConnectionClosed):
                    opened.recv(10)
                closed += 1
        assert closed == 12
        assert answer(port, b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").startswith(
            b"HTTP/1.1 200"
        )


def test_a_web_socket_that_is_closed_is_forgotten() -> None:
    connections = Connections(100, DEADLINES)
    with serving(connections=connections) as port:
        for _ in range(3):
            with connect(f"ws://127.0.0.1:{port}/graphql") as opened:
                opened.send("x")
                assert opened.recv(10) == "x"
                assert len(connections.opened) >= 1
        deadline = time.monotonic() + 30
        while connections.opened and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not connections.opened
