"""Processes and a database that are killed while slices arrive, and what has to hold in the end.

    python -m tests.center.service_chaos SEED TRIALS

Two centers, a daemon with the readiness sensor, two warm workers and PostgreSQL. Each trial is a day of slices
that arrive within some seconds, and somebody's death among them; the database is killed by a clock of its own. All
draws come from the seed, so that a number of trials is the same story again, but for the machine's own timing.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

import dagster as dg
import psutil
from dagster_postgres.utils import DagsterPostgresException
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from benchmarks.launch.location import SENSOR, START
from benchmarks.launch.row import slices_of
from benchmarks.launch.world import LaunchWorld
from tests.components.postgres import Postgres, postgres
from tests.processes import command_line
from tidemark.console.dagster_server.stop_process_session import stop_session
from tidemark.dagster_internals.long_lived_connections import keep_connections
from tidemark.errors import TransientError
from tidemark.state_store.schema import SLICES
from tidemark.state_store.store import StateStore
from tidemark.system.settings import Settings
from tidemark.warm_runs.host_supervisor import WorkerHostSupervisor

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator, Sequence

PAIRS: Final = 50
VICTIMS: Final = ("center", "center", "worker", "worker", "worker", "host", "daemon", "centers")
DATABASE_SECONDS: Final = (5.0, 40.0)
_ARRIVAL_SECONDS: Final = 0.06
_TRIAL_SECONDS: Final = 150.0
_END_SECONDS: Final = 120.0
_DOWN: Final = (DBAPIError, DagsterPostgresException, TransientError)


@dataclass
class Kept:
    """A process that is started again when it is gone; the leader of a session.

    What it started may go on for a while: a code server lets its runs end.
    """

    start: Callable[[], subprocess.Popen[bytes]]
    process: subprocess.Popen[bytes] = field(init=False)
    former: list[subprocess.Popen[bytes]] = field(default_factory=list)
    again_at: float = 0.0

    def __post_init__(self) -> None:
        self.process = self.start()

    def check(self) -> None:
        if self.process.poll() is not None and time.monotonic() >= self.again_at:
            self.again_at = time.monotonic() + 1
            self.former.append(self.process)
            self.process = self.start()

    def kill(self, pause: float = 0.0) -> None:
        """It comes back after a pause."""
        self.again_at = time.monotonic() + pause
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """For good, with all that is left of its sessions."""
        self.again_at = float("inf")
        for process in (self.process, *self.former):
            stop_session(process)


class ChaosWorld(LaunchWorld):
    """Everything that runs, on one database."""

    def start_daemon(self) -> subprocess.Popen[bytes]:
        """Dagster's daemon with its code server: the readiness sensor, and the queue of what it asks for."""
        arguments = ["-m", "dagster._daemon", "run", "--workspace", str(self.workspace)]
        return self.start(arguments, "daemon.log", {SENSOR: "1"})

    def processes(self, module: str) -> list[psutil.Process]:
        """Processes of a Python module that belong to this world."""
        return [
            process
            for process in psutil.process_iter()
            if module in (words := " ".join(command_line(process))) and str(self.folder) in words
        ]


class Chaos:
    """Trials on one world."""

    def __init__(self, world: ChaosWorld, server: Postgres, instance: dg.DagsterInstance, seed: int) -> None:
        self.world, self.server, self._instance, self._seed = world, server, instance, seed
        self.deaths: Counter[str] = Counter()
        self.told: list[tuple[int, str]] = []
        self._database = StateStore.of(Settings.load(world.environment)).database
        self._keeper = WorkerHostSupervisor(world.home, world.folder / "workers.log", world.environment)
        self._centers = [Kept(lambda name=f"center-{number}.log": world.start_center(name)) for number in range(2)]  # type: ignore[misc]
        self._daemon = Kept(world.start_daemon)
        self._stopped = Event()
        self._clock = Thread(target=self._kill_database, args=[random.Random(seed)], daemon=True)

    def begin(self) -> None:
        """The first slices show that everything is up; then the database's clock begins."""
        self._arrive(0, START)
        self._until(lambda: self._missing(START, 1) == 0, "the first slice")
        self._clock.start()

    def trial(self, number: int) -> None:
        """One day's slices and one death."""
        chance = random.Random(f"{self._seed}:{number}")
        day = (date.fromisoformat(START) + timedelta(days=1 + number)).isoformat()
        fatal, victim = chance.randrange(PAIRS), chance.choice(VICTIMS)
        for pair in range(PAIRS):
            time.sleep(chance.random() * 2 * _ARRIVAL_SECONDS)
            self._arrive(pair, day)
            if pair == fatal:
                self._kill(victim, chance)
        self._until(lambda: self._missing(day, PAIRS) == 0, f"slices of trial {number} ({victim}), seed {self._seed}")

    def end(self) -> None:
        """No more deaths: every run has ended, every slice was computed once, and nothing is left of the world."""
        self._stopped.set()
        self._clock.join()
        try:
            self._until(lambda: _all_ended(self._instance), "the end of all runs", _END_SECONDS)
            assert overlapping(self._instance.get_run_records()) == []
            assert materialization_counts(self._instance) == Counter(dict.fromkeys(self.told, 1))
        finally:
            self.stop()
        assert self.world.processes("python") == []

    def stop(self) -> None:
        self._stopped.set()
        if self._clock.is_alive():
            self._clock.join()
        self._keeper.stop()
        for kept in (*self._centers, self._daemon):
            kept.stop()
        for process in self.world.processes("warm_runs"):
            with suppress(psutil.TimeoutExpired):
                process.wait(20)
        self._database.close()
        self.server.server.stop()

    def _kill(self, victim: str, chance: random.Random) -> None:
        self.deaths[victim] += 1
        if victim == "center":
            chance.choice(self._centers).kill()
        elif victim == "centers":  # long enough for the sensor to take over
            pause = chance.uniform(0, 12)
            for center in self._centers:
                center.kill(pause)
        elif victim == "daemon":
            self._daemon.kill(chance.uniform(0, 3))
        else:
            processes = self.world.processes(f"tidemark.warm_runs.{victim}")
            with suppress(psutil.NoSuchProcess, IndexError):
                chance.choice(processes).kill()

    def _kill_database(self, chance: random.Random) -> None:
        while not self._stopped.wait(chance.uniform(*DATABASE_SECONDS)):
            self.server = self.server.killed_and_started_again()
            self.deaths["database"] += 1

    def _arrive(self, number: int, day: str) -> None:
        """A feed's slice is there, told once: what is not known to be written is looked for before it is told again."""
        key = dg.AssetKey([f"feed_{number}"])

        def is_told() -> bool:
            if not self._instance.fetch_materializations(dg.AssetRecordsFilter(key, [day]), limit=1).records:
                self._instance.report_runless_asset_event(dg.AssetMaterialization(key, partition=day))
            return True

        self._until(is_told, f"feed {number} to be written")
        self.told.append((number, day))

    def _missing(self, day: str, wanted: int) -> int:
        """How many slices of a day are not there yet, in their first generation."""
        is_there = (SLICES.c.life == "completed") & (SLICES.c.generation == 1)
        query = select(SLICES.c.entity).where(SLICES.c.entity.like("small%"), SLICES.c.key == day, is_there)
        with self._database.reading() as connection:
            return wanted - len(connection.execute(query).all())

    def _until(self, condition: Callable[[], bool], what: str, seconds: float = _TRIAL_SECONDS) -> None:
        """Wait, while the dead come back; a database that is down makes it false."""
        deadline = time.monotonic() + seconds
        while True:
            for kept in (*self._centers, self._daemon):
                kept.check()
            self._keeper.check()
            with suppress(*_DOWN):
                if condition():
                    return
            assert time.monotonic() < deadline, f"waited too long for {what}"
            time.sleep(0.1)


def overlapping(records: Sequence[dg.RunRecord]) -> list[str]:
    """Slices that two runs had at the same time, or that succeeded twice."""
    spans: dict[tuple[str, str], list[tuple[float, float, bool]]] = {}
    for record in records:
        is_success = record.dagster_run.status is dg.DagsterRunStatus.SUCCESS
        for slice_ in slices_of(record):
            spans.setdefault(slice_, []).append((record.start_time or 0.0, record.end_time or 0.0, is_success))
    problems = []
    for slice_, times in spans.items():
        ordered = sorted(span for span in times if span[0])
        problems += [f"{slice_} at once" for earlier, other in pairwise(ordered) if other[0] < earlier[1]]
        problems += [f"{slice_} twice"] if sum(is_success for *_, is_success in times) > 1 else []
    return problems


def materialization_counts(instance: dg.DagsterInstance) -> Counter[tuple[int, str]]:
    """How often each slice was materialized."""
    counts: Counter[tuple[int, str]] = Counter()
    for number in range(PAIRS):
        records = instance.fetch_materializations(dg.AssetKey([f"small_{number}"]), limit=10_000).records
        counts.update((number, record.partition_key or "") for record in records)
    return counts


@contextmanager
def chaos(folder: Path, seed: int) -> Iterator[Chaos]:
    """A world under way on a database of its own; whatever happens, nothing is left of it."""
    with postgres() as server, ExitStack() as stack:
        world = ChaosWorld(folder, server.url, workers=2, retry_seconds=1.0)
        world.write(PAIRS)
        # First of all: two processes that make a new storage at once spoil it.
        instance = stack.enter_context(dg.DagsterInstance.from_config(str(world.home)))
        keep_connections(instance)
        made = Chaos(world, server, instance, seed)
        stack.callback(made.stop)
        made.begin()
        yield made


def trials(folder: Path, seed: int, count: int) -> Counter[str]:
    """Who died how often; AssertionError where a slice was not computed, or twice."""
    with chaos(folder, seed) as made:
        for number in range(count):
            made.trial(number)
        made.end()
        return made.deaths


def _all_ended(instance: dg.DagsterInstance) -> bool:
    return all(run.is_finished for run in instance.get_runs())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        begun = time.monotonic()
        died = trials(Path(temporary), int(sys.argv[1]), int(sys.argv[2]))
        print(dict(died), f"{time.monotonic() - begun:.0f} s")
