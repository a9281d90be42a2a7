"""Processes of `tidemark capture distribute` that come, go, freeze and die.

As a program: that command, on the tables of the proof instead of the warehouse's.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from threading import Timer
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final, Self

from tests.capture.distribution.stream import PARTITIONS, tables

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence
    from pathlib import Path

    from tidemark.capture.source_table import SourceTable

_MOST: Final = 4
# It ends 8 s after the signal at the latest; a busy machine starts and ends processes slowly.
_STOP_SECONDS: Final = 60.0
_TRY_AGAIN: Final = 75


class Members:
    """One to four of them; which one is chosen by `chance`."""

    def __init__(self, servers: str, folder: Path, command: Sequence[str], chance: random.Random) -> None:
        """`command` is tidemark's, on the tables that are sent on."""
        self._environment = {**os.environ, "TIDEMARK_KAFKA": servers, "TIDEMARK_DATA": str(folder)}
        self._command = [*command, "capture", "distribute", "--json", "--partitions", str(PARTITIONS)]
        self._chance = chance
        self._running: list[subprocess.Popen[str]] = []
        self._thaws: list[Timer] = []
        self._lost = 0

    def __enter__(self) -> Self:
        self.at_least(2)
        return self

    def __exit__(self, *_: object) -> None:
        for timer in self._thaws:
            timer.cancel()
        for member in self._running:
            member.kill()
            member.wait()

    def at_least(self, count: int) -> None:
        """Nobody ends by himself, except who was started while the broker was away."""
        ended = [member for member in self._running if member.poll() is not None]
        for member in ended:
            out, err = member.communicate()
            assert member.returncode == _TRY_AGAIN, f"a member ended with {member.returncode}: {out}{err}"
            self._running.remove(member)
        while len(self._running) < count:
            self._running.append(self._start_member())

    def join(self) -> None:
        self.at_least(min(_MOST, len(self._running) + 1))

    def kill(self) -> None:
        """One dies, and another takes its place, at once or some seconds later."""
        process = self._take_random()
        process.kill()
        process.communicate()
        time.sleep(self._chance.choice((0.0, 0.0, 3.0)))
        self.at_least(2)

    def leave(self) -> None:
        """One is asked to stop."""
        self._stop(self._take_random())
        self.at_least(1)

    def freeze(self, seconds: float) -> None:
        """One stands still until the group has gone on without it, then goes on as if nothing had been."""
        self.at_least(1)
        process = self._chance.choice(self._running)
        process.send_signal(signal.SIGSTOP)
        self._thaws.append(Timer(seconds, process.send_signal, [signal.SIGCONT]))
        self._thaws[-1].start()

    def stop(self) -> int:
        """All of them; how often their sessions were lost."""
        for timer in self._thaws:
            timer.join()
        while self._running:
            self._stop(self._running.pop())
        return self._lost

    def _take_random(self) -> subprocess.Popen[str]:
        self.at_least(1)
        return self._running.pop(self._chance.randrange(len(self._running)))

    def _stop(self, process: subprocess.Popen[str]) -> None:
        # One that stands still would not hear it.
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=_STOP_SECONDS)
        assert process.returncode in (0, -signal.SIGTERM, _TRY_AGAIN), f"{process.returncode}: {out}{err}"
        if process.returncode == 0:
            self._lost += json.loads(out)["sessions_lost"]

    def _start_member(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self._command, env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )


def command(database: str) -> list[str]:
    """The command on the stream's tables."""
    return [sys.executable, "-m", __name__, database]


def main(sources: Sequence[SourceTable], arguments: list[str]) -> None:
    """The command itself, on these tables."""
    from tidemark.console.main import main as tidemark
    from tidemark.warehouse import warehouse

    declared = SimpleNamespace(source_tables=lambda: sources)
    warehouse.load_warehouse = lambda *_: declared  # type: ignore[assignment]
    tidemark(arguments)


if __name__ == "__main__":
    main(tables(sys.argv[1]), sys.argv[2:])
