"""A proxy on loopback before an object store: it notes each request, and holds it back for some milliseconds.

It runs in a process of its own, so that it takes no time from who is measured in Python's one lock. What it passes on
is what came: the `Host` that a client signed is the proxy's, and the server takes it so.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from benchmarks.scaleout.http_relay import Head, read_head, relay_body
from benchmarks.scaleout.requests import Request, kind_of
from tidemark.system.free_port import LOOPBACK, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

_SECONDS: Final = 30.0
_ENDED: Final = (EOFError, asyncio.IncompleteReadError, ConnectionError)


@dataclass(frozen=True)
class Proxy:
    """A running one; not for several threads at once."""

    port: int
    _pipe: Connection

    def delay(self, milliseconds: float) -> None:
        """Hold each request back for so long from now on."""
        self._ask(milliseconds)

    def take(self) -> list[Request]:
        """The requests that were answered since this was asked last."""
        return self._ask(None)

    def _ask(self, question: float | None) -> list[Request]:
        self._pipe.send(question)
        if not self._pipe.poll(_SECONDS):
            raise TimeoutError("the proxy does not answer")
        told: list[Request] = self._pipe.recv()
        return told


@contextmanager
def proxy(upstream_port: int) -> Iterator[Proxy]:
    """One before the server at a port of this machine; it ends with the block."""
    here, there = multiprocessing.Pipe()
    port = free_port()
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_run, args=(there, port, upstream_port), daemon=True)
    process.start()
    try:
        running = Proxy(port, here)
        running.take()
        yield running
    finally:
        process.terminate()
        process.join()


def _run(pipe: Connection, port: int, upstream_port: int) -> None:
    asyncio.run(_Relay(upstream_port).serve(pipe, port))


@dataclass
class _Relay:
    upstream_port: int
    delay_seconds: float = 0.0
    requests: list[Request] = field(default_factory=list)

    async def serve(self, pipe: Connection, port: int) -> None:
        """Until the process is ended."""
        server = await asyncio.start_server(self._connection, LOOPBACK, port, limit=1 << 20)
        asyncio.get_running_loop().add_reader(pipe.fileno(), self._answer, pipe)
        await server.serve_forever()

    def _answer(self, pipe: Connection) -> None:
        question: float | None = pipe.recv()
        if question is None:
            pipe.send(self.requests)
            self.requests = []
        else:
            self.delay_seconds = question / 1000
            pipe.send([])

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A client's connection is one to the server."""
        upstream_reader, upstream_writer = await asyncio.open_connection(LOOPBACK, self.upstream_port, limit=1 << 20)
        with suppress(*_ENDED):
            while (head := await read_head(reader)) is not None:
                if not await self._exchange(head, (reader, writer), (upstream_reader, upstream_writer)):
                    break
        for side in (writer, upstream_writer):
            side.close()

    async def _exchange(
        self,
        head: Head,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        server: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> bool:
        """One request and its answer; whether the connection goes on."""
        begun = time.monotonic()
        await asyncio.sleep(self.delay_seconds)
        server[1].write(head.raw)
        # A client may wait with the body until the server says that it goes on, or send none where it does not.
        body = asyncio.create_task(relay_body(head, client[0], server[1], to_end=False))
        answer = await self._head_of_answer(server[0], client[1])
        received = 0
        if answer.has_body(head.words[0]):
            received = await relay_body(answer, server[0], client[1], to_end=True)
        await client[1].drain()
        # A body that the server did not wait for leaves a connection on which nobody knows where the next request is.
        is_whole = body.done() or "expect" not in head.headers
        sent = await body if is_whole else 0
        if not is_whole:
            body.cancel()
        kind, key = kind_of(head.words[0], head.words[1], head.headers)
        self.requests.append(Request(kind, key, answer.status, sent, received, begun, time.monotonic()))
        return is_whole and not answer.closes

    async def _head_of_answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Head:
        while True:
            answer = await read_head(reader)
            if answer is None:
                raise EOFError
            writer.write(answer.raw)
            if answer.is_last:
                return answer
            await writer.drain()
