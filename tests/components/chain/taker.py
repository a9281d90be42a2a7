"""The capture process as who starts it sees it: killed, started again, and what it said so far."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Self

from tests.project import CHECKOUT
from tidemark.console.servers.server_process import ServerProcess, start
from tidemark.system.crash_points import ENV_NAME

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator
    from pathlib import Path

POINTS: Final = (
    "ingest.before_commit",
    "merge.files_written",
    "merge.committed",
    "ingest.after_commit",
    "ingest.before_tags",
    "ingest.after_tags",
)
_POINT_SECONDS: Final = 60.0
_WORK_SECONDS: Final = 120.0
_AT_ONCE: Final = 0.3


class Taker:
    """One process of `chain.capture`, and the next one when it ended."""

    def __init__(self, folder: Path, servers: str, warehouse: Path, declared: Path) -> None:
        self.folder = folder
        self.starts = 0
        program = [sys.executable, "-m", "tests.components.chain.capture"]
        self._command = [*program, str(folder), servers, str(warehouse), str(declared)]
        self._process = self._start({})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()

    def tend(self) -> None:
        """Nothing but a signal ends it; who is not there is started again."""
        ended = self._process.process.poll()
        if ended is not None:
            assert ended == -signal.SIGKILL, f"the capture ended with {ended}: {self._process.log_tail()}"
            self._again({})

    def let_work(self, chance: random.Random) -> None:
        """Mostly until it has made a step since it was started, and then for a moment; else it would never get on."""
        if chance.random() < _AT_ONCE:
            return
        deadline = time.monotonic() + _WORK_SECONDS
        while self._is_fresh() and time.monotonic() < deadline:
            time.sleep(0.2)
        time.sleep(chance.uniform(0.0, 5.0))

    def _is_fresh(self) -> bool:
        said = [*self.steps()]
        return not said or "started" in said[-1]

    def kill(self) -> None:
        """The process alone: its JVM ends what it is at, and goes when it sees that nobody is there."""
        with suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGKILL)
        self._process.process.wait()
        self._again({})

    def kill_all(self) -> None:
        """With its JVM, as when the machine goes."""
        self._process.kill()
        self._again({})

    def kill_at(self, point: str, times: int) -> None:
        """It dies by itself when it comes to a point for that time."""
        self._process.kill()
        self._again({ENV_NAME: f"{point}:{times}"})
        deadline = time.monotonic() + _POINT_SECONDS
        while self._process.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        self._process.kill()
        self._again({})

    def stop(self) -> None:
        """For good."""
        self._process.kill()

    def steps(self) -> Iterator[dict[str, Any]]:
        """What all of them said; the last line may be half of one."""
        path = self.folder / "steps.jsonl"
        for line in path.read_text().splitlines() if path.exists() else ():
            with suppress(json.JSONDecodeError):
                yield json.loads(line)

    def count_taken(self) -> int:
        """Changes, but for those of steps that were killed before they could tell."""
        return sum(step.get("changes", 0) for step in self.steps())

    def errors(self) -> dict[str, int]:
        """Steps that failed, by the error."""
        return dict(Counter(step["error"] for step in self.steps() if "error" in step))

    def _again(self, environment: dict[str, str]) -> None:
        self._process = self._start(environment)

    def _start(self, environment: dict[str, str]) -> ServerProcess:
        self.starts += 1
        self.folder.mkdir(parents=True, exist_ok=True)
        return start("the capture", self._command, self.folder, environment={**os.environ, **_PATH, **environment})


# It runs in its own folder.
_PATH: Final = {"PYTHONPATH": str(CHECKOUT)}
