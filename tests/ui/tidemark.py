"""`tidemark up` as a person starts it, and how it has to end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.world import World

_STOP_SECONDS = 30


@dataclass(frozen=True)
class RunningUi:
    """A `tidemark up` that is ready."""

    url: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


@contextmanager
def tidemark_up(world: World) -> Iterator[RunningUi]:
    """Serve the UI on a free port; in the end stop it as Ctrl-C does and prove that nothing of it remains."""
    command = [sys.executable, "-m", "tidemark.console", "up", "--port", "0", "--json"]
    with subprocess.Popen(command, env=world.environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            # `up` bounds its own start, so this line comes, or the end of the output.
            line = process.stdout.readline()
            assert line, f"tidemark up ended with {process.wait()}"
            ready = json.loads(line)
            assert not ready.get("error"), ready
            assert ready["load_errors"] == []
            yield RunningUi(ready["url"], process)
        finally:
            _stop(process)


def _stop(process: subprocess.Popen[str]) -> None:
    family = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    process.send_signal(signal.SIGINT)
    try:
        status = process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        for member in [psutil.Process(process.pid), *family]:
            member.kill()
        raise
    assert status == 0
    assert [member for member in family if _alive(member)] == []


def _alive(member: psutil.Process) -> bool:
    """Running; one that ended and waits to be reaped is not."""
    try:
        return member.is_running() and member.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
