"""The start and the end of each open slice, as distributions.

A Monte Carlo simulation plays `DAYS` days at once, level by level. On each day every slice draws a duration. It starts
when its last input is there, its release has passed and its pool has room; a failed run is tried again. Waits for room
come from event-by-event schedules (`room.py`): one schedule a day with few slices, fewer schedules with many slices,
and one with typical durations with very many.

An event moves only the slices that it reaches. Waits for room are computed again by the next whole forecast.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from tidemark.dependency_model.baseline.learned_times import STEPS
from tidemark.dependency_model.baseline.room import waits_for_room

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tidemark.dependency_model.baseline.slice_network import Seconds, SliceNetwork
    from tidemark.dependency_model.graph.edge_stretches import Numbers

    Days = npt.NDArray[np.float32]

DAYS: Final = 64
"""The number of simulated days."""
_SEED: Final = 26
_MOVED: Final = 0.5
_FEW: Final = 8
"""The first inputs are processed one position at a time, each for all slices at once."""
_PART: Final = 3
"""If more than one in this many slices of a level has moved, the whole level is computed."""
_TAIL: Final = 2.0
_LONGEST: Final = 8.0
_SCHEDULED: Final = 20_000
"""The most slices to schedule over all days, because schedules run step by step in Python."""


@dataclass(frozen=True, slots=True)
class Durations:
    """Durations of the slices, by number: `row` is each slice's row in `tables`.

    A row of `tables` has quantiles in seconds at equally spaced levels. The duration of an arrival counts from its
    release. `running`: when the slice started, nan if it did not. `failing`: the share of runs that fail and are tried
    again `again_after` seconds later.
    """

    tables: Days
    row: Numbers
    running: Seconds
    failing: Seconds
    again_after: float = 300.0

    def typical(self) -> Seconds:
        """The median of each slice, in seconds."""
        median: Seconds = self.tables[self.row, STEPS // 2].astype(np.float64)
        return median


@dataclass(slots=True)
class Forecast:
    """`start` and `finish`: one row a slice, one column a day, in seconds after the network's origin.

    `wait`: the typical seconds that each slice waits for room. `room`: the instant before which it has no room, with
    one column a day or one column for all days.
    """

    network: SliceNetwork
    durations: Durations
    took: Days
    wait: Days
    room: Days
    start: Days
    finish: Days

    @classmethod
    def of(
        cls, network: SliceNetwork, durations: Durations, capacity: Sequence[int], now: float = 0.0, days: int = DAYS
    ) -> Forecast:
        """The forecast of all slices.

        `capacity` is the size of each pool, `now` an instant in seconds after the origin.
        """
        count = len(network)
        took = _draw(network, durations, now, days)
        wait, room = np.zeros(count, np.float32), np.full((count, 1), -np.inf, np.float32)
        forecast = cls(network, durations, took, wait, room, *_empty(count, days))
        forecast.play(now)
        scheduled = int(np.clip(_SCHEDULED // max(1, count), 1, days))
        played = forecast
        if scheduled == 1:
            played = cls(network, durations, _typical(network, durations, now), wait, room, *_empty(count, 1))
            played.play(now)
        if forecast._give_room(played, capacity, scheduled):
            forecast.play(now)
        return forecast

    def _give_room(self, played: Forecast, capacity: Sequence[int], scheduled: int) -> bool:
        """Sets the waits from schedules of the first simulated days. Returns whether any slice waits."""
        waits = np.zeros((len(self.network), scheduled), np.float32)
        started = np.full((len(self.network), scheduled), -np.inf, np.float32)
        for day in range(scheduled):
            unlimited = played.start[:, day].astype(np.float64), played.finish[:, day].astype(np.float64)
            waits[:, day], started[:, day] = waits_for_room(self.network, capacity, unlimited, self.durations.running)
        waits[~np.isnan(self.durations.running)] = 0.0
        if not waits.any():
            return False
        self.wait = np.median(waits, axis=1)
        room = np.where(waits > 0, started, np.float32(-np.inf))
        self.room = room if scheduled == 1 else room[:, np.arange(self.took.shape[1]) % scheduled]
        return True

    def play(self, now: float) -> None:
        """Computes all slices, level by level."""
        bounds, levels = self.network.up.bounds, self.network.levels
        release, arrives = self.network.release, self.network.pool < 0
        ready = np.where(arrives, release, np.maximum(release, now)).astype(np.float32)[:, None]
        for first, stop in pairwise(levels.tolist()):
            begin = np.repeat(ready[first:stop], self.took.shape[1], axis=1)
            if bounds[first] != bounds[stop]:
                np.maximum(begin, self._inputs(*self.network.up.stretch(first, stop)), out=begin)
            self._put(slice(first, stop), begin)

    def event(self, number: int, finish: float) -> Numbers:
        """Records that a slice ended, or will end, at `finish`. Returns the slices that moved, itself first."""
        self.finish[number] = finish
        self.took[number] = finish - self.start[number]
        return self._spread(number)

    def started(self, number: int, at: float) -> Numbers:
        """Records that a slice started at `at`. Returns the slices that moved."""
        self.start[number] = at
        self.durations.running[number] = at
        self.finish[number] = at + self.took[number]
        return self._spread(number)

    def finishes(self, levels: Sequence[float]) -> Days:
        """Quantiles of the finish: one row a slice, one column a level."""
        return quantiles_of(self.finish, levels)

    def starts(self, levels: Sequence[float]) -> Days:
        """Quantiles of the start."""
        return quantiles_of(self.start, levels)

    def _spread(self, number: int) -> Numbers:
        """Propagates a moved slice to the slices downstream, level by level."""
        down, levels = self.network.down, self.network.levels
        reached = np.zeros(len(self.network), np.bool_)
        furthest = _mark(reached, down.others[down.bounds[number] : down.bounds[number + 1]])
        told = [np.array([number])]
        for first, stop in pairwise(levels[np.searchsorted(levels, number, side="right") :].tolist()):
            if first > furthest:
                break
            numbers = np.flatnonzero(reached[first:stop]) + first
            if len(numbers):
                told.append(self._move(numbers, first, stop))
                furthest = max(furthest, _mark(reached, down.others[down.places(told[-1])[0]]))
        return np.concatenate(told)

    def _move(self, numbers: Numbers, first: int, stop: int) -> Numbers:
        """Computes slices of the level `first:stop` again. Returns the slices that moved.

        If they are a large part of the level, the whole level is computed: adjacent rows are faster than picked rows.
        """
        is_whole = len(numbers) * _PART > stop - first
        chosen = slice(first, stop) if is_whole else numbers
        up = self.network.up
        begin = self._inputs(*(up.stretch(first, stop) if is_whole else up.places(numbers)))
        np.maximum(begin, self.network.release[chosen].astype(np.float32)[:, None], out=begin)
        before = self.finish[first:stop].copy() if is_whole else self.finish.take(numbers, axis=0)
        moved_by = before - self._put(chosen, begin)
        has_moved = np.flatnonzero(np.vecdot(moved_by, moved_by) > _MOVED**2)
        return has_moved + first if is_whole else numbers[has_moved]

    def _inputs(self, places: slice | Numbers, begins: Numbers) -> Days:
        """The arrival of each slice's last input. `begins` are the indexes of the slices' first edges.

        Slices with more inputs come first. Most slices have few inputs, so the loop handles the first input of all
        slices, then the second input of the slices that have one, and so on.
        """
        others, latest = self.network.up.others[places], self.network.latest[places].astype(np.float32)
        sizes = np.diff(begins, append=len(others))
        last = self._finished(others[begins], latest[begins])
        many = int(np.searchsorted(-sizes, -_FEW))
        for place in range(1, min(int(sizes[0]), _FEW)):
            edges = begins[many : int(np.searchsorted(-sizes, -place))] + place
            more = last[many : many + len(edges)]
            np.maximum(more, self._finished(others[edges], latest[edges]), out=more)
        if many:
            stop = int(begins[many]) if many < len(begins) else len(others)
            np.maximum.reduceat(self._finished(others[:stop], latest[:stop]), begins[:many], axis=0, out=last[:many])
        return last

    def _finished(self, others: Numbers, latest: Days) -> Days:
        """The end of the wait for each of these inputs."""
        finished: Days = self.finish.take(others, axis=0)
        return finished if np.all(np.isinf(latest)) else np.minimum(finished, latest[:, None], out=finished)

    def _put(self, numbers: slice | Numbers, begin: Days) -> Days:
        """Sets start and finish of slices that could start at `begin`, which is overwritten. Returns the finishes."""
        start = np.maximum(begin, _rows(self.room, numbers), out=begin)
        running = self.durations.running[numbers]
        is_running = np.flatnonzero(~np.isnan(running))
        start[is_running] = running[is_running].astype(np.float32)[:, None]
        self.start[numbers] = start
        finish: Days = start + _rows(self.took, numbers)
        self.finish[numbers] = finish
        return finish


def _rows(played: Days, numbers: slice | Numbers) -> Days:
    """The rows of these slices. `take` is two times faster than an index."""
    return played[numbers] if isinstance(numbers, slice) else played.take(numbers, axis=0)


def _mark(reached: npt.NDArray[np.bool_], numbers: Numbers) -> int:
    """Marks these slices as reached. Returns the largest number, or -1 without slices."""
    reached[numbers] = True
    return int(numbers.max(initial=-1))


def quantiles_of(played: Days, levels: Sequence[float]) -> Days:
    """Quantiles of each row, linear between two days. The k-th of n days has the level k / (n + 1)."""
    ordered = np.sort(played, axis=1)
    last = ordered.shape[1] - 1
    columns = []
    for level in levels:
        place = min(max(level * (last + 2) - 1.0, 0.0), last)
        below = int(place)
        part = np.float32(place - below)
        columns.append(ordered[:, below] * (1 - part) + ordered[:, min(below + 1, last)] * part)
    return np.stack(columns, axis=1)


def _draw(network: SliceNetwork, durations: Durations, now: float, days: int) -> Days:
    """The seconds that each slice takes on each day, with a second try after a failure."""
    chance = np.random.default_rng(_SEED)
    took = _given_what_passed(network, durations, now, chance.random((len(network), days), np.float32))
    fails = np.flatnonzero(durations.failing > 0)
    failed = chance.random((len(fails), days), np.float32) < durations.failing[fails].astype(np.float32)[:, None]
    second = _at_level(durations, fails, chance.random((len(fails), days), np.float32))
    took[fails] += np.where(failed, second + np.float32(durations.again_after), np.float32(0))
    return took


def _typical(network: SliceNetwork, durations: Durations, now: float) -> Days:
    """The median of each slice, as one day."""
    return _given_what_passed(network, durations, now, np.full((len(network), 1), 0.5, np.float32))


def _given_what_passed(network: SliceNetwork, durations: Durations, now: float, level: Days) -> Days:
    """Quantiles at `level`, given the time that a slice has already run or been late. `level` is overwritten."""
    begun = np.where(network.pool < 0, network.release, durations.running)
    passed = np.where(np.isnan(begun), 0.0, np.maximum(now - begun, 0.0))
    known = np.flatnonzero(passed > 0)
    reached = _level_of(durations, known, passed[known])[:, None]
    drawn = level[known]
    level[known] = reached + drawn * (1 - reached)
    took = _at_level(durations, np.arange(len(network)), level)
    # A time longer than all before is drawn from a heavy tail: at least twice as long in one case of four.
    late = passed[known].astype(np.float32)[:, None]
    longer = np.minimum((1 - drawn) ** np.float32(-1 / _TAIL), _LONGEST)
    took[known] = np.where(took[known] <= late, np.where(reached >= 1, late * longer, late), took[known])
    return took


def _at_level(durations: Durations, numbers: Numbers, level: Days) -> Days:
    """The quantile at a level: one row a slice, one column a day."""
    place = level * np.float32(STEPS - 1)
    below = np.minimum(place.astype(np.int32), STEPS - 2)
    place -= below
    below += (durations.row[numbers] * STEPS).astype(np.int32)[:, None]
    flat = durations.tables.ravel()
    low = flat[below]
    below += 1
    taken: Days = low + (flat[below] - low) * place
    return taken


def _level_of(durations: Durations, numbers: Numbers, passed: Seconds) -> Days:
    """The level of its quantiles that each slice has reached after `passed` seconds."""
    rows = durations.tables[durations.row[numbers]]
    below = np.clip((rows <= passed[:, None]).sum(axis=1) - 1, 0, STEPS - 2)
    every = np.arange(len(numbers))
    low, high = rows[every, below], rows[every, below + 1]
    part = np.clip((passed - low) / np.maximum(high - low, 1e-6), 0.0, 1.0)
    level: Days = np.where(passed >= rows[:, -1], 1.0, (below + part) / (STEPS - 1)).astype(np.float32)
    return level


def _empty(count: int, days: int) -> tuple[Days, Days]:
    return np.zeros((count, days), np.float32), np.zeros((count, days), np.float32)
