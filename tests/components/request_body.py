"""The body of a request to a server of Python's standard library, which leaves chunks to be read by oneself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler


def request_body(handler: BaseHTTPRequestHandler) -> bytes:
    """What belongs to the request that a handler is at."""
    if handler.headers.get("Transfer-Encoding", "").lower() != "chunked":
        return handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
    chunks: list[bytes] = []
    while length := int(handler.rfile.readline().split(b";")[0], 16):
        chunks.append(handler.rfile.read(length))
        handler.rfile.readline()
    handler.rfile.readline()
    return b"".join(chunks)
