"""A company of 80,000 entities and the 150,000 slices of a day: how long a forecast takes, and one event after it."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.readiness.reference import instances, key_of
from benchmarks.readiness.world import SINCE, UNTIL, build
from tidemark.center.baseline import RunHistory
from tidemark.center.baseline.declared_slices import DeclaredSlices
from tidemark.center.baseline.open_slices import SliceSource
from tidemark.center.pools import Pools
from tidemark.dependency_model.baseline.forecast import Forecast
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState, SliceStatus
from tidemark.state_store.timings import Timing
from tidemark.system.garbage_collection import freeze_live_objects

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.readiness.world import ReadinessWorld
    from tidemark.dependency_model.baseline.slice_network import SliceNetwork

_SLOTS: Final = 400
_ROUNDS: Final = 3
_LARGE: Final = 100
_LATE: Final = 3_600.0


def measure_speed(scale: float, events: int) -> dict[str, float]:
    """Figures by name; `*_cpu_*` without waiting for the processor."""
    world = build(scale)
    freeze_live_objects()
    slots = max(1, int(_SLOTS * scale))
    names = [Slice(name, key_of(period, begin)) for name, period, begin in instances(world, SINCE, UNTIL)]
    due, done, open_ = set(names), SliceStatus(RunState.COMPLETED), SliceStatus()
    declared = DeclaredSlices(world.graph, Pools({"default": slots}))
    source = SliceSource(declared, lambda slice_: open_ if slice_ in due else done, _history(world), SINCE)
    network_s, network_cpu_s = _best(lambda: source.open_slices(names), rounds=1)
    again_s, again_cpu_s = _best(lambda: source.open_slices(names), _ROUNDS)
    opened = source.open_slices(names)
    forecast_s, forecast_cpu_s = _best(lambda: Forecast.of(opened.network, opened.durations, [slots]), _ROUNDS)
    forecast = Forecast.of(opened.network, opened.durations, [slots])
    chance = np.random.default_rng(0)
    some = chance.choice(len(opened.network), min(events, len(opened.network)), replace=False)
    large = np.argsort(_downstream(opened.network))[-_LARGE:]
    small_ms, small_cpu_ms, _ = _events(forecast, some.tolist())
    large_ms, large_cpu_ms, most = _events(forecast, large.tolist())
    return {
        "entities": len(world.graph),
        "slices": len(opened.network),
        "edges": len(opened.network.latest),
        "network_s": round(network_s, 2),
        "network_cpu_s": round(network_cpu_s, 2),
        "network_again_s": round(again_s, 2),
        "network_again_cpu_s": round(again_cpu_s, 2),
        "forecast_s": round(forecast_s, 2),
        "forecast_cpu_s": round(forecast_cpu_s, 2),
        "update_ms_p99": _p99(small_ms),
        "update_cpu_ms_p99": _p99(small_cpu_ms),
        "large_update_ms_p99": _p99(large_ms),
        "large_update_cpu_ms_p99": _p99(large_cpu_ms),
        "large_update_slices": most,
    }


def _history(world: ReadinessWorld) -> RunHistory:
    """Two runs of each entity: what it is learned from changes nothing in how long a forecast takes."""
    history, chance = RunHistory(world.graph, ()), random.Random(1)
    begin = SINCE.timestamp() - 86_400.0
    for name in world.graph:
        for back in (1, 2):
            slice_ = Slice(name, key_of(world.periods[name], SINCE.replace(hour=0, day=30 - back)))
            took = chance.lognormvariate(5.0, 0.6)
            history.note(Timing(slice_, "started", RunState.RUNNING, begin, 1))
            history.note(Timing(slice_, "completed", RunState.COMPLETED, begin + took, 1))
    return history


def _events(forecast: Forecast, numbers: list[int]) -> tuple[list[float], list[float], int]:
    """Milliseconds, those of the processor, and the most slices that one event moved: each slice an hour later."""
    wall, cpu, most = [], [], 0
    for number in numbers:
        late = float(np.max(forecast.finish[number])) + _LATE
        begun, begun_cpu = time.perf_counter(), time.thread_time()
        moved = forecast.event(number, late)
        cpu.append((time.thread_time() - begun_cpu) * 1000)
        wall.append((time.perf_counter() - begun) * 1000)
        most = max(most, len(moved))
    return wall, cpu, most


def _downstream(network: SliceNetwork) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """How many paths lead down from each slice: what has most of them reaches most."""
    paths = np.ones(len(network))
    bounds, others = network.down.bounds.tolist(), network.down.others
    for number in range(len(network) - 1, -1, -1):
        paths[number] += paths[others[bounds[number] : bounds[number + 1]]].sum()
    return paths


def _best(action: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Seconds, and those of the processor, of the best of so many times."""
    wall, cpu = [], []
    for _ in range(rounds):
        begun, begun_cpu = time.perf_counter(), time.process_time()
        action()
        wall.append(time.perf_counter() - begun)
        cpu.append(time.process_time() - begun_cpu)
    return min(wall), min(cpu)


def _p99(values: list[float]) -> float:
    return round(float(np.quantile(values, 0.99)), 1)
