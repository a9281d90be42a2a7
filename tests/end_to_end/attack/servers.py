"""What is attacked: a project as `tidemark init --sample school` writes it, its center and its Dagster, both working.

Three entities are added, which need no recording: `partner_feed` is what honest callers report, `ads_partner_totals` is
computed from each day of it, and `partner_noise` is what hostile callers with the token may report.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import psutil

from tests.project import CHECKOUT
from tidemark.console.dagster_server.stop_process_session import session_members

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

TOKEN: Final = "canary-token-5e1f0c77"
FEED: Final = "partner_feed"
TOTALS: Final = "ads_partner_totals"
NOISE: Final = "partner_noise"
_ADDED: Final = {
    f"external/{FEED}.yaml": "{kind: Virtual, period: day, start: 2024-01-01}",
    f"external/{NOISE}.yaml": "{kind: Virtual, period: day, start: 1970-01-01, end: 2199-12-31}",
    f"ads/{TOTALS}.yaml": f"{{period: day, start: 2024-01-01, depends_on: [{FEED}]}}",
    f"ads/{TOTALS}.sql": "SELECT 1 AS id\n",
}
_END_SECONDS: Final = 60.0


@dataclass(frozen=True)
class AttackedServer:
    """A command that serves; its output is in `log`."""

    name: str
    process: subprocess.Popen[str]
    port: int
    log: Path

    def web_server(self) -> psutil.Process:
        """The process that listens."""
        for process in (psutil.Process(self.process.pid), *self._below()):
            try:
                ports = {connection.laddr[1] for connection in process.net_connections("tcp") if not connection.raddr}
            except psutil.Error:
                continue
            if self.port in ports:
                return process
        raise AssertionError(f"nobody listens on {self.port}")

    def ask(self, method: str, path: str, body: Any = None, seconds: float = 60.0) -> tuple[int, Any]:
        """As an honest caller does."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text.startswith(b"{") else text.decode()
        finally:
            connection.close()

    def _below(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def stop(self) -> list[int]:
        """Ask it to end; what it leaves behind."""
        sessions = {os.getsid(process.pid) for process in self._below()} - {os.getsid(0)}
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=_END_SECONDS)
        return [pid for session in sessions for pid in session_members(session)]


@dataclass(frozen=True)
class AttackedProject:
    """Both servers on one project."""

    root: Path
    center: AttackedServer
    dagster: AttackedServer


@contextmanager
def attacked_project(folder: Path) -> Iterator[AttackedProject]:
    """Write the project and serve it; what still runs in the end is killed."""
    root = folder / "project"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("TIDEMARK_", "DAGSTER_"))}
    environment |= {"PYTHONPATH": str(CHECKOUT), "TIDEMARK_ROOT": str(root), "TIDEMARK_TOKEN": TOKEN}
    command = [sys.executable, "-m", "tidemark.console"]
    subprocess.run([*command, "init", str(root), "--sample", "school"], check=True, capture_output=True)
    for name, text in _ADDED.items():
        file = root / "warehouse_assets" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    started: list[AttackedServer] = []
    try:
        up = _start("up", [*command, "up", "--port", "0", "--json"], root, environment)
        started.append(up)
        center = _start("center", [*command, "center", "--port", "0", "--json"], root, environment)
        started.append(center)
        yield AttackedProject(root, center, up)
    finally:
        for server in started:
            if server.process.poll() is None:
                server.stop()


def _start(name: str, command: list[str], root: Path, environment: Mapping[str, str]) -> AttackedServer:
    log = root.parent / f"{name}.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
        )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, f"{name} ended with {process.wait()}: {log.read_text()}"
    said = json.loads(line)
    assert "error" not in said, said
    return AttackedServer(name, process, int(said["url"].rpartition(":")[2]), log)
