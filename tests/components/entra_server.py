"""Stands for Microsoft Entra: gives everybody a token, and knows what it was asked, and who then used it.

It also answers as a container without files, in which one file is read.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from tests.components.request_body import request_body
from tidemark.system.free_port import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Iterator

TENANT: Final = "a-tenant"
TOKEN: Final = "a-token"
_NO_FILES: Final = b"<EnumerationResults><Blobs/></EnumerationResults>"
_HEADERS: Final = {
    "Content-Type": "application/json",
    "Last-Modified": "Mon, 23 Mar 2026 00:00:00 GMT",
    "ETag": '"1"',
}


@dataclass(frozen=True)
class EntraServer:
    """`asked`: path and fields of each request for a token; `used`: who each other request said it is of."""

    address: str
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    used: list[str] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which the libraries ask it; how a client proves who it is comes beside them."""
        return {"AZURE_CLIENT_ID": "a-client", "AZURE_TENANT_ID": TENANT, "AZURE_AUTHORITY_HOST": self.address}


class _Handler(BaseHTTPRequestHandler):
    running: EntraServer

    def do_POST(self) -> None:
        self.running.asked.append((self.path, dict(parse_qsl(request_body(self).decode()))))
        self._answer(f'{{"access_token": "{TOKEN}", "expires_in": 3600, "token_type": "Bearer"}}'.encode())

    def do_GET(self) -> None:
        self.running.used.append(self.headers["Authorization"])
        self._answer(_NO_FILES if "comp=list" in self.path else b"content")

    def _answer(self, content: bytes) -> None:
        self.send_response_only(200)
        for name, value in {**_HEADERS, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the standard library's name
        """Nothing is printed."""


@contextmanager
def entra_server() -> Iterator[EntraServer]:
    """A running one; it ends with the block."""

    class Handler(_Handler):
        """Of this server."""

    server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
    server.daemon_threads = True
    running = Handler.running = EntraServer(f"http://{LOOPBACK}:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
