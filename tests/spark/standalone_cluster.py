"""A standalone cluster on loopback: a master and workers of one core each, from the Spark that the project installs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import pyspark

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HOST: Final = "127.0.0.1"
_SPARK_CLASS: Final = Path(pyspark.__file__).parent / "bin" / "spark-class"
_SECONDS: Final = 60.0


@dataclass
class StandaloneCluster:
    """`master` is its address, `pages` that of its web pages.

    `workers` are the processes of its workers, which begin with `environment` as well.
    """

    folder: Path
    environment: Mapping[str, str]
    master: str = ""
    pages: str = ""
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def executors(self) -> list[Path]:
        """The folders of the executors that its workers started, also of those that are gone."""
        return sorted(self.folder.glob("work_*/app-*/*"))

    def kill_worker(self, number: int) -> None:
        """As a machine that is gone: the worker with its executors."""
        os.killpg(self.workers[number].pid, signal.SIGKILL)
        self.workers[number].wait(timeout=_SECONDS)

    def start_worker_again(self, number: int) -> None:
        """The machine is back, and its worker registered."""
        self.workers[number] = self._worker(number)

    def _begin(self, workers: int) -> None:
        log = self._start("master", "master.Master", "--host", _HOST, "--port", "0")
        self.master = _said(log, r"Starting Spark master at (spark://\S+)")
        self.pages = _said(log, r"Bound MasterWebUI to \S+, and started at (http://\S+)")
        for number in range(workers):
            self.workers.append(self._worker(number))

    def _worker(self, number: int) -> subprocess.Popen[bytes]:
        own = ("--host", _HOST, "--cores", "1", "--memory", "1g", "--work-dir", str(self.folder / f"work_{number}"))
        log = self._start(f"worker_{number}", "worker.Worker", *own, self.master)
        _said(log, r"(Successfully registered with master)")
        return self._processes[-1]

    def _start(self, name: str, of_spark: str, *arguments: str) -> Path:
        """Start a process; returns its log, which begins anew."""
        log = self.folder / f"{name}.log"
        command = [str(_SPARK_CLASS), f"org.apache.spark.deploy.{of_spark}", *arguments, "--webui-port", "0"]
        environment = {**os.environ, **self.environment, "SPARK_LOCAL_IP": _HOST, "SPARK_DAEMON_MEMORY": "256m"}
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, stdout=output, stderr=subprocess.STDOUT, env=environment, start_new_session=True
            )
        self._processes.append(process)
        return log

    def _end(self) -> None:
        """Workers first: they end their executors."""
        for process in reversed(self._processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=_SECONDS)


@contextmanager
def standalone_cluster(
    folder: Path, workers: int = 2, environment: Mapping[str, str] = MappingProxyType({})
) -> Iterator[StandaloneCluster]:
    """One whose workers are registered; nothing of it is left after."""
    cluster = StandaloneCluster(folder, environment)
    try:
        cluster._begin(workers)
        yield cluster
    finally:
        cluster._end()


def _said(log: Path, pattern: str) -> str:
    """What a process says in its log, as soon as it does."""
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        if match := re.search(pattern, log.read_text(errors="replace")):
            return match[1]
        time.sleep(0.1)
    raise AssertionError(f"{pattern} is not in {log}:\n{log.read_text(errors='replace')[-2000:]}")
