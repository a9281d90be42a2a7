"""One process of a center that is killed and started again, and what has to hold in the end.

The process reports what arrives, launches what is ready, lets runs finish and reports that, until all is done. It may
be killed anywhere: at a named point, after some time, or by its database going away.
"""

from __future__ import annotations

import os
import random
import signal
import time
import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tests.center.launchers import FileLauncher
from tests.dependency_model.world import graph
from tidemark.center.center import DependencyCenter
from tidemark.center.dispatch import Dispatch
from tidemark.center.fact import Fact
from tidemark.center.launch_policy import LaunchPolicy
from tidemark.center.pools import Pools
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, RunState
from tidemark.state_store.database import Database
from tidemark.state_store.errors import StateStoreDownError
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts
from tidemark.system.crash_points import ENV_NAME

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.dependency_model.graph import DependencyGraph

POINTS = ("center.staged", "center.written", "dispatch.chosen", "dispatch.noted", "dispatch.launched")
SINCE = datetime(2024, 5, 31, tzinfo=UTC)
NOW = datetime(2024, 6, 4, tzinfo=UTC)
DAYS = ("2024-05-31", "2024-06-01", "2024-06-02", "2024-06-03")
MOST_SECONDS = 60.0


def world() -> DependencyGraph:
    return graph(
        ods="{period: day, kind: Virtual}",
        clicks="{period: day, kind: Virtual}",
        dwd="{period: day, depends_on: [ods]}",
        running="{period: day, depends_on: [dwd, {entity: running, offset: Set -1}], start: 2024-06-01}",
        weak="{period: day, depends_on: [{entity: clicks, offset: 'Set -1,0', weak: {any_of: true}}]}",
        ads="{period: day, depends_on: [dwd, weak]}",
    )


def wanted_slices(graph: DependencyGraph) -> list[Slice]:
    """What has to be there in the end."""
    slices = [Slice(name, day) for name in ("dwd", "weak", "ads") for day in DAYS]
    return [*slices, *(Slice("running", day) for day in DAYS[1:])]


def live(url: str, file: Path, seed: int) -> None:
    """Work until everything that is wanted is completed; then backfill one slice, and everything again."""
    chance, launcher, dependency_graph = random.Random(seed), FileLauncher(file), world()
    begun = time.monotonic()
    while time.monotonic() - begun < MOST_SECONDS:
        try:
            if _survives(url, launcher, dependency_graph, chance):
                return
        except StateStoreDownError:
            time.sleep(0.02)
    raise TimeoutError("stuck")


def _survives(url: str, launcher: FileLauncher, graph: DependencyGraph, chance: random.Random) -> bool:
    store = StateStore(Database(url))
    center = DependencyCenter(graph, store, since=SINCE, clock=lambda: NOW)
    policy = LaunchPolicy(together=2)
    dispatch = Dispatch(center, launcher, Pools.parse("default=4"), policy=policy, clock=lambda: NOW)
    arrivals = [
        Fact(f"arrived {name} {day}", Slice(name, day), Event.OBSERVED, NOW, "test")
        for name in ("ods", "clicks")
        for day in DAYS
    ]
    chance.shuffle(arrivals)
    while not _is_done(center, wanted_slices(graph)):
        if arrivals:
            center.report([arrivals.pop() for _ in range(min(len(arrivals), chance.randrange(1, 4)))])
        dispatch.step()
        _finish_some(center, launcher, chance)
    center.report([Fact("backfill", Slice("dwd", DAYS[0]), Event.BACKFILL_REQUESTED, NOW, "test")])
    while not (center.status(Slice("ads", DAYS[0])).generation == 2 and _is_done(center, wanted_slices(graph))):
        dispatch.step()
        _finish_some(center, launcher, chance)
    store.close()
    return True


def _is_done(center: DependencyCenter, slices: list[Slice]) -> bool:
    return all(center.status(slice_).run_state is RunState.COMPLETED for slice_ in slices)


def _finish_some(center: DependencyCenter, launcher: FileLauncher, chance: random.Random) -> None:
    runs = {run for run, _ in center.under_way().values() if run}
    for run in sorted(runs):
        if chance.random() < 0.7:
            launcher.finish(run)
            slices = launcher.runs().get(run, [])
            center.report([_completion(run, slice_) for slice_ in slices for _ in range(chance.randrange(1, 3))])


def _completion(run: str, slice_: Slice) -> Fact:
    return Fact(f"{run} {slice_}", slice_, Event.COMPLETED, NOW, "test", data=Facts(run_id=run))


def start(url: str, file: Path, seed: int, point: str | None) -> int:
    """The process, as a fork: it starts in no time."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        os.environ[ENV_NAME] = point or ""
        live(url, file, seed)
        status = 0
    finally:
        if status:
            traceback.print_exc()
        os._exit(status)


def killed_until_done(url: str, file: Path, seed: int) -> int:
    """Kill the process a few times, then let it end; returns how often it was killed."""
    chance, kills = random.Random(seed), 0
    for attempt in range(chance.randrange(1, 5)):
        by_point = chance.random() < 0.7
        point = f"{chance.choice(POINTS)}:{chance.randrange(1, 9)}" if by_point else None
        pid = start(url, file, seed * 100 + attempt, point)
        if not by_point:
            time.sleep(chance.random() * 0.1)
            os.kill(pid, signal.SIGKILL)
        kills += os.waitpid(pid, 0)[1] == signal.SIGKILL
    pid = start(url, file, seed * 100 + 99, None)
    assert os.waitpid(pid, 0)[1] == 0, "stuck, or an error"
    return kills


def problems(url: str, file: Path) -> list[str]:
    """What is wrong in the end: lost, doubled, early."""
    dependency_graph, launcher, store = world(), FileLauncher(file), StateStore(Database(url))
    launched = [slice_ for slices in launcher.runs().values() for slice_ in slices]
    problems = []
    for slice_ in wanted_slices(dependency_graph):
        current = store.read.current(slice_)
        generation = current.status.generation if current else 0
        if launched.count(slice_) != generation:
            problems.append(f"{slice_}: launched {launched.count(slice_)} times, generation {generation}")
        if current is None or current.status.run_state is not RunState.COMPLETED:
            problems.append(f"{slice_}: lost")
    store.close()
    return [*problems, *_early(dependency_graph, launcher)]


def _early(graph: DependencyGraph, launcher: FileLauncher) -> list[str]:
    """Runs that began before what they need had ended at all."""
    runs, ended, problems = launcher.runs(), set[Slice](), []
    for line in launcher.lines():
        slices = runs[str(line["run"])]
        if "ended" in line:
            ended.update(slices)
            continue
        for slice_ in slices:
            needed = (input_ for clause in graph.requirements(slice_) for input_ in clause.slices)
            missing = [input_ for input_ in needed if input_.entity not in ("ods", "clicks") and input_ not in ended]
            problems += [f"{slice_}: began before {input_}" for input_ in missing]
    return problems
