"""The little of Kubernetes' API that Dagster's launcher asks for, on loopback: it keeps what it is sent."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_VERBS: Final = {"POST": "create", "DELETE": "delete"}


@dataclass
class PlayedApi:
    """What came: jobs, and each question as a rule of a Role would name it."""

    port: int = 0
    jobs: list[dict[str, Any]] = field(default_factory=list)
    asked: set[tuple[str, str, str]] = field(default_factory=set)
    """(API group, resource, verb)"""

    def answer(self, method: str, path: str, body: bytes) -> dict[str, Any]:
        """Keep the question; the one job is under way."""
        steps = urlsplit(path).path.strip("/").split("/")
        group, below = ("", steps[4:]) if steps[0] == "api" else (steps[1], steps[5:])
        resource = "/".join([below[0], *below[2:]])
        self.asked.add((group, resource, _VERBS.get(method, "get" if len(below) > 1 else "list")))
        if method == "POST":
            self.jobs.append(json.loads(body))
            return self.jobs[-1]
        if len(below) == 1:
            return {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": []}
        return {**self.jobs[-1], "status": {"active": 1}}

    def kubeconfig(self, path: Path) -> Path:
        """A file by which a client of Kubernetes finds it."""
        cluster = {"cluster": {"server": f"http://127.0.0.1:{self.port}"}, "name": "here"}
        context = {"context": {"cluster": "here", "user": "nobody"}, "name": "here"}
        given = {"clusters": [cluster], "contexts": [context], "users": [{"name": "nobody", "user": {}}]}
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "current-context": "here", **given}))
        return path


@contextmanager
def played_api() -> Iterator[PlayedApi]:
    """Listening until the block ends."""
    api = PlayedApi()

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answer = json.dumps(api.answer(self.command, self.path, body)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = do_DELETE = _serve  # noqa: N815 - the base class asks for these names

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    api.port = server.server_port
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
