"""The lines of docs/cluster.md, one after the other, on servers of this machine.

Only the names of hosts and what opens their doors are other ones.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psycopg2
import pytest

from tests.components.s3_server import S3Server, s3_server
from tests.docs.written_commands import ROOT
from tidemark.system.free_port import LOOPBACK, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.components.postgres import Postgres

_BLOCK: Final = re.compile(r"```bash\n(.*?)```", re.DOTALL)
_STAYS: Final[Mapping[str, str]] = {
    "spark-class org.apache.spark.deploy.master.": "Starting Spark master",
    "spark-class org.apache.spark.deploy.worker.": "Successfully registered",
    "tidemark workers": "tidemark workers --list",
}
"""Lines that go on, by how they begin, and what they say when they are ready."""
_SECONDS: Final = 1_800.0
_READY_SECONDS: Final = 90.0


def lines() -> list[str]:
    """The commands of the page."""
    block = _BLOCK.search((ROOT / "docs" / "cluster.md").read_text(encoding="utf-8"))
    assert block is not None, "docs/cluster.md has no commands"
    return block[1].splitlines()


def test_it_is_ten_lines_at_most() -> None:
    assert 5 < len(lines()) <= 10


def local_names(postgres: Postgres, store: S3Server, master: int) -> dict[str, str]:
    """What the page has for other machines, and what it is here."""
    return {
        "tidemark@db.example:5432": postgres.dsn.removeprefix("postgresql://").rpartition("/")[0],
        "https://storage.example:9000": store.environment["AWS_ENDPOINT_URL"],
        "=KEY": f"={store.access_key}",
        "=SECRET": f"={store.secret_key}",
        "--host spark-master --port 7077": f"--host {LOOPBACK} --port {master} --webui-port 0",
        "Worker spark://": "Worker --cores 1 --memory 1g --webui-port 0 spark://",
        "spark-master:7077": f"{LOOPBACK}:{master}",
    }


def make_databases(postgres: Postgres) -> None:
    """Those that the section asks for."""
    connection = psycopg2.connect(postgres.dsn)
    connection.autocommit = True
    with connection.cursor() as cursor:
        for name in ("state", "olap", "dagster"):
            cursor.execute(f"CREATE DATABASE {name}")
    connection.close()


class Terminal:
    """A shell that keeps what was exported from line to line, in a project's folder."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.project, self._log, self._stack = folder / "school", folder / "terminal.log", stack
        self._state = folder / "exported"
        self._state.write_text("")

    def type(self, line: str) -> str:
        """Run a line to its successful end, or until it says that it is ready; what it told."""
        words = next((words for start, words in _STAYS.items() if line.startswith(start)), None)
        if words is not None:
            self._stack.enter_context(self._server(line, words))
            return ""
        script = f"set -ae\n. {self._state}\n{line}\nexport -p > {self._state}\n"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.project if self.project.is_dir() else self._log.parent,
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout[-3_000:]}\n{done.stderr[-3_000:]}"
        return done.stdout

    @staticmethod
    def _environment() -> dict[str, str]:
        """That of a terminal in which Tidemark's own environment of Python is activated."""
        own = {name: value for name, value in os.environ.items() if not name.startswith(("TIDEMARK_", "DAGSTER_"))}
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        return {**own, "PATH": path, "SPARK_LOCAL_IP": LOOPBACK, "SPARK_DAEMON_MEMORY": "256m"}

    @contextmanager
    def _server(self, line: str, words: str) -> Iterator[None]:
        log = self._log.with_name(f"{line.split()[1].rpartition('.')[2]}_{time.monotonic_ns()}.log")
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["bash", "-c", f". {self._state}\nexec {line}"],
                cwd=self.project,
                env={**self._environment(), "SPARK_WORKER_DIR": str(log.with_suffix(""))},
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            end = time.monotonic() + _READY_SECONDS
            while words not in log.read_text(errors="replace"):
                assert time.monotonic() < end, log.read_text(errors="replace")[-2_000:]
                assert process.poll() is None, log.read_text(errors="replace")[-2_000:]
                time.sleep(0.1)
            yield
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=60)


@pytest.mark.components
@pytest.mark.long
@pytest.mark.timeout(2_400)
def test_each_line_runs(tmp_path: Path, postgres_server: Postgres) -> None:
    with s3_server(tmp_path / "s3") as store, ExitStack() as stack:
        make_databases(postgres_server)
        names, terminal = local_names(postgres_server, store, free_port()), Terminal(tmp_path, stack)
        terminal.type("tidemark init school --sample school")
        told: list[str] = []
        for line in lines():
            for name, here in names.items():
                line = line.replace(name, here)  # noqa: PLW2901 - the line as it is typed here
            told.append(terminal.type(line))
        assert "200 of 200" in "".join(told), told
        assert (store.folder / "lake" / "warehouse" / "ads_gmv_course").is_dir()
        assert not (terminal.project / "data" / "state.db").exists()
