"""A proxy before an object store that counts requests, and at the one that it was told to wait for does something.

A moment is so a place in the conversation with the store, and no time: the third file of data, before the store has it
or after, when the answer is not out yet.
"""

from __future__ import annotations

import http.client
import re
import threading
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final, Literal

from tests.components.request_body import request_body
from tidemark.system.free_port import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Kind = Literal["any", "data", "commit", "delete"]
"""Requests: all of them, those that put a file of rows, those that put a commit, those that delete."""
KINDS: Final[tuple[Kind, ...]] = ("any", "data", "commit", "delete")
_SECONDS: Final = 60.0
_HOP_BY_HOP: Final = {"connection", "expect", "keep-alive", "transfer-encoding"}
_COMMIT: Final = re.compile(r"/_delta_log/\d{20}\.json")


@dataclass(frozen=True)
class Moment:
    """The request number `count` (from 1) of a kind, before the server has it or before its answer is passed on."""

    kind: Kind
    count: int
    side: Literal["before", "after"]


@dataclass
class S3Proxy:
    """`counts` are the requests by kind since the last `wait_for`."""

    port: int
    behind: int
    counts: Counter[Kind] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _awaited: Moment | None = None
    _strike: Callable[[], bool] = lambda: False
    _refusals: int = 0
    _then: Callable[[], None] = lambda: None

    @property
    def endpoint(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def is_awaiting(self) -> bool:
        """Whether the moment has not come yet."""
        with self._lock:
            return self._awaited is not None

    def wait_for(self, moment: Moment | None, strike: Callable[[], bool] = lambda: False) -> None:
        """Count anew, and call `strike` once, in the request's own thread, when the moment comes.

        It says whether the request's answer is lost by it.
        """
        with self._lock:
            self.counts.clear()
            self._awaited, self._strike = moment, strike

    def refuse(self, requests: int, then: Callable[[], None]) -> None:
        """Let so many requests fail as if nobody listened, and then call `then`."""
        with self._lock:
            self._refusals, self._then = requests, then
        if not requests:
            then()

    def rest(self) -> None:
        """Wait for nothing and refuse nothing; what was counted stays."""
        with self._lock:
            self._awaited, self._refusals = None, 0

    def is_due(self, kinds: set[Kind], side: str) -> bool:
        """Whether a request of these kinds, counted already, is the awaited one; it is not awaited any more then."""
        with self._lock:
            moment = self._awaited
            is_it = (
                moment is not None
                and moment.kind in kinds
                and moment.side == side
                and self.counts[moment.kind] >= moment.count
            )
            if is_it:
                self._awaited = None
            return is_it

    def count(self, kinds: set[Kind]) -> bool:
        """Count a request; whether it may pass."""
        with self._lock:
            self.counts.update(kinds)
            if not self._refusals:
                return True
            self._refusals -= 1
            then = None if self._refusals else self._then
        if then is not None:
            then()
        return False

    def strike(self) -> bool:
        """Do what is to be done at the moment; whether the answer is lost by it."""
        return self._strike()


def kinds_of(method: str, path: str) -> set[Kind]:
    """What a request is."""
    kinds: set[Kind] = {"any"}
    name, _, query = path.partition("?")
    if method == "PUT" and name.endswith(".parquet"):
        kinds.add("data")
    # In JSON, as Hadoop sends it to Google, the name is behind the question mark.
    if method == "PUT" and _COMMIT.search(path):
        kinds.add("commit")
    if method == "DELETE" or (method == "POST" and query.startswith("delete")):
        kinds.add("delete")
    return kinds


class _Handler(BaseHTTPRequestHandler):
    """One connection of a client, and one to the server."""

    protocol_version = "HTTP/1.1"
    # Head and body are two writes: the second must not wait for the client's word on the first.
    disable_nagle_algorithm = True
    proxy: S3Proxy
    _server: http.client.HTTPConnection | None = None

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except OSError:  # the client is gone
            self.close_connection = True

    def finish(self) -> None:
        if self._server is not None:
            self._server.close()
        with suppress(OSError):  # likewise
            super().finish()

    def pass_on(self) -> None:
        """To the server, and its answer back; the connection ends where there is none."""
        body = request_body(self)
        kinds = kinds_of(self.command, self.path)
        answer = None
        if self.proxy.count(kinds):
            if self.proxy.is_due(kinds, "before"):
                self.proxy.strike()
            answer = self._answer(body)
            if self.proxy.is_due(kinds, "after"):
                is_lost = self.proxy.strike()
                answer = None if is_lost else answer
        if answer is None:
            self.close_connection = True
            return
        self._pass_back(*answer)

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = do_HEAD = pass_on  # noqa: N815 - the standard library's names

    def _answer(self, body: bytes) -> tuple[http.client.HTTPResponse, bytes] | None:
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP_BY_HOP}
        if self._server is None:
            self._server = http.client.HTTPConnection(LOOPBACK, self.proxy.behind, timeout=_SECONDS)
        try:
            self._server.request(self.command, self.path, body, headers)
            response = self._server.getresponse()
            return response, response.read()
        except (OSError, http.client.HTTPException):
            self._server.close()
            return None

    def _pass_back(self, response: http.client.HTTPResponse, content: bytes) -> None:
        self.send_response_only(response.status, response.reason)
        for name, value in response.getheaders():
            if name.lower() not in _HOP_BY_HOP | {"content-length"}:
                self.send_header(name, value)
        length = response.getheader("Content-Length") if self.command == "HEAD" else str(len(content))
        self.send_header("Content-Length", length or "0")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the standard library's name
        """Nothing is printed."""


@contextmanager
def s3_proxy(behind: int) -> Iterator[S3Proxy]:
    """One before the server at that port of this machine."""

    class Handler(_Handler):
        """The handler of this one server."""

    server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
    server.daemon_threads = True
    proxy = Handler.proxy = S3Proxy(server.server_address[1], behind)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
