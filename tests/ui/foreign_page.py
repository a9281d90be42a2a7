"""A web page of another origin, and what its scripts try with a server on this machine."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

IMAGE: Final = """
const [url, done] = arguments;
const image = new Image();
image.onload = image.onerror = () => done("answered");
image.src = url;
"""
POST: Final = """
const [url, type, body, done] = arguments;
fetch(url, {method: "POST", mode: "no-cors", headers: {"Content-Type": type}, body})
  .then(() => done("answered"), () => done("answered"));
"""
FORM: Final = """
const [url, name, done] = arguments;
const frame = document.createElement("iframe");
frame.name = "target";
document.body.append(frame);
const form = document.createElement("form");
form.action = url; form.method = "post"; form.target = "target"; form.enctype = "text/plain";
const field = document.createElement("input");
field.name = name; field.value = "";
form.append(field); document.body.append(form);
frame.onload = () => { if (form.dataset.sent) done("answered"); };
form.dataset.sent = "1"; form.submit();
"""
SOCKET: Final = """
const [url, done] = arguments;
const socket = new WebSocket(url, "graphql-ws");
socket.onopen = () => done("opened");
socket.onerror = () => done("refused");
"""


@contextmanager
def page_server() -> Iterator[int]:
    """Serves an empty page on a free port of loopback: another origin than every other port's."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>foreign</title><body></body>")

        def log_message(self, *_: object) -> None: ...

    # A browser opens connections ahead on which it asks nothing: in one thread they would keep the server from its end.
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.block_on_close = False
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()
