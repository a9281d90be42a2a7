"""The slow, obvious forecast: a clock that goes from one instant at which something happens to the next.

Everything is looked at again at each instant: nothing is indexed, no levels, no arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Task:
    """One slice with a known duration; instants and durations are whole seconds."""

    release: int
    duration: int
    pool: int
    inputs: list[int] = field(default_factory=list)
    latest: list[float] = field(default_factory=list)
    """Of each input, from when on it is waited for no longer."""
    running: int | None = None


def simulate(tasks: list[Task], capacity: list[int]) -> list[tuple[int, int]]:
    """(start, finish) of each task; who could start first by its number, where there is no room for all."""
    started = {number: task.running for number, task in enumerate(tasks) if task.running is not None}
    ended: dict[int, int] = {}
    now = min([*started.values(), *(task.release for task in tasks), 0])
    while len(ended) < len(tasks):
        _settle(tasks, capacity, started, ended, now)
        now = min((instant for instant in _instants(tasks, started, ended) if instant > now), default=now + 1)
    return [(started[number], ended[number]) for number in range(len(tasks))]


def _settle(tasks: list[Task], capacity: list[int], started: dict[int, int], ended: dict[int, int], now: int) -> None:
    """Everything that happens at this instant, until nothing more does."""
    while True:
        before = len(started), len(ended)
        for number, start in started.items():
            if number not in ended and start + tasks[number].duration <= now:
                ended[number] = start + tasks[number].duration
        could = [n for n, task in enumerate(tasks) if n not in started and _may_start(task, ended, now)]
        for number in could:
            pool = tasks[number].pool
            used = sum(tasks[n].pool == pool and n not in ended for n in started)
            if pool < 0 or used < capacity[pool]:
                started[number] = now
        if (len(started), len(ended)) == before:
            return


def _may_start(task: Task, ended: dict[int, int], now: int) -> bool:
    return task.release <= now and all(
        input_ in ended or latest <= now for input_, latest in zip(task.inputs, task.latest, strict=True)
    )


def _instants(tasks: list[Task], started: dict[int, int], ended: dict[int, int]) -> list[int]:
    ends = [start + tasks[number].duration for number, start in started.items() if number not in ended]
    cuts = [int(latest) for task in tasks for latest in task.latest if latest != float("inf")]
    return [*ends, *cuts, *(task.release for task in tasks)]
