"""Which worker takes which run, and when one is replaced: on workers that are no processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from tidemark.warm_runs.options import PoolOptions
from tidemark.warm_runs.worker_pool import Pool, Worker


@dataclass(eq=False)
class FakeWorker:
    pid: int
    given: list[str] = field(default_factory=list)
    is_ending: bool = False
    is_interrupted: bool = False
    is_killed: bool = False

    def run(self, run_id: str) -> None:
        self.given.append(run_id)

    def interrupt(self) -> None:
        self.is_interrupted = True

    def end(self) -> None:
        self.is_ending = True

    def kill(self) -> None:
        self.is_killed = True


@dataclass
class FakeRuns:
    said: list[tuple[str, str]] = field(default_factory=list)

    def take(self, run_id: str) -> None:
        self.said.append((run_id, "taken"))

    def ended(self, run_id: str) -> None:
        self.said.append((run_id, "ended"))

    def close(self, run_id: str, why: str) -> None:
        self.said.append((run_id, why))


class PoolWorld:
    """A pool of two workers, each made ready one after the other."""

    def __init__(self, **options: Any) -> None:
        self.runs, self.workers, self.version = FakeRuns(), list[FakeWorker](), 1
        self.pool = Pool(PoolOptions(**options), self._start, self.runs, lambda: self.version)
        self.pool.tick()

    def _start(self, _pool: Pool) -> Worker:
        self.workers.append(FakeWorker(len(self.workers)))
        return self.workers[-1]

    def ready(self, *numbers: int) -> None:
        for number in numbers:
            self.pool.is_ready(self.workers[number])

    def done(self, number: int, megabytes: float = 10, *, ended: bool = True) -> None:
        self.pool.is_done(self.workers[number], megabytes, ended=ended)

    def last(self, run_id: str) -> str:
        return [what for run, what in self.runs.said if run == run_id][-1]


@pytest.fixture
def world() -> PoolWorld:
    made = PoolWorld()
    made.ready(0, 1)
    return made


def test_workers_start_one_after_the_other_and_runs_wait_for_them() -> None:
    world = PoolWorld()
    assert world.pool.run("a")
    assert (len(world.workers), world.pool.where("a")) == (1, "waiting")
    world.ready(0)
    assert (len(world.workers), world.pool.where("a")) == (2, "running")
    world.ready(1)
    assert len(world.workers) == 2
    assert world.pool.run("b")
    assert [worker.given for worker in world.workers] == [["a"], ["b"]]


def test_a_run_is_taken_once(world: PoolWorld) -> None:
    assert [world.pool.run("a"), world.pool.run("a")] == [True, True]
    assert [worker.given for worker in world.workers] == [["a"], []]
    assert world.runs.said == [("a", "taken")]
    world.done(0)
    assert world.pool.where("a") == "unknown"
    assert world.runs.said == [("a", "taken"), ("a", "ended")]


def test_more_than_may_wait_are_for_somebody_else() -> None:
    world = PoolWorld(workers=1, waiting=2)
    world.ready(0)
    assert [world.pool.run(run) for run in "abcd"] == [True, True, True, False]
    assert world.pool.status()["waiting"] == 2


def test_a_worker_that_crashes_fails_its_run_and_is_replaced(world: PoolWorld) -> None:
    world.pool.run("a")
    world.pool.run("b")
    world.pool.run("c")
    world.pool.is_gone(world.workers[0], "was ended by signal 9")
    assert world.last("a") == "The worker that ran this (process 0) was ended by signal 9."
    assert len(world.workers) == 3
    assert world.pool.where("c") == "waiting"
    world.ready(2)
    assert world.workers[2].given == ["c"]
    assert world.pool.status()["crashed"] == 1


def test_a_run_that_its_worker_could_not_close_is_closed(world: PoolWorld) -> None:
    world.pool.run("a")
    world.done(0, ended=False)
    assert world.last("a") == "Its worker could not tell its end."


def test_a_worn_worker_serves_until_the_next_one_is_ready() -> None:
    world = PoolWorld(workers=1, runs_a_worker=2, megabytes=100)
    world.ready(0)
    for run in "ab":
        world.pool.run(run)
        world.done(0)
    first = world.workers[0]
    assert (len(world.workers), first.is_ending) == (2, False)
    world.pool.run("c")
    assert first.given == ["a", "b", "c"]
    world.ready(1)
    ends = [first.is_ending]  # its run goes on
    world.done(0)
    assert [*ends, first.is_ending] == [False, True]
    world.pool.is_gone(world.workers[0], "ended with status 0")
    world.pool.run("d")
    world.done(1, megabytes=101)
    assert len(world.workers) == 3
    assert world.pool.status()["crashed"] == 0


def test_code_that_changed_is_loaded_before_another_run(world: PoolWorld) -> None:
    world.pool.run("a")
    world.version = 2
    world.pool.tick()
    assert [worker.is_ending for worker in world.workers] == [False, True, False]
    world.pool.run("b")
    assert world.pool.where("b") == "waiting"
    world.ready(2)
    assert world.workers[2].given == ["b"]
    world.done(0)
    assert world.workers[0].is_ending


def test_a_run_that_is_stopped_takes_its_worker_with_it(world: PoolWorld) -> None:
    for run in "abc":
        world.pool.run(run)
    assert world.pool.stop_run("c")
    assert world.last("c") == "It was stopped before a worker had begun it."
    assert world.pool.stop_run("a")
    assert world.workers[0].is_interrupted
    world.done(0)
    assert world.workers[0].is_ending
    assert world.last("a") == "ended"
    assert not world.pool.stop_run("a")
    assert len(world.workers) == 3


def test_workers_that_do_not_start_are_not_tried_for_ever() -> None:
    world = PoolWorld()
    for number in range(3):
        world.pool.is_gone(world.workers[number], "ended with status 1")
    assert (len(world.workers), world.pool.run("a")) == (3, False)
    world.pool.tick()
    assert len(world.workers) == 3
    world.pool.retry_start()
    assert len(world.workers) == 4
    world.ready(3)
    assert world.pool.run("a")


def test_in_the_end_nothing_is_left(world: PoolWorld) -> None:
    for run in "abc":
        world.pool.run(run)
    world.pool.close()
    assert world.last("c") == "The pool of workers was stopped before this run had begun."
    assert all(worker.is_interrupted for worker in world.workers)
    world.done(0)
    for worker in world.workers:
        world.pool.is_gone(worker, "ended with status 0")
    assert world.pool.is_empty
    assert world.last("b").startswith("The worker that ran this")
    assert not world.pool.run("d")
    assert len(world.workers) == 2


def test_a_worker_that_loads_still_is_not_waited_for() -> None:
    world = PoolWorld()
    world.version = 2
    world.pool.tick()
    assert world.workers[0].is_killed
    world.pool.is_gone(world.workers[0], "was ended by signal 9")
    assert len(world.workers) == 2
    world.pool.close()
    assert world.workers[1].is_killed
