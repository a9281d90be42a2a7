"""The worker that takes a run, and the replacement of workers; the workers are not processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from tidemark.warm_runs.warm_workers import WarmWorkers, Worker
from tidemark.warm_runs.worker_options import WarmWorkerOptions


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

    def waits(self, run_id: str, before: int) -> None:
        self.said.append((run_id, f"waits behind {before}"))

    def note_end(self, run_id: str) -> None:
        self.said.append((run_id, "ended"))

    def interrupts(self, run_id: str) -> None:
        self.said.append((run_id, "is interrupted"))

    def close(self, run_id: str, why: str) -> None:
        self.said.append((run_id, why))


class WarmWorkersWorld:
    """Two warm workers, each made ready one after the other."""

    def __init__(self, **options: Any) -> None:
        self.runs, self.workers, self.version, self.now = FakeRuns(), list[FakeWorker](), 1, 1000.0
        self.places: list[str] = []
        self.warm_workers = WarmWorkers(
            WarmWorkerOptions(**options),
            self._start,
            self.runs,
            lambda: self.version,
            lambda: self.now,
            place_of=lambda run_id: run_id.rpartition("@")[2] if "@" in run_id else "",
        )
        self.warm_workers.tick()

    def _start(self, _warm_workers: WarmWorkers, place: str) -> Worker:
        self.workers.append(FakeWorker(len(self.workers)))
        self.places.append(place)
        return self.workers[-1]

    def ready(self, *numbers: int) -> None:
        for number in numbers:
            self.warm_workers.is_ready(self.workers[number])

    def done(self, number: int, megabytes: float = 10, *, ended: bool = True) -> None:
        self.warm_workers.is_done(self.workers[number], megabytes, ended=ended)

    def tick(self, seconds: int, *alive: int) -> None:
        """So many seconds go by, in which these workers say that they go on."""
        for _ in range(seconds):
            self.now += 1
            for number in alive:
                self.warm_workers.is_alive(self.workers[number])
            self.warm_workers.tick()

    def killed(self) -> list[int]:
        return [worker.pid for worker in self.workers if worker.is_killed]

    def last(self, run_id: str) -> str:
        return [what for run, what in self.runs.said if run == run_id][-1]


@pytest.fixture
def world() -> WarmWorkersWorld:
    made = WarmWorkersWorld()
    made.ready(0, 1)
    return made


def test_workers_start_one_after_the_other_and_runs_wait_for_them() -> None:
    world = WarmWorkersWorld()
    assert world.warm_workers.run("a")
    assert (len(world.workers), world.warm_workers.where("a")) == (1, "waiting")
    world.ready(0)
    assert (len(world.workers), world.warm_workers.where("a")) == (2, "running")
    world.ready(1)
    assert len(world.workers) == 2
    assert world.warm_workers.run("b")
    assert [worker.given for worker in world.workers] == [["a"], ["b"]]


def test_a_run_is_taken_once(world: WarmWorkersWorld) -> None:
    assert [world.warm_workers.run("a"), world.warm_workers.run("a")] == [True, True]
    assert [worker.given for worker in world.workers] == [["a"], []]
    assert world.runs.said == [("a", "taken")]
    world.done(0)
    assert world.warm_workers.where("a") == "unknown"
    assert world.runs.said == [("a", "taken"), ("a", "ended")]


def test_runs_beyond_the_queue_limit_go_to_other_hosts() -> None:
    world = WarmWorkersWorld(workers=1, waiting=2)
    world.ready(0)
    assert [world.warm_workers.run(run) for run in "abcd"] == [True, True, True, False]
    assert world.warm_workers.status()["waiting"] == 2


def test_a_worker_that_crashes_fails_its_run_and_is_replaced(world: WarmWorkersWorld) -> None:
    world.warm_workers.run("a")
    world.warm_workers.run("b")
    world.warm_workers.run("c")
    world.warm_workers.is_gone(world.workers[0], "was ended by signal 9")
    assert world.last("a") == "The worker that ran this (process 0) was ended by signal 9."
    assert len(world.workers) == 3
    assert world.warm_workers.where("c") == "waiting"
    world.ready(2)
    assert world.workers[2].given == ["c"]
    assert world.warm_workers.status()["crashed"] == 1


def test_a_run_that_its_worker_could_not_close_is_closed(world: WarmWorkersWorld) -> None:
    world.warm_workers.run("a")
    world.done(0, ended=False)
    assert world.last("a") == "Its worker could not report its end."


def test_a_worn_worker_serves_until_the_next_one_is_ready() -> None:
    world = WarmWorkersWorld(workers=1, runs_a_worker=2, megabytes=100)
    world.ready(0)
    for run in "ab":
        world.warm_workers.run(run)
        world.done(0)
    first = world.workers[0]
    assert (len(world.workers), first.is_ending) == (2, False)
    world.warm_workers.run("c")
    assert first.given == ["a", "b", "c"]
    world.ready(1)
    ends = [first.is_ending]  # its run goes on
    world.done(0)
    assert [*ends, first.is_ending] == [False, True]
    world.warm_workers.is_gone(world.workers[0], "ended with status 0")
    world.warm_workers.run("d")
    world.done(1, megabytes=101)
    assert len(world.workers) == 3
    assert world.warm_workers.status()["crashed"] == 0


def test_code_that_changed_is_loaded_before_another_run(world: WarmWorkersWorld) -> None:
    world.warm_workers.run("a")
    world.version = 2
    world.warm_workers.tick()
    assert [worker.is_ending for worker in world.workers] == [False, True, False]
    world.warm_workers.run("b")
    assert world.warm_workers.where("b") == "waiting"
    world.ready(2)
    assert world.workers[2].given == ["b"]
    world.done(0)
    assert world.workers[0].is_ending


def test_a_run_that_is_stopped_takes_its_worker_with_it(world: WarmWorkersWorld) -> None:
    for run in "abc":
        world.warm_workers.run(run)
    assert world.warm_workers.stop_run("c")
    assert world.last("c") == "The run was stopped before a worker had begun it."
    assert world.warm_workers.stop_run("a")
    assert world.workers[0].is_interrupted
    world.done(0)
    assert world.workers[0].is_ending
    assert world.last("a") == "ended"
    assert not world.warm_workers.stop_run("a")
    assert len(world.workers) == 3


def test_workers_that_do_not_start_are_not_tried_for_ever() -> None:
    world = WarmWorkersWorld()
    for number in range(3):
        world.warm_workers.is_gone(world.workers[number], "ended with status 1")
    assert (len(world.workers), world.warm_workers.run("a")) == (3, False)
    world.warm_workers.tick()
    assert len(world.workers) == 3
    world.warm_workers.retry_start()
    assert len(world.workers) == 4
    world.ready(3)
    assert world.warm_workers.run("a")


def test_in_the_end_nothing_is_left(world: WarmWorkersWorld) -> None:
    for run in "abc":
        world.warm_workers.run(run)
    world.warm_workers.close()
    assert world.last("c") == "The warm workers were stopped before this run had begun."
    assert all(worker.is_interrupted for worker in world.workers)
    world.done(0)
    for worker in world.workers:
        world.warm_workers.is_gone(worker, "ended with status 0")
    assert world.warm_workers.is_empty
    assert world.last("b").startswith("The worker that ran this")
    assert not world.warm_workers.run("d")
    assert len(world.workers) == 2


def test_a_worker_that_loads_still_is_not_waited_for() -> None:
    world = WarmWorkersWorld()
    world.version = 2
    world.warm_workers.tick()
    assert world.workers[0].is_killed
    world.warm_workers.is_gone(world.workers[0], "was ended by signal 9")
    assert len(world.workers) == 2
    world.warm_workers.close()
    assert world.workers[1].is_killed


def test_dagster_hears_of_a_waiting_run_before_it_counts_it_as_lost() -> None:
    world = WarmWorkersWorld(workers=1, wait_told_seconds=45)
    world.ready(0)
    for run in "abc":
        world.warm_workers.run(run)
    world.tick(100, 0)
    assert [what for run, what in world.runs.said if run == "c"] == ["taken", "waits behind 1", "waits behind 1"]
    assert [what for run, what in world.runs.said if run == "a"] == ["taken"]
    world.done(0)
    world.tick(100, 0)
    assert [what for run, what in world.runs.said if run == "b"] == ["taken", *["waits behind 0"] * 2]
    assert world.last("c") == "waits behind 0"


def test_a_worker_that_hangs_while_it_loads_is_killed_and_replaced() -> None:
    world = WarmWorkersWorld(workers=1, load_seconds=30)
    world.tick(29)
    assert world.killed() == []
    world.tick(2)
    assert world.killed() == [0]
    world.warm_workers.is_gone(world.workers[0], "was ended by signal 9")
    assert len(world.workers) == 2
    for number in (1, 2):
        world.tick(31)
        world.warm_workers.is_gone(world.workers[number], "was ended by signal 9")
    # After three that hung nothing is taken, and one is tried from time to time.
    assert not world.warm_workers.run("a")
    world.warm_workers.retry_start()
    assert len(world.workers) == 4


def test_a_worker_that_was_stopped_is_killed_and_its_run_closed(world: WarmWorkersWorld) -> None:
    world.warm_workers.run("a")
    world.tick(119, 1)
    assert world.killed() == []
    world.tick(2, 1)
    assert world.killed() == [0]
    world.warm_workers.is_gone(world.workers[0], "was ended by signal 9")
    assert world.last("a") == "The worker that ran this (process 0) said nothing for 120 s and was killed."
    assert len(world.workers) == 3


def test_after_a_sleep_of_the_machine_no_worker_is_killed(world: WarmWorkersWorld) -> None:
    world.now += 7200
    world.tick(100, 0)
    assert world.killed() == []


def test_a_worker_whose_jvm_ended_gives_its_run_to_another_and_goes(world: WarmWorkersWorld) -> None:
    world.warm_workers.run("a")
    world.warm_workers.is_broken(world.workers[0], gives_back=True)
    assert [worker.given for worker in world.workers[:2]] == [["a"], ["a"]]
    assert world.workers[0].is_ending
    assert world.runs.said == [("a", "taken")]
    world.warm_workers.is_gone(world.workers[0], "ended with status 0")
    assert world.last("a") == "taken"
    assert len(world.workers) == 3


def test_an_idle_worker_whose_jvm_ended_takes_nothing_more(world: WarmWorkersWorld) -> None:
    world.warm_workers.is_broken(world.workers[0], gives_back=False)
    world.warm_workers.run("a")
    assert world.workers[0].is_ending
    assert [worker.given for worker in world.workers[:2]] == [[], ["a"]]


def test_a_worker_whose_jvm_ended_finishes_the_run_that_it_has(world: WarmWorkersWorld) -> None:
    world.warm_workers.run("a")
    world.warm_workers.is_broken(world.workers[0], gives_back=False)
    assert [worker.is_ending for worker in world.workers[:2]] == [False, False]
    world.done(0)
    assert [worker.is_ending for worker in world.workers[:2]] == [True, False]
    assert world.last("a") == "ended"


def test_a_host_whose_workers_do_not_start_says_so_until_one_is_ready() -> None:
    world = WarmWorkersWorld()
    assert world.warm_workers.status()["healthy"]
    world.warm_workers.is_gone(world.workers[0], "ended with status 1")
    assert not world.warm_workers.status()["healthy"]
    world.ready(1)
    assert world.warm_workers.status()["healthy"]


def test_a_run_of_a_place_waits_for_a_worker_of_it_and_an_idle_one_makes_way(world: WarmWorkersWorld) -> None:
    assert world.warm_workers.run("a@east")
    assert ([worker.given for worker in world.workers], world.places) == ([[], [], []], ["", "", "east"])
    assert world.workers[0].is_ending
    world.warm_workers.is_gone(world.workers[0], "ended with status 0")
    world.ready(2)
    assert world.workers[2].given == ["a@east"]
    world.warm_workers.run("b")
    world.warm_workers.run("c@east")
    assert [worker.given for worker in world.workers] == [[], ["b"], ["a@east"]]
    world.done(2)
    assert world.workers[2].given == ["a@east", "c@east"]


def test_runs_of_other_places_do_not_pass_one_that_waits_for_ever() -> None:
    world = WarmWorkersWorld(workers=1)
    world.ready(0)
    for run_id in ("a", "b@east", "c", "d"):
        world.warm_workers.run(run_id)
    world.done(0)
    assert (world.workers[0].is_ending, world.places) == (True, ["", "east"])
    world.ready(1)
    assert [worker.given for worker in world.workers] == [["a"], ["b@east"]]


def test_a_worker_of_a_place_that_does_not_start_closes_one_run_and_holds_no_other(world: WarmWorkersWorld) -> None:
    for number in range(5):
        run_id = f"{number}@east"
        assert world.warm_workers.run(run_id)
        if world.places[-1] == "":
            world.ready(len(world.workers) - 1)
        world.warm_workers.is_gone(world.workers[-1], "ended with status 1")
        assert world.last(run_id) == "The worker of place east ended with status 1 before it was ready."
    assert world.warm_workers.run("b")
    assert world.warm_workers.where("b") == "running"
