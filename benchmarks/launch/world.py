"""A Dagster home, a state store and a code location for the launch figure, with the processes that serve them."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import psutil
import yaml

from benchmarks._child import Child
from benchmarks.launch.location import MODULE, SENSOR, SPARK, write_declarations
from tidemark.center.service import ACROSS
from tidemark.console.dagster_server.server import DagsterServer
from tidemark.console.dagster_server.stop_process_session import stop_session
from tidemark.system.free_port import free_port
from tidemark.system.project_root import project_root
from tidemark.warm_runs.host_supervisor import WorkerHostSupervisor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

LAUNCHERS: Final = ("warm", "default")
_AHEAD: Final = 1
"""So many more runs are asked for than there are workers: what comes meanwhile shares the next one."""


@dataclass(frozen=True)
class Host:
    """What decides and runs: the ids of the processes whose work is counted, and the one that must not end."""

    pids: list[int]
    child: Child


@dataclass
class LaunchWorld:
    """Everything is below `folder`.

    `url` is a PostgreSQL database for Dagster and `state` one for the state store, or both are empty (SQLite).
    """

    folder: Path
    url: str = ""
    state: str = ""
    workers: int = 2
    launcher: str = "warm"
    retry_seconds: float = 0.0
    spark: bool = False
    across: int = ACROSS
    options: Mapping[str, Any] = field(default_factory=dict)

    def write(self, pairs: int) -> None:
        """The declarations, dagster.yaml and workspace.yaml."""
        write_declarations(self.folder / "data", pairs)
        self.home.mkdir(parents=True)
        given: dict[str, Any] = {"telemetry": {"enabled": False}, "concurrency": {"runs": {"max_concurrent_runs": 8}}}
        if self.url:
            given["storage"] = {"postgres": {"postgres_url": self.url}}
        if self.launcher == "warm":
            config = {"modules": [MODULE], "spark": self.spark, "workers": self.workers, **self.options}
            launcher = {"module": "tidemark.warm_runs.launcher", "class": "WarmRunLauncher", "config": config}
            given["run_launcher"] = launcher
        (self.home / "dagster.yaml").write_text(yaml.safe_dump(given))
        module = {"module_name": MODULE, "working_directory": str(project_root())}
        self.workspace.write_text(yaml.safe_dump({"load_from": [{"python_module": module}]}))

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace.yaml"

    @property
    def environment(self) -> Mapping[str, str]:
        return {
            **os.environ,
            "DAGSTER_HOME": str(self.home),
            "TIDEMARK_DATA": str(self.folder / "data"),
            "TIDEMARK_POOLS": f"default={self.workers + _AHEAD}",
            "PYTHONPATH": str(project_root()),
            **({"TIDEMARK_STATE": self.state} if self.state else {}),
            **({SPARK: "1"} if self.spark else {}),
        }

    def start_center(self, log: str = "center.log") -> subprocess.Popen[bytes]:
        """A center with its warm workers."""
        given = [str(self.workspace), str(self.retry_seconds), str(self.across)]
        return self.start(["-m", "benchmarks.launch.center_process", *given], log)

    def start(
        self, arguments: Sequence[str], log: str, env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """Python with these arguments, in a session of its own."""
        with (self.folder / log).open("ab") as output:
            return subprocess.Popen(
                [sys.executable, *arguments],
                cwd=project_root(),
                env={**self.environment, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @contextmanager
    def center(self) -> Iterator[Host]:
        """A center, until the block ends."""
        process = self.start_center()
        try:
            yield Host([process.pid], Child(process, self.folder / "center.log"))
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    @contextmanager
    def sensor(self) -> Iterator[Host]:
        """Dagster's daemon with the readiness sensor, until the block ends."""
        env = {**self.environment, SENSOR: "1"}
        server = DagsterServer.start(self.folder, self.home, free_port(), self.folder / "dagster.log", env)
        try:
            server.wait_until_ready()
            with WorkerHostSupervisor(self.home, self.folder / "workers.log", env) as workers:
                yield Host([server.process.pid, workers.pid], Child(server.process, self.folder / "dagster.log"))
        finally:
            stop_session(server.process)


def cpu_seconds(pids: list[int]) -> float:
    """Processor time so far of processes with all that they started, ended ones included."""
    total = 0.0
    for process in _family(pids):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def resident_megabytes(pids: list[int]) -> float:
    """Resident memory of processes with all that they started."""
    return sum(process.memory_info().rss for process in _family(pids) if process.is_running()) / 1_048_576


def _family(pids: list[int]) -> Iterator[psutil.Process]:
    for pid in pids:
        process = psutil.Process(pid)
        yield process
        yield from process.children(recursive=True)
