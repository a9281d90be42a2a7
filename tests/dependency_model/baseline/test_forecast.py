"""The forecast against a slow simulation, and what one event moves."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.dependency_model.baseline.event_simulation import Task, simulate
from tidemark.dependency_model.baseline.forecast import Durations, Forecast
from tidemark.dependency_model.baseline.learned_times import STEPS, given
from tidemark.dependency_model.baseline.slice_network import SliceNetwork

if TYPE_CHECKING:
    from tidemark.dependency_model.graph.edge_stretches import Numbers


def _world(chance: random.Random) -> tuple[list[Task], list[int]]:
    capacity = [chance.randint(1, 4) for _ in range(chance.randint(1, 3))]
    tasks: list[Task] = []
    for number in range(chance.randint(1, 40)):
        most = 3 if chance.random() < 0.9 else 12
        inputs = sorted(chance.sample(range(number), min(number, chance.randint(0, most))))
        latest = [float(chance.randint(1, 300)) if chance.random() < 0.1 else float("inf") for _ in inputs]
        pool = -1 if chance.random() < 0.2 else chance.randrange(len(capacity))
        task = Task(chance.randint(0, 200), chance.randint(1, 60), pool, inputs, latest)
        if not inputs and pool >= 0 and chance.random() < 0.2:
            task.running, task.release = -chance.randint(0, 20), -30
            task.duration += 20
        tasks.append(task)
    return tasks, capacity


def _network(tasks: list[Task]) -> tuple[SliceNetwork, Durations]:
    pairs = [(input_, number) for number, task in enumerate(tasks) for input_ in task.inputs]
    edges: tuple[Numbers, Numbers] = (
        np.array([above for above, _ in pairs], np.int64),
        np.array([below for _, below in pairs], np.int64),
    )
    network = SliceNetwork.of(
        np.array([task.release for task in tasks], np.float64),
        np.array([task.pool for task in tasks]),
        edges,
        latest=np.array([latest for task in tasks for latest in task.latest], np.float64),
    )
    order = network.order
    running = np.array([np.nan if task.running is None else task.running for task in tasks], np.float64)[order]
    tables = np.array([given(float(task.duration)) for task in tasks], np.float32)
    return network, Durations(tables, order, running, np.zeros(len(tasks)))


def _forecast(tasks: list[Task], capacity: list[int]) -> Forecast:
    network, durations = _network(tasks)
    return Forecast.of(network, durations, capacity, days=3)


@pytest.mark.slow
@pytest.mark.parametrize("worlds", [150, pytest.param(1_000, marks=pytest.mark.long)])
def test_random_graphs_are_forecast_as_they_are_simulated(worlds: int) -> None:
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    for world in range(worlds):
        tasks, capacity = _world(chance)
        forecast = _forecast(tasks, capacity)
        expected = np.array(simulate(tasks, capacity), np.float32)[forecast.network.order]
        told = np.stack((forecast.start[:, 0], forecast.finish[:, 0]), axis=1)
        assert np.array_equal(told, expected), f"seed {seed}, world {world}"
        assert np.all(forecast.finish == forecast.finish[:, :1])


def test_with_free_slots_an_update_equals_a_new_forecast() -> None:
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    for _ in range(200):
        tasks, _ = _world(chance)
        capacity = [100, 100, 100]
        forecast = _forecast(tasks, capacity)
        place = chance.randrange(len(tasks))
        number = int(forecast.network.numbers()[place])
        least = 1 - (tasks[place].running or 0)  # what runs takes longer than it has: a known time that is over is none
        tasks[place].duration = max(least, tasks[place].duration + chance.randint(-10, 100))
        forecast.event(number, float(forecast.start[number, 0]) + tasks[place].duration)
        assert np.array_equal(forecast.finish, _forecast(tasks, capacity).finish), f"seed {seed}"


def _wide_network(chance: np.random.Generator) -> tuple[SliceNetwork, Durations]:
    """A few hundred slices, some with many inputs, some edges weak, of random durations."""
    count = 300
    sizes = np.where(chance.random(count) < 0.1, 20, chance.integers(0, 5, count))
    pairs = {(int(above), below) for below in range(1, count) for above in chance.integers(0, below, sizes[below])}
    edges = np.array(sorted(pairs)).T
    latest = np.where(chance.random(len(pairs)) < 0.1, chance.uniform(1.0, 3_000.0, len(pairs)), np.inf)
    pool = np.zeros(count, np.int64)
    network = SliceNetwork.of(chance.uniform(0.0, 900.0, count), pool, (edges[0], edges[1]), latest=latest)
    tables = np.sort(chance.uniform(10.0, 90.0, (7, STEPS)), axis=1).astype(np.float32)
    row = chance.integers(0, 7, count)
    return network, Durations(tables, row, np.full(count, np.nan), np.full(count, 0.05))


def test_consecutive_updates_equal_a_new_forecast() -> None:
    seed = random.randrange(2**32)
    chance = np.random.default_rng(seed)
    for _ in range(10):
        network, durations = _wide_network(chance)
        forecast = Forecast.of(network, durations, [1_000])
        for number in chance.integers(0, len(network), 30).tolist():
            before = forecast.finish.copy()
            finish = float(np.median(forecast.finish[number]) + chance.uniform(-60.0, 600.0))
            moved = forecast.event(number, finish)
            off = np.abs(forecast.finish - before).max(axis=1)
            assert set(np.flatnonzero(off > 0.5).tolist()) <= set(moved.tolist()), seed
            assert np.all(off[moved[1:]] > 0.05), seed
            told = forecast.finish.copy()
            forecast.play(0.0)
            assert np.allclose(forecast.finish, told, atol=2.0), seed


def test_an_event_tells_which_slices_moved() -> None:
    tasks = [Task(0, 10, 0), Task(0, 10, 0, [0], [float("inf")]), Task(500, 10, 0, [1], [float("inf")]), Task(0, 5, 0)]
    forecast = _forecast(tasks, [9])
    number = forecast.network.numbers()
    moved = forecast.event(int(number[0]), 100.0)
    assert sorted(moved) == sorted(number[[0, 1]])
    assert forecast.finish[number[1], 0] == 110
    assert forecast.finish[number[2], 0] == 510


def test_a_running_slice_takes_at_least_its_elapsed_time() -> None:
    tables = np.linspace(50.0, 150.0, STEPS, dtype=np.float32)[None, :]
    network = SliceNetwork.of(np.zeros(1), np.zeros(1, np.int64), (np.zeros(0, np.int64), np.zeros(0, np.int64)))
    durations = Durations(tables, np.zeros(1, np.int64), np.array([0.0]), np.zeros(1))
    fresh, late, overdue = (
        Forecast.of(network, durations, [1], now=now).finishes((0.05, 0.95))[0] for now in (0, 100, 300)
    )
    assert fresh == pytest.approx((55, 145), abs=8)
    assert 100 <= late[0] < late[1] <= 150
    assert 300 <= overdue[0] < 400
    assert 900 < overdue[1] <= 2_400


def test_runs_that_fail_are_tried_again() -> None:
    tables = np.full((1, STEPS), 60.0, np.float32)
    network = SliceNetwork.of(np.zeros(1), np.zeros(1, np.int64), (np.zeros(0, np.int64), np.zeros(0, np.int64)))
    durations = Durations(tables, np.zeros(1, np.int64), np.array([np.nan]), np.array([0.5]))
    finish = Forecast.of(network, durations, [1]).finish
    assert set(finish.ravel().tolist()) == {60.0, 420.0}
    assert 0.2 < np.mean(finish == 60.0) < 0.8


def test_slices_that_wait_for_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="wait for each other"):
        SliceNetwork.of(np.zeros(2), np.zeros(2, np.int64), (np.array([0, 1]), np.array([1, 0])))
