"""The wait of each slice for room in its pool, which limits the runs at a time.

An event-by-event schedule with one duration for each slice (list scheduling: Graham, Bounds on multiprocessing timing
anomalies, SIAM J. Appl. Math. 17, 1969). At each instant, ended runs make room first. Then waiting slices start by
rank.
"""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf, isnan
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tidemark.dependency_model.baseline.slice_network import Seconds, SliceNetwork


def waits_for_room(
    network: SliceNetwork, capacity: Sequence[int], unlimited: tuple[Seconds, Seconds], running: Seconds
) -> tuple[Seconds, Seconds]:
    """The seconds that each slice waits for room, and its start. `unlimited` has start and finish without limits.

    `running` is when an active slice started, nan for the others. An active slice already has its slot.
    """
    starts, finishes = unlimited
    if not any(_is_overfull(starts, finishes, network.pool == pool, capacity[pool]) for pool in range(len(capacity))):
        return np.zeros(len(network)), starts
    could, started = _Schedule(network, capacity, finishes - starts, running).run()
    return np.maximum(started - could, 0.0), started


def _is_overfull(starts: Seconds, finishes: Seconds, in_pool: npt.NDArray[np.bool_], capacity: int) -> bool:
    """Whether a pool would exceed its capacity at some instant."""
    begin, end = starts[in_pool], finishes[in_pool]
    if len(begin) <= capacity:
        return False
    if np.any(end <= begin):  # slices of zero duration also wait for room: only the schedule shows how long
        return True
    times = np.concatenate((end, begin))
    steps = np.concatenate((np.full(len(end), -1), np.full(len(begin), 1)))
    order = np.lexsort((steps, times))
    return bool(np.max(np.cumsum(steps[order])) > capacity)


class _Schedule:
    """One schedule, by events (time, number).

    With n slices, event i is the end of slice i, n + i is the instant at which it may start, and 2 n + e is the instant
    at which the wait for edge e ends. Events that are known at the beginning are sorted once, so that the heap stays
    small.
    """

    def __init__(self, network: SliceNetwork, capacity: Sequence[int], durations: Seconds, running: Seconds) -> None:
        self._count = len(network)
        self._durations = durations.tolist()
        self._pool: list[int] = network.pool.tolist()
        self._rank: list[float] = network.rank.tolist()
        self._bounds = network.down.bounds.tolist()
        self._below = network.down.others.tolist()
        edge_of = np.empty(len(network.latest), np.int64)
        edge_of[network.up.edges] = np.arange(len(network.latest))
        latest = network.latest[edge_of[network.down.edges]]
        self._is_met = [False] * len(latest)
        self._missing = np.diff(network.up.bounds).tolist()
        self._could = network.release.tolist()
        self._started = list(self._could)
        self._free = list(capacity)
        self._queues: list[list[tuple[float, int]]] = [[] for _ in capacity]
        self._events: list[tuple[float, int]] = []
        self._running = running.tolist()
        is_running = ~np.isnan(running)
        for number in np.flatnonzero(is_running).tolist():
            self._begin(number, self._running[number])
        first: list[int] = np.flatnonzero((np.diff(network.up.bounds) == 0) & ~is_running).tolist()
        weak: list[int] = np.flatnonzero(np.isfinite(latest)).tolist()
        self._known = [(self._could[number], number + self._count) for number in first]
        self._known += [(float(latest[edge]), edge + 2 * self._count) for edge in weak]
        self._known.sort(reverse=True)

    def run(self) -> tuple[Seconds, Seconds]:
        """The time at which each slice could start, and its actual start."""
        events, known = self._events, self._known
        while events or known:
            now = min(events[0][0] if events else inf, known[-1][0] if known else inf)
            touched: set[int] = set()
            while known and known[-1][0] == now:
                touched.add(self._settle(known.pop()[1], now))
            while events and events[0][0] == now:
                touched.add(self._settle(heappop(events)[1], now))
            for pool in touched:
                if pool >= 0:
                    self._fill(pool, now)
        return np.array(self._could), np.array(self._started)

    def _settle(self, event: int, now: float) -> int:
        """Processes an event. Returns the pool that has more room or more waiting slices, or -1."""
        if event < self._count:
            return self._end(event, now)
        if event < 2 * self._count:
            return self._take_up(event - self._count, now)
        self._meet(event - 2 * self._count, now)
        return -1

    def _begin(self, number: int, at: float) -> None:
        self._started[number] = at
        self._could[number] = min(self._could[number], at) if self._running[number] == at else self._could[number]
        pool = self._pool[number]
        if pool >= 0:
            self._free[pool] -= 1
        heappush(self._events, (at + self._durations[number], number))

    def _take_up(self, number: int, now: float) -> int:
        pool = self._pool[number]
        if pool < 0:
            self._begin(number, now)
        else:
            heappush(self._queues[pool], (self._rank[number], number))
        return pool

    def _end(self, number: int, now: float) -> int:
        for place in range(self._bounds[number], self._bounds[number + 1]):
            self._meet(place, now)
        pool = self._pool[number]
        if pool >= 0:
            self._free[pool] += 1
        return pool

    def _meet(self, place: int, now: float) -> None:
        """Ends the wait for an edge: its input ended, or its time limit passed."""
        if self._is_met[place]:
            return
        self._is_met[place] = True
        below = self._below[place]
        self._could[below] = max(self._could[below], now)
        self._missing[below] -= 1
        if not self._missing[below] and isnan(self._running[below]):
            heappush(self._events, (self._could[below], below + self._count))

    def _fill(self, pool: int, now: float) -> None:
        queue = self._queues[pool]
        while queue and self._free[pool] > 0:
            self._begin(heappop(queue)[1], now)
