"""A foreign webhook on a free port: stores the messages that it gets, and answers as configured."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Event, Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass
class Receiver:
    """`status` is what it answers, once `open` is set; `got` are the bodies that it has read, `headers` theirs."""

    port: int = 0
    status: int = 204
    got: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    open: Event = field(default_factory=Event)
    came: Condition = field(default_factory=Condition)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def wait_for(self, holds: Callable[[list[dict[str, Any]]], bool], seconds: float = 120.0) -> list[dict[str, Any]]:
        """What it got, once that holds."""
        with self.came:
            assert self.came.wait_for(lambda: holds(self.got), seconds), self.got
            return list(self.got)


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver that answers at once."""
    receiver = Receiver()
    receiver.open.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
            with receiver.came:
                receiver.got.append(body)
                receiver.headers.append(dict(self.headers))
                receiver.came.notify_all()
            receiver.open.wait(120)
            self.send_response(receiver.status)
            if receiver.status == 302:
                self.send_header("Location", receiver.url)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.port = server.server_port
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.open.set()
        server.shutdown()
        server.server_close()
        thread.join()
