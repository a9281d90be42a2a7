"""Other `tidemark` commands as parts of the chain: each in a session of its own, its words in a log."""

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
    """`tidemark <arguments>`; `grace_seconds` is how long it may take to end once it is told to."""

    name: str
    arguments: Sequence[str]
    grace_seconds: float
    env: Mapping[str, str]


@contextmanager
def children(commands: Sequence[ChildCommand], directory: Path) -> Iterator[tuple[ServerProcess, ...]]:
    """Start all of them, each in its folder below `directory`; in the end ask all at once to stop.

    What has not ended when its grace is over is stopped with all that it started.
    """
    started: list[ServerProcess] = []
    try:
        for command in commands:
            started.append(_start(command, directory / command.name))  # noqa: PERF401 - those before one that fails
        yield tuple(started)
    finally:
        _stop(started, [command.grace_seconds for command in commands])


def _start(command: ChildCommand, directory: Path) -> ServerProcess:
    # A command of ours is no server of others: it has our environment, but the token only where `env` has it.
    words = [sys.executable, "-m", "tidemark.console", *command.arguments]
    return start(command.name, words, directory, {**without_token(os.environ), **command.env})


def _stop(started: Sequence[ServerProcess], graces: Sequence[float]) -> None:
    """Each tells its own children: a signal to all of them would take Spark from under a pass that ends."""
    for server in started:
        if server.process.poll() is None:
            os.kill(server.pid, signal.SIGTERM)
    begun = time.monotonic()
    for grace, server in sorted(zip(graces, started, strict=False), key=lambda pair: pair[0]):
        with suppress(subprocess.TimeoutExpired):
            server.process.wait(max(0.0, begun + grace - time.monotonic()))
        stop_session(server.process, in_a_hurry=lambda: True)
