"""A server that stands before another one of this machine and answers in an API which that one lacks."""

from __future__ import annotations

import http.client
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final

from tests.components.request_body import request_body
from tidemark.system.free_port import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Answer = tuple[int, "Mapping[str, str]", bytes]
"""Status, headers, content; of a HEAD's answer the header Content-Length is that of the file."""
_SECONDS: Final = 60.0
_NOT_PASSED: Final = {"connection", "content-length", "expect", "keep-alive", "transfer-encoding"}


def ask(behind: int, method: str, url: str, headers: Mapping[str, str], body: bytes = b"") -> Answer:
    """The answer of the server behind. Raises OSError and HTTPException where there is none."""
    server = http.client.HTTPConnection(LOOPBACK, behind, timeout=_SECONDS)
    try:
        passed = {name: value for name, value in headers.items() if name.lower() not in _NOT_PASSED}
        server.request(method, url, body, passed)
        response = server.getresponse()
        return response.status, dict(response.getheaders()), response.read()
    finally:
        server.close()


def serve(port: int, answer: Callable[[str, str, Mapping[str, str], bytes], Answer]) -> None:
    """Answer requests (method, URL, headers, body) at a port for as long as the process lives."""

    class Handler(_Handler):
        """The handler of this server."""

    Handler.answer = staticmethod(answer)
    server = ThreadingHTTPServer((LOOPBACK, port), Handler)
    server.daemon_threads = True
    server.serve_forever()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body are two writes: the second must not wait for the client's word on the first.
    disable_nagle_algorithm = True
    answer: Callable[[str, str, Mapping[str, str], bytes], Answer]

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except OSError:  # the client is gone
            self.close_connection = True

    def finish(self) -> None:
        with suppress(OSError):  # likewise
            super().finish()

    def pass_on(self) -> None:
        """To the server, and its answer back; the connection ends where there is none."""
        body = request_body(self)
        try:
            status, headers, content = self.answer(self.command, self.path, dict(self.headers.items()), body)
        except (OSError, http.client.HTTPException):
            self.close_connection = True
            return
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in _NOT_PASSED:
                self.send_header(name, value)
        told = {name.lower(): value for name, value in headers.items()}
        length = told.get("content-length", "0") if self.command == "HEAD" else str(len(content))
        self.send_header("Content-Length", length)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do_PATCH = pass_on  # noqa: N815 - the standard library's names

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the standard library's name
        """Nothing is printed."""
