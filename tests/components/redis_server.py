"""A real Redis server on loopback, in memory alone."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.console.servers.server_process import start_listening
from tidemark.system.free_port import LOOPBACK, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_START_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class RedisServer:
    """A running server."""

    port: int

    @property
    def url(self) -> str:
        return f"redis://{LOOPBACK}:{self.port}/0"


@contextmanager
def running_redis(directory: Path) -> Iterator[RedisServer]:
    """Start a server, stop it in the end."""
    port = free_port()
    command = ("redis-server", "--port", str(port), "--bind", LOOPBACK, "--save", "", "--appendonly", "no")
    server = start_listening("Redis", command, directory, port, _START_TIMEOUT_SECONDS)
    try:
        yield RedisServer(port)
    finally:
        server.stop()
