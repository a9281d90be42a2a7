"""The process of `driver.py` as a test has it: started, told what to do, killed."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, Final

from tests.project import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_SECONDS: Final = 300.0
_WORDS: Final = 65_536


class DriverDied(Exception):  # noqa: N818 - an event that the test brings about
    """The process ended before it told what became of an order."""


@dataclass
class DriverProcess:
    """`log` gets what all of its lives print."""

    environment: Mapping[str, str]
    log: Path
    lives: int = 0
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def start(self) -> None:
        """Begin a life, with Spark started; the one before has ended."""
        self._close()
        self.lives += 1
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.scale_out.driver"],
                env={**os.environ, **self.environment},
                cwd=CHECKOUT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        self.ask("hello")

    def ask(self, what: str, **order: Any) -> dict[str, Any]:
        """Let it do something; what it told. Raises DriverDied."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps({"what": what, **order}).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            raise DriverDied from None
        line = _line(process.stdout, what)
        if not line:
            process.wait(timeout=_SECONDS)
            raise DriverDied
        answer: dict[str, Any] = json.loads(line)
        return answer

    def kill(self) -> None:
        """Python and its JVM die as by `kill -9`."""
        os.killpg(self._running().pid, signal.SIGKILL)

    def end(self) -> None:
        """It has nothing more to do."""
        if self._process is None:
            return
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.close()
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.kill()
            self._process.wait()
        self._close()

    def _close(self) -> None:
        """The pipes of a life that is over; what nobody read of an order goes with them."""
        for pipe in (self._process.stdin, self._process.stdout) if self._process else ():
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()

    def _running(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "it was not started"
        return self._process


def _line(stream: IO[bytes], what: str) -> bytes:
    """The next line, empty where the process ended."""
    read = b""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while not read.endswith(b"\n"):
            if not selector.select(_SECONDS):
                raise TimeoutError(f"{what}: no answer within {_SECONDS:g} s")
            some = os.read(stream.fileno(), _WORDS)
            if not some:
                return b""
            read += some
    return read
