"""A worker's process, from its host's side."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import traceback
from dataclasses import dataclass, field
from threading import Thread, Timer
from typing import TYPE_CHECKING, Final

import psutil

from tidemark.strict_json import json_text
from tidemark.system.settings import ENV_PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tidemark.warm_runs.warm_workers import WarmWorkers
    from tidemark.warm_runs.worker_options import WarmWorkerOptions

_GRACE_SECONDS: Final = 15.0
"""How long a run may take to end after an interrupt."""
_MODULE: Final = "tidemark.warm_runs.worker_main"
_PLACE: Final = f"{ENV_PREFIX}PLACE"
_MEGABYTE: Final = 1_048_576


@dataclass(eq=False)
class WorkerProcess:
    """A worker's process. It has its host's lock, and a pipe that shows when the host is gone."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    timers: list[Timer] = field(default_factory=list)

    @property
    def pid(self) -> int:
        return self.process.pid

    def run(self, run_id: str) -> None:
        try:
            self.control.sendall(json_text({"run": run_id}).encode() + b"\n")
        except OSError:  # it has just died: the reader notifies the host, which closes the run
            return

    def interrupt(self) -> None:
        self._signal(signal.SIGINT)
        self._kill_after(_GRACE_SECONDS)

    def end(self) -> None:
        try:
            self.control.shutdown(socket.SHUT_WR)
        except OSError:
            return
        finally:
            self._kill_after(_GRACE_SECONDS)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def follow(self, warm_workers: WarmWorkers) -> None:
        """Pass the process's messages to the host until it ends."""
        with self.control, self.control.makefile("r") as lines:
            try:
                for line in lines:
                    said = json.loads(line)
                    if "ready" in said:
                        warm_workers.is_ready(self)
                    elif "broken" in said:
                        warm_workers.is_broken(self, gives_back=said["gives_back"])
                    elif "alive" in said:
                        warm_workers.is_alive(self)
                    else:
                        warm_workers.is_done(self, self.megabytes(), ended=said["ended"])
            except Exception:  # noqa: BLE001 - a worker that cannot be followed is ended, and its run is closed
                traceback.print_exc()
                self.process.kill()
        status = self.process.wait()
        for timer in self.timers:
            timer.cancel()
        warm_workers.is_gone(self, f"was ended by signal {-status}" if status < 0 else f"ended with status {status}")

    def megabytes(self) -> float:
        """Resident memory in MiB, with that of its JVM."""
        try:
            family = [worker := psutil.Process(self.pid), *worker.children(recursive=True)]
            return float(sum(process.memory_info().rss for process in family)) / _MEGABYTE
        except psutil.NoSuchProcess:
            return 0.0

    def _kill_after(self, seconds: float) -> None:
        timer = Timer(seconds, self._signal, [signal.SIGKILL])
        timer.daemon = True
        timer.start()
        self.timers.append(timer)

    def _signal(self, number: signal.Signals) -> None:
        if self.process.poll() is None:
            self.process.send_signal(number)


def starter(
    options: WarmWorkerOptions, home: Path, log: Path, lock: int, life: int
) -> Callable[[WarmWorkers, str], WorkerProcess]:
    """A function that starts workers of a place.

    `lock` is the descriptor of the host's lock, `life` the reading end of its pipe.
    """
    given = json_text({"modules": options.modules, "spark": options.spark})

    def start(warm_workers: WarmWorkers, place: str) -> WorkerProcess:
        ours, theirs = socket.socketpair()
        with theirs, log.open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", _MODULE, str(theirs.fileno()), str(life), str(home), given],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=(theirs.fileno(), life, lock),
                env={**os.environ, "DAGSTER_HOME": str(home), **({_PLACE: place} if place else {})},
            )
        worker = WorkerProcess(process, ours)
        Thread(target=worker.follow, args=[warm_workers], daemon=True).start()
        return worker

    return start
