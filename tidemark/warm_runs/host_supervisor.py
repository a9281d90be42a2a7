"""Starts the host of warm workers as a child, and again after it dies. Without it there are no workers."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Self

from tidemark.system.files import private_directory
from tidemark.system.token_variable import without_token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

_AGAIN_SECONDS: Final = 2.0
_STOP_SECONDS: Final = 10.0


class WorkerHostSupervisor:
    """The host of the warm workers of a DAGSTER_HOME, while this object and this process live.

    If another program has a host there, the new host waits until that one is gone, and takes its place.
    """

    def __init__(self, home: Path, log: Path, env: Mapping[str, str]) -> None:
        self._home, self._log, self._env = home, log, env
        private_directory(log.parent)
        self._process, self._started_at = self._start(), time.monotonic()

    @property
    def pid(self) -> int:
        """The host's process id."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the host is alive."""
        return self._process.poll() is None

    def check(self) -> None:
        """Restart a host that died, but not one that found that it is not needed. Call it regularly."""
        if self._process.poll() and time.monotonic() - self._started_at > _AGAIN_SECONDS:
            self._let_go()
            self._process, self._started_at = self._start(), time.monotonic()

    def stop(self) -> None:
        """End the host with its workers. With active runs this takes some seconds."""
        self._let_go()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:  # its workers notice its end
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _let_go(self) -> None:
        """Close the pipe, which tells the host that its owner ends."""
        if self._process.stdin:
            self._process.stdin.close()

    def _start(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as output:
            return subprocess.Popen(
                [sys.executable, "-m", "tidemark.warm_runs.worker_host", str(self._home), str(self._log)],
                env={**without_token(self._env), "DAGSTER_HOME": str(self._home), "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )


@contextmanager
def supervised(home: Path, log: Path, env: Mapping[str, str], *, has_workers: bool) -> Iterator[Callable[[], None]]:
    """Yields the function to call regularly while the block lasts; without workers nothing is started."""
    if not has_workers:
        yield lambda: None
        return
    with WorkerHostSupervisor(home, log, env) as supervisor:
        yield supervisor.check
