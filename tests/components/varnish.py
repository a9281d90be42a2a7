"""A real Varnish before a small web server, configured as docs/refresh.md says."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

from tests.project import CHECKOUT
from tidemark.console.servers.server_process import start_listening
from tidemark.system.free_port import LOOPBACK, free_port
from tidemark.system.installed_programs import find_program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_START_TIMEOUT_SECONDS = 60.0


@dataclass
class CachedPages:
    """Pages by path, each with its surrogate keys; `served` counts how often the cache had to ask for one."""

    port: int
    keys: dict[str, str]
    served: dict[str, int]

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def read(self, *paths: str) -> None:
        """As a browser does."""
        connection = HTTPConnection(LOOPBACK, self.port, timeout=30)
        for path in paths:
            connection.request("GET", path)
            connection.getresponse().read()
        connection.close()


@contextmanager
def varnish(directory: Path) -> Iterator[CachedPages]:
    """Start both, stop them in the end."""
    pages = CachedPages(free_port(), {}, {})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            pages.served[self.path] = pages.served.get(self.path, 0) + 1
            self.send_response(200)
            self.send_header("xkey", pages.keys.get(self.path, ""))
            self.send_header("Cache-Control", "max-age=3600")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            """Nothing is printed."""

    with ThreadingHTTPServer((LOOPBACK, 0), Handler) as origin:
        thread = Thread(target=origin.serve_forever)
        thread.start()
        try:
            (directory / "default.vcl").write_text(_configuration(origin.server_port))
            command = _command(directory, pages.port)
            server = start_listening("Varnish", command, directory, pages.port, _START_TIMEOUT_SECONDS)
            try:
                yield pages
            finally:
                server.stop()
        finally:
            origin.shutdown()
            thread.join()


def _configuration(origin: int) -> str:
    text = (CHECKOUT / "docs/refresh.md").read_text(encoding="utf-8")
    (documented,) = re.findall(r"```vcl\n(.+?)```", text, re.DOTALL)
    return (
        str(documented)
        .replace('.host = "app"', f'.host = "{LOOPBACK}"')
        .replace('.port = "8000"', f'.port = "{origin}"')
    )


def _command(directory: Path, port: int) -> list[str]:
    program = find_program("varnishd") or "varnishd"
    options = ["-F", "-j", "none", "-n", str(directory / "work"), "-a", f"{LOOPBACK}:{port}", "-s", "malloc,16m"]
    return [program, *options, "-f", str(directory / "default.vcl")]
