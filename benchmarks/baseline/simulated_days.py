"""What really happens in a company, event by event: inputs arrive, runs start, fail, are tried again and end.

Nothing here comes from the product: what a slice waits for is counted in whole hours since the first day. Where there
is no room who has to start first does, for what is promised, by what its last runs took; among others the longest
chain, then who could first. A second failure in a row waits for a person.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from heapq import heappop, heappush
from statistics import fmean, median
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.baseline.simulated_company import draw_size

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from benchmarks.baseline.simulated_company import Company, Table

HOUR: Final = 3_600
DAY: Final = 24 * HOUR
_AGAIN: Final = 300.0
_NEVER: Final = 1e12
_LAST_RUNS: Final = 7

Place = tuple[str, int]
"""A table and where its window begins, in hours since the first day."""


class Happened(NamedTuple):
    """At `at` seconds since the first day a slice `arrived`, `started`, `failed` or `completed`."""

    at: float
    table: str
    hour: int
    what: str


@dataclass
class SimulatedDays:
    """`happened` in order of time; `finish` by slice."""

    company: Company
    days: int
    chance: random.Random
    ready_by: Mapping[str, float] = field(default_factory=dict)
    """Seconds after a day's end, by table."""
    happened: list[Happened] = field(default_factory=list)
    finish: dict[Place, float] = field(default_factory=dict)
    size: dict[Place, float] = field(default_factory=dict)
    """How many times as much as usual is in a slice: of what is computed, the average of its inputs."""

    def __post_init__(self) -> None:
        self._events: list[tuple[float, int, str, Place]] = []
        self._queue: list[tuple[float, float, int, Place]] = []
        self._lately = {name: deque([table.truth.usual(0)], _LAST_RUNS) for name, table in self.company.tables.items()}
        self._turn: dict[str, tuple[float, float]] = {}
        self._turns_of = -1.0
        self._missing: dict[Place, int] = {}
        self._below: dict[Place, list[Place]] = defaultdict(list)
        self._read: dict[Place, list[Place]] = {}
        self._tries: dict[Place, int] = defaultdict(int)
        self._took: dict[Place, float] = {}
        self._count = 0
        self._free = self.company.slots

    def run(self) -> SimulatedDays:
        """All of them."""
        for table in self.company.tables.values():
            for hour in range(0, 24 * self.days, 1 if table.is_hourly else 24):
                self._plan(table, hour)
        while self._events:
            at, _, what, place = heappop(self._events)
            getattr(self, f"_{what}")(place, at)
            while self._queue and self._free:
                self._start(heappop(self._queue)[3], at)
        return self

    def _plan(self, table: Table, hour: int) -> None:
        place = (table.name, hour)
        begin, length = hour * HOUR, HOUR if table.is_hourly else DAY
        if table.is_external:
            self.size[place] = draw_size(self.chance)
            delay = table.truth.draw_arrival(hour // 24, self.chance)
            self._at(begin + length + delay, "arrive", place)
            return
        step = 1 if table.is_hourly else 24
        needed = [(name, hour - back * step) for name, back in table.inputs if hour >= back * step]
        needed += [(name, hour + more) for name in table.hours for more in range(24)]
        self._missing[place] = len(needed) + 1
        self._read[place] = needed
        for up in needed:
            self._below[up].append(place)
        self._at(begin + length + (table.not_before or 0) * HOUR, "release", place)

    def _at(self, at: float, what: str, place: Place) -> None:
        self._count += 1
        heappush(self._events, (at, self._count, what, place))

    def _note(self, at: float, place: Place, what: str) -> None:
        self.happened.append(Happened(at, *place, what))

    def _arrive(self, place: Place, at: float) -> None:
        self._note(at, place, "arrived")
        self._there(place, at)

    def _release(self, place: Place, at: float) -> None:
        self._missing[place] -= 1
        if not self._missing[place]:
            self._again(place, at)

    def _there(self, place: Place, at: float) -> None:
        self.finish[place] = at
        for below in self._below[place]:
            self._release(below, at)

    def _start(self, place: Place, at: float) -> None:
        self._free -= 1
        self._note(at, place, "started")
        truth = self.company.tables[place[0]].truth
        if place not in self.size:
            self.size[place] = fmean(self.size[up] for up in self._read[place]) if self._read[place] else 1.0
        took = truth.draw(place[1] // 24, self.chance, self.size[place])
        if self.chance.random() < truth.fails:
            self._at(at + took * self.chance.random(), "fail", place)
        else:
            self._at(at + took, "complete", place)
            self._took[place] = took

    def _complete(self, place: Place, at: float) -> None:
        self._free += 1
        self._lately[place[0]].append(self._took.pop(place))
        self._note(at, place, "completed")
        self._there(place, at)

    def _fail(self, place: Place, at: float) -> None:
        self._free += 1
        self._note(at, place, "failed")
        self._tries[place] += 1
        wait = _AGAIN if self._tries[place] % 2 else self.chance.uniform(0.5, 3.0) * HOUR
        self._at(at + wait, "again", place)

    def _again(self, place: Place, at: float) -> None:
        self._count += 1
        name, hour = place
        if at // HOUR != self._turns_of:
            lately = {table: median(took) for table, took in self._lately.items()}
            self._turns_of, self._turn = at // HOUR, _turns(self.company, self.ready_by, lately)
        turn, chain = self._turn[name]
        end = (hour // 24 + 1) * DAY  # also of an hour: what is promised of it is its day's
        heappush(self._queue, (end + turn if turn < _NEVER else _NEVER, chain, self._count, place))


def _turns(
    company: Company, ready_by: Mapping[str, float], lately: Mapping[str, float]
) -> dict[str, tuple[float, float]]:
    """Of each table the latest start after its window that keeps what is promised, and minus its chain's length."""
    below: dict[str, list[str]] = defaultdict(list)
    for name, table in company.tables.items():
        for up in (*(up for up, back in table.inputs if not back), *table.hours):
            below[up].append(name)
    turns: dict[str, tuple[float, float]] = {}
    for name in reversed(company.tables):  # inputs were drawn before what reads them
        latest = min([ready_by.get(name, _NEVER), *(turns[down][0] for down in below[name])])
        chain = min((turns[down][1] for down in below[name]), default=0.0) - 1.0
        turns[name] = latest - lately[name] if latest < _NEVER else _NEVER, chain
    return turns
