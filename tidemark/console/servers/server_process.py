"""Server processes on loopback: start, wait until healthy, stop.

A server runs in its own process group with its output in `<directory>/server.log`. If it does not start, the error has
the end of this log. A server inherits only the variables that programs need, and no secret, because servers answer
questions about their environment (`${env:...}` of Kafka Connect).
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tidemark.console.servers.errors import ComponentFailedError
from tidemark.system.files import private_directory
from tidemark.system.free_port import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

INHERITED: Final = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "JAVA_HOME", "LD_LIBRARY_PATH"}
)
"""Variables that every server inherits, in addition to the locale (`LC_*`)."""
_LOG_TAIL_LINES = 25
_POLL_SECONDS = 0.1


def inherited_environment(env: Mapping[str, str]) -> dict[str, str]:
    """The inherited part of an environment."""
    return {name: value for name, value in env.items() if name in INHERITED or name.startswith("LC_")}


@dataclass(frozen=True)
class ServerProcess:
    """One started server."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def pid(self) -> int:
        return self.process.pid

    def log_tail(self) -> str:
        """The last lines that the server wrote."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-_LOG_TAIL_LINES:])

    def wait_until(self, healthy: Callable[[], bool], timeout_seconds: float) -> None:
        """Poll `healthy`; raise ComponentFailedError if the process ends or the time is up."""
        deadline = time.monotonic() + timeout_seconds
        while not healthy():
            if self.process.poll() is not None:
                raise ComponentFailedError(self.name, f"ended with {self.process.returncode}", self.log_tail())
            if time.monotonic() > deadline:
                raise ComponentFailedError(self.name, f"not healthy after {timeout_seconds:.0f} s", self.log_tail())
            time.sleep(_POLL_SECONDS)

    def kill(self) -> None:
        """End the process at once, like a crash."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self, grace_seconds: float = 20.0) -> None:
        """Ask the process to end, and kill it after the grace period; only this process group is affected."""
        if self.process.poll() is not None:
            return
        os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(grace_seconds)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def start(
    name: str, command: Sequence[str], directory: Path, environment: Mapping[str, str] | None = None
) -> ServerProcess:
    """Start `command` with its output in `directory`/server.log; `environment` is added to the inherited one."""
    private_directory(directory)
    log = directory / "server.log"
    with log.open("ab") as out:
        process = subprocess.Popen(
            list(command),
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**inherited_environment(os.environ), **(environment or {})},
            start_new_session=True,
        )
    return ServerProcess(name, process, log)


def start_listening(
    name: str,
    command: Sequence[str],
    directory: Path,
    port: int,
    timeout_seconds: float,
    environment: Mapping[str, str] | None = None,
) -> ServerProcess:
    """Start a server and wait until it accepts connections; otherwise stop it and raise ComponentFailedError."""
    server = start(name, command, directory, environment)
    try:
        server.wait_until(lambda: accepts_connections(port), timeout_seconds)
    except ComponentFailedError:
        server.stop()
        raise
    return server


def run(
    name: str,
    command: Sequence[str],
    directory: Path,
    timeout_seconds: float = 120.0,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Run a preparing command to its end; raise ComponentFailedError with its output if it fails."""
    private_directory(directory)
    done = subprocess.run(
        list(command),
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=timeout_seconds,
        check=False,
        env={**inherited_environment(os.environ), **(environment or {})},
    )
    if done.returncode != 0:
        raise ComponentFailedError(name, f"{command[0]} ended with {done.returncode}", done.stdout + done.stderr)


def accepts_connections(port: int) -> bool:
    """Whether a process listens on this port of the loopback interface."""
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((LOOPBACK, port)) == 0
