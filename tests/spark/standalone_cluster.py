"""A standalone cluster on loopback: a master and workers of one core each, from the Spark that the project installs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyspark

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_HOST: Final = "127.0.0.1"
_SPARK_CLASS: Final = Path(pyspark.__file__).parent / "bin" / "spark-class"
_SECONDS: Final = 60.0


@dataclass(frozen=True)
class StandaloneCluster:
    """`master` is its address; `workers` are its processes."""

    master: str
    workers: Sequence[subprocess.Popen[bytes]]

    def kill_worker(self, number: int) -> None:
        """As a machine that is gone: the worker with its executors."""
        os.killpg(self.workers[number].pid, signal.SIGKILL)


@contextmanager
def standalone_cluster(folder: Path, workers: int = 2) -> Iterator[StandaloneCluster]:
    """One whose workers are registered; nothing of it is left after."""
    with ExitStack() as stack:
        web = ("--webui-port", "0")
        log = folder / "master.log"
        stack.enter_context(_started(log, "master.Master", "--host", _HOST, "--port", "0", *web))
        master = _said(log, r"Starting Spark master at (spark://\S+)")
        started = []
        for number in range(workers):
            log = folder / f"worker_{number}.log"
            own = ("--host", _HOST, "--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"work_{number}"))
            started.append(stack.enter_context(_started(log, "worker.Worker", *own, *web, master)))
            _said(log, r"(Successfully registered with master)")
        yield StandaloneCluster(master, started)


@contextmanager
def _started(log: Path, name: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [str(_SPARK_CLASS), f"org.apache.spark.deploy.{name}", *arguments]
    environment = {**os.environ, "SPARK_LOCAL_IP": _HOST, "SPARK_DAEMON_MEMORY": "256m"}
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=_SECONDS)


def _said(log: Path, pattern: str) -> str:
    """What a process says in its log, as soon as it does."""
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        if match := re.search(pattern, log.read_text(errors="replace")):
            return match[1]
        time.sleep(0.1)
    raise AssertionError(f"{pattern} is not in {log}:\n{log.read_text(errors='replace')[-2000:]}")
