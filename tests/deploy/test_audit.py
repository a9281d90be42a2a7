"""`make audit` says when it could not ask: no answer is not the same as nothing known."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from tests.project import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def feed(status: int, body: bytes) -> Iterator[tuple[str, list[str]]]:
    """The address of a feed that answers so, and what it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def audit(folder: Path, address: str) -> subprocess.CompletedProcess[str]:
    """The script with a pip-audit that finds one vulnerability."""
    (folder / "python").symlink_to(sys.executable)
    auditor = folder / "pip-audit"
    auditor.write_text("#!/bin/sh\necho found one\nexit 1\n")
    auditor.chmod(0o755)
    script = ["sh", str(CHECKOUT / "scripts" / "audit.sh"), str(auditor), str(CHECKOUT / "requirements.lock")]
    environment = {"PATH": "/usr/bin:/bin", "AUDIT_FEED": address, "no_proxy": "127.0.0.1"}
    return subprocess.run(script, env=environment, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(("status", "body"), [(404, b""), (200, b"<html>"), (200, b"{}")])
def test_a_feed_that_does_not_answer_is_said(tmp_path: Path, status: int, body: bytes) -> None:
    with feed(status, body) as (address, asked):
        done = audit(tmp_path, address)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("Nothing was audited: the feed of known vulnerabilities does not answer here.\n")
    assert f"asked     {address}{asked[0]}\n" in done.stderr
    assert asked[0].endswith("/json")
    assert asked[0].count("/") == 3


def test_findings_are_reported(tmp_path: Path) -> None:
    with feed(200, json.dumps({"vulnerabilities": []}).encode()) as (address, _):
        done = audit(tmp_path, address)
    assert (done.returncode, done.stdout) == (1, "found one\n")
