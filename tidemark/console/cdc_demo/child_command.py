"""Another `tidemark` command as a part of the chain: in a session of its own, its words in a log."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from tidemark.console.dagster_server.process_sessions import stop_session
from tidemark.console.servers.server_process import ServerProcess, start
from tidemark.system.token_variable import without_token

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

# `up` lets runs end, `capture run` its pass.
_GRACE_SECONDS: Final = 45.0


@contextmanager
def child(name: str, arguments: Sequence[str], directory: Path, env: Mapping[str, str]) -> Iterator[ServerProcess]:
    """Start `tidemark <arguments>`; in the end ask it to stop, and stop it with all that it started if it does not."""
    # A command of ours is no server of others: it has our environment, but the token only where `env` has it.
    words = [sys.executable, "-m", "tidemark.console", *arguments]
    started = start(name, words, directory, {**without_token(os.environ), **env})
    try:
        yield started
    finally:
        _stop(started)


def _stop(started: ServerProcess) -> None:
    """It tells its own children: a signal to all of them would take Spark from under a pass that ends."""
    if started.process.poll() is None:
        os.kill(started.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            started.process.wait(_GRACE_SECONDS)
    stop_session(started.process, in_a_hurry=lambda: True)
