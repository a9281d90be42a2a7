"""Dagster as a child process: the web server, the daemon and the code location of workspace.yaml."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

from tidemark.console.dagster_server.errors import DagsterStartError
from tidemark.console.dagster_server.stop_process_session import stop_session
from tidemark.strict_json import json_text
from tidemark.system.bounded_logs import bound_log
from tidemark.system.files import private_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 3000
_SERVICES: Final = "tidemark.console.dagster_server.web_server_and_daemon"
_READY_SECONDS: Final = 180.0
_POLL_SECONDS: Final = 0.3
_TAIL_LINES: Final = 20
_LOCATIONS: Final = """{ workspaceOrError { ... on Workspace { locationEntries { name locationOrLoadError {
  __typename ... on PythonError { message } } } } } }"""


@dataclass(frozen=True)
class DagsterServer:
    """Started services (tidemark.console.dagster_server.web_server_and_daemon); `log` has their output."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    @classmethod
    def start(
        cls, root: Path, home: Path, port: int, log: Path, env: Mapping[str, str], allowed_hosts: Sequence[str] = ()
    ) -> Self:
        """Start the services in a new session: the code location of `root`/workspace.yaml, storage in `home`.

        The server also answers to `allowed_hosts`, such as names of a proxy.
        """
        command = [
            sys.executable, "-m", _SERVICES, "--workspace", str(root / "workspace.yaml"),
            "--host", HOST, "--port", str(port), *(word for name in allowed_hosts for word in ("--allowed-host", name)),
        ]  # fmt: skip
        private_directory(log.parent)
        log.unlink(missing_ok=True)
        with log.open("ab") as output:
            process = subprocess.Popen(
                command,
                cwd=root,
                env={**env, "DAGSTER_HOME": str(home), "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return cls(process, port, log)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def wait_until_ready(self, stopped: Callable[[], bool] = lambda: False) -> bool:
        """True when the UI answers and the code location is loaded or has failed; False if `stopped()` came first.

        Raises DagsterStartError.
        """
        deadline = time.monotonic() + _READY_SECONDS
        while not stopped():
            self.check_running()
            if self._locations():
                return True
            if time.monotonic() > deadline:
                raise DagsterStartError(f"was not ready after {_READY_SECONDS:.0f} s", self.log, self.last_lines())
            time.sleep(_POLL_SECONDS)
        return False

    def check_running(self) -> None:
        """Raise DagsterStartError if the process has ended; also limits the size of its log."""
        bound_log(self.log)
        status = self.process.poll()
        if status is not None:
            raise DagsterStartError(f"ended by itself with status {status}", self.log, self.last_lines())

    def load_errors(self) -> list[str]:
        """Errors of code locations that did not load, one message each."""
        return [
            f"{entry['name']}: {entry['locationOrLoadError'].get('message', '').strip()}"
            for entry in self._locations()
            if entry["locationOrLoadError"]["__typename"] == "PythonError"
        ]

    def last_lines(self) -> str:
        """The last lines of the log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-_TAIL_LINES:])

    def stop(self, in_a_hurry: Callable[[], bool] = lambda: False) -> None:
        """End it with all its child processes."""
        stop_session(self.process, in_a_hurry)

    def _locations(self) -> list[dict[str, Any]]:
        """Loaded code locations, if the UI answers."""
        try:
            answer = graphql(self.port, _LOCATIONS)
        except (OSError, http.client.HTTPException, ValueError):
            return []
        entries: list[dict[str, Any]] = answer["data"]["workspaceOrError"].get("locationEntries", [])
        return [entry for entry in entries if entry["locationOrLoadError"]]


def graphql(port: int, query: str, variables: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Ask the web server on this machine. Raises OSError, HTTPException, ValueError while it is down."""
    # http.client uses no proxy of the environment for our own server.
    connection = http.client.HTTPConnection(HOST, port, timeout=30)
    try:
        body = json_text({"query": query, "variables": dict(variables or {})})
        connection.request("POST", "/graphql", body, {"Content-Type": "application/json"})
        answer: dict[str, Any] = json.loads(connection.getresponse().read())
        return answer
    finally:
        connection.close()
