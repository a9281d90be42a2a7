"""Other `tidemark` commands as child processes of the chain, each in its own session, with its output in a log."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.console.dagster_server.stop_process_session import stop_session
from tidemark.console.servers.server_process import ServerProcess, start
from tidemark.system.token_variable import without_token

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class ChildCommand:
    """`tidemark <arguments>`; `grace_seconds` is the time that it may take to stop."""

    name: str
    arguments: Sequence[str]
    grace_seconds: float
    env: Mapping[str, str]


@contextmanager
def children(commands: Sequence[ChildCommand], directory: Path) -> Iterator[tuple[ServerProcess, ...]]:
    """Start all commands, each in its folder below `directory`; at the end ask all of them to stop at the same time.

    A command that has not ended after its grace time is killed with its own child processes.
    """
    started: list[ServerProcess] = []
    try:
        for command in commands:
            started.append(_start(command, directory / command.name))  # noqa: PERF401 - those before one that fails
        yield tuple(started)
    finally:
        _stop(started, [command.grace_seconds for command in commands])


def _start(command: ChildCommand, directory: Path) -> ServerProcess:
    # A command of ours gets our environment, but the token only if `env` has it.
    words = [sys.executable, "-m", "tidemark.console", *command.arguments]
    return start(command.name, words, directory, {**without_token(os.environ), **command.env})


def _stop(started: Sequence[ServerProcess], graces: Sequence[float]) -> None:
    """Send the signal to the leader only: a signal to all would stop Spark during a last pass."""
    for server in started:
        if server.process.poll() is None:
            os.kill(server.pid, signal.SIGTERM)
    begun = time.monotonic()
    for grace, server in sorted(zip(graces, started, strict=False), key=lambda pair: pair[0]):
        with suppress(subprocess.TimeoutExpired):
            server.process.wait(max(0.0, begun + grace - time.monotonic()))
        stop_session(server.process, in_a_hurry=lambda: True)
