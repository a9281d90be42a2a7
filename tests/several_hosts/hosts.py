"""Machines that are played by process groups: each has its own copy of the project, data folder and DAGSTER_HOME.

They share a PostgreSQL server, for the state store and for Dagster, and a bucket. The function that computes a slice
says that it has begun, and waits while its machine is held: so that what is killed is killed in the middle of a run.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import psutil
import yaml

from tests.project import CHECKOUT
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

ENTITIES: Final = ("small_0", "small_1")
START: Final = "2026-03-01"
GATE: Final = "HOSTS_GATE"
SECONDS: Final = 400.0
_FUNCTION: Final = """
import os
import time
from pathlib import Path

from pyspark.sql import functions as F


def compute({feed}, *, biz_date):
    gate, host = Path(os.environ["{gate}"]), os.environ["TIDEMARK_HOST"]
    (gate / f"begun {entity} {{biz_date:%Y-%m-%d}} {{host}}").touch()
    while (gate / f"hold {{host}}").exists():
        time.sleep(0.05)
    return {feed}.where(F.col("dt") == F.lit(biz_date)).select((F.col("id") * 2).alias("twice"))
"""
_CENTER: Final = ("-m", "tests.several_hosts.center_process")
_WORKERS: Final = ("-m", "tidemark.console", "workers")


def feed_of(number: int, day: str) -> list[int]:
    """What somebody else writes for a day."""
    return list(range(1, 10 * (number + 1) + int(day[-2:])))


def rows_of(entity: str, day: str) -> list[int]:
    """The plain model: what a slice has to hold."""
    return [2 * row for row in feed_of(ENTITIES.index(entity), day)]


def write_template(folder: Path, dagster_url: str) -> None:
    """A project as `tidemark init` writes it, with two small tables and PostgreSQL for Dagster."""
    subprocess.run(
        [sys.executable, "-m", "tidemark.console", "init", str(folder), "--empty"],
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )
    declared = folder / "warehouse_assets" / "ads"
    declared.mkdir(parents=True)
    (folder / "warehouse_assets" / "project.yaml").write_text(f"start: {START}\n")
    for number, entity in enumerate(ENTITIES):
        (declared / f"feed_{number}.yaml").write_text("{period: day, kind: Virtual}")
        (declared / f"feed_{number}.sql").write_text("SELECT CAST(1 AS BIGINT) AS id\n")
        (declared / f"{entity}.yaml").write_text(
            f"{{period: day, depends_on: [{{entity: feed_{number}, offset: Set 0}}]}}"
        )
        text = _FUNCTION.format(gate=GATE, entity=entity, feed=f"feed_{number}")
        (declared / f"{entity}.py").write_text(text)
    home = folder / "dagster_home" / "dagster.yaml"
    given = yaml.safe_load(home.read_text())
    home.write_text(yaml.safe_dump({**given, "storage": {"postgres": {"postgres_url": dagster_url}}}))


def goes_on(process: psutil.Popen) -> bool:
    """Not so where it has ended, and nobody has asked how."""
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


@dataclass
class Machine:
    """One process group's world; everything of it is below `folder`."""

    name: str
    folder: Path
    shared: Mapping[str, str]
    processes: list[psutil.Popen] = field(default_factory=list)

    def __post_init__(self) -> None:
        shutil.copytree(self.folder.parent / "template", self.folder / "project")
        (self.folder / "data").mkdir()
        self.home.mkdir()
        shutil.copyfile(self.folder / "project" / "dagster_home" / "dagster.yaml", self.home / "dagster.yaml")

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def environment(self) -> dict[str, str]:
        own = {"TIDEMARK_HOST": self.name, "TIDEMARK_DATA": str(self.folder / "data"), "DAGSTER_HOME": str(self.home)}
        return {**os.environ, **self.shared, **own, "TIDEMARK_ROOT": str(self.folder / "project")}

    def start(self, arguments: Sequence[str]) -> None:
        with (self.folder / "log").open("ab") as output:
            process = psutil.Popen(
                [sys.executable, *arguments],
                cwd=self.folder / "project",
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.processes = [process]

    def start_center(self) -> None:
        self.start(_CENTER)

    def start_workers(self) -> None:
        self.start(_WORKERS)

    def family(self) -> list[psutil.Process]:
        """Every process of the machine."""
        alive = [process for process in self.processes if process.is_running()]
        return [*alive, *(child for process in alive for child in process.children(recursive=True))]

    def freeze(self) -> list[psutil.Process]:
        """SIGSTOP to all of them; who started somebody meanwhile is asked again."""
        frozen: list[psutil.Process] = []
        while more := [process for process in self.family() if process not in frozen]:
            for process in more:
                process.send_signal(signal.SIGSTOP)
            frozen += more
        return frozen

    def wake(self) -> None:
        for process in self.family():
            process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """As by a power cut: stopped first, so that nobody tidies up after another one."""
        frozen = self.freeze()
        for process in frozen:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(frozen, 20)
        self.processes = []

    @property
    def told(self) -> str:
        files = [self.folder / "log", self.folder / "data" / "logs" / "workers.log"]
        return "\n".join(file.read_text(errors="replace")[-4_000:] for file in files if file.exists())


@dataclass
class SeveralHosts:
    """Two machines with workers, and one with the center alone."""

    folder: Path
    shared: Mapping[str, str]
    machines: dict[str, Machine] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("a", "b", "center"):
            (self.folder / name).mkdir()
            self.machines[name] = Machine(name, self.folder / name, self.shared)

    @property
    def gate(self) -> Path:
        return self.folder / "gate"

    def hold(self, *names: str) -> None:
        for name in names:
            (self.gate / f"hold {name}").touch()

    def let_go(self, *names: str) -> None:
        for name in names:
            (self.gate / f"hold {name}").unlink()

    def begun(self, day: str) -> dict[str, set[str]]:
        """By machine the entities whose slice of a day it has begun to compute."""
        begun: dict[str, set[str]] = {"a": set(), "b": set()}
        for file in self.gate.glob(f"begun * {day} *"):
            _, entity, _, host = file.name.split(" ")
            begun[host].add(entity)
        return begun

    def until(self, condition: Callable[[], bool], what: str) -> None:
        def holds() -> bool:
            for machine in self.machines.values():
                assert all(map(goes_on, machine.processes)), f"{machine.name} has ended"
            return condition()

        try:
            until(holds, what)
        except AssertionError as error:
            told = "\n".join(f"--- {machine.name}\n{machine.told}" for machine in self.machines.values())
            raise AssertionError(f"{error}\n{told}") from None


@contextmanager
def several_hosts(folder: Path, dagster_url: str, environment: Mapping[str, str]) -> Iterator[SeveralHosts]:
    """The machines, none of them started; whatever happens, nothing is left of them."""
    write_template(folder / "template", dagster_url)
    (folder / "gate").mkdir()
    (folder / "engine").mkdir()  # without this checkout's own project, whose packages are called as the machines' are
    for package in ("tidemark", "tests"):
        (folder / "engine" / package).symlink_to(CHECKOUT / package)
    shared = {
        **environment,
        "TIDEMARK_POOLS": "default=1",
        "TIDEMARK_SPARK_MASTER": "local[1]",
        "TIDEMARK_SPARK_MEMORY": "512m",
        "PYTHONPATH": str(folder / "engine"),
        GATE: str(folder / "gate"),
    }
    made = SeveralHosts(folder, shared)
    try:
        yield made
    finally:
        for machine in made.machines.values():
            machine.kill()
