"""A client of the HTTP interface, over a real socket."""

from __future__ import annotations

import http.client
import json
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.center.test_center import CHAIN, CenterWorld
from tidemark.api.options import ApiOptions
from tidemark.api.server import serve_in_thread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tidemark.api.connection_limits import Connections

TOKEN = "0123456789abcdef"
GOOD = {
    "subject": "table=ods&&dt=20240602",
    "event": "observed",
    "event_id": "1",
    "event_time": "2024-06-03T01:00:00+02:00",
    "row_count": 12,
}


class Client:
    """Asks one server; `world` is what is behind it."""

    def __init__(self, world: CenterWorld, url: str) -> None:
        self.world, self.port = world, int(url.rpartition(":")[2])

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        token: str | None = TOKEN,
        raw: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, Any]:
        """The status and the value of the body, or its text where it is no object."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        given = {"Authorization": f"Bearer {token}"} if token else {}
        if method == "POST":
            given["Content-Type"] = "application/json"
        connection.request(method, path, raw if raw is not None else json.dumps(body), {**given, **(headers or {})})
        response = connection.getresponse()
        text = response.read()
        connection.close()
        return response.status, json.loads(text) if text.startswith(b"{") else text.decode()

    def report(self, body: Any) -> tuple[int, Any]:
        return self.ask("POST", "/v1/reports", body)

    def open(self) -> socket.socket:
        """A connection that has sent nothing."""
        return socket.create_connection(("127.0.0.1", self.port), 30)


@contextmanager
def serving(
    folder: Path,
    options: ApiOptions | None = None,
    connections: Connections | None = None,
    texts: Mapping[str, str] = CHAIN,
) -> Iterator[Client]:
    """A client of a server on a small world of these entities."""
    world = CenterWorld(folder, **texts)
    with serve_in_thread(
        world.center, world.forecast(), options or ApiOptions(token=TOKEN), connections=connections
    ) as url:
        yield Client(world, url)
