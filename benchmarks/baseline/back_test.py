"""Forecasts of simulated days, made with what was known by then, and judged by what happened afterwards."""

from __future__ import annotations

import random
import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.baseline.simulated_company import START, Company, draw_company
from benchmarks.baseline.simulated_days import DAY, HOUR, SimulatedDays
from tidemark.center.baseline import Baselines, RunHistory
from tidemark.center.baseline.declared_slices import DeclaredSlices
from tidemark.center.baseline.open_slices import SliceSource
from tidemark.center.pools import Pools
from tidemark.dependency_model.baseline.forecast import Forecast
from tidemark.dependency_model.baseline.promise import PromiseState
from tidemark.dependency_model.status import RunState, SliceStatus
from tidemark.state_store.timings import Timing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.baseline.simulated_days import Happened, Place
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice

LEARNED: Final = 30
"""So many days pass before the first is judged."""
BEFORE: Final = 1_800.0
"""An announcement counts that is made so many seconds before the promised time."""
_STEP: Final = 1_200
_FIRST: Final = datetime.fromisoformat(START).replace(tzinfo=UTC)
_RUNS: Final = 10
_ROWS: Final = 100_000
_EVENTS: Final = {
    "arrived": ("observed", RunState.COMPLETED),
    "started": ("started", RunState.RUNNING),
    "failed": ("failed", RunState.FAILED),
    "completed": ("completed", RunState.COMPLETED),
}


@dataclass
class Promised:
    """One promise of one day: when it was due and kept, and when each way announced that it will be late."""

    ready_by: float
    finish: float
    announced: float = np.inf
    airflow: float = np.inf
    looks: list[tuple[float, float]] = field(default_factory=list)
    """When it was looked at, and how probably it was late then."""

    def announced_from(self, probability: float) -> float:
        """When it would be announced that is told from one probability on, at whichever look."""
        return min((at for at, late in self.looks if late >= probability), default=np.inf)

    @property
    def is_late(self) -> bool:
        return self.finish > self.ready_by


@dataclass
class Judged:
    """`inside` by hour of the day: of intervals of 90 % how many held, of how many; errors in seconds."""

    inside: dict[int, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    errors: list[float] = field(default_factory=list)
    errors_average: list[float] = field(default_factory=list)
    promised: dict[Place, Promised] = field(default_factory=dict)


class Onlooker:
    """The product: it is told what happens, as it happens, and asked for forecasts."""

    def __init__(self, graph: DependencyGraph, slots: int) -> None:
        self.graph, self.history = graph, RunHistory(graph, ())
        self._declared = DeclaredSlices(graph, Pools({"default": slots}))
        self._statuses: dict[Slice, SliceStatus] = {}

    def tell(self, happened: Happened, size: float) -> None:
        """`size` is what came of it, over what is usual."""
        event, state = _EVENTS[happened.what]
        slice_ = self.slice((happened.table, happened.hour))
        self._statuses[slice_] = SliceStatus(state)
        rows = round(_ROWS * size) if state is RunState.COMPLETED else None
        self.history.note(Timing(slice_, event, state, _FIRST.timestamp() + happened.at, 1, rows=rows))

    def slice(self, place: Place) -> Slice:
        return self.graph.slice_at(place[0], _FIRST + timedelta(hours=place[1]))

    def source(self, at: float) -> SliceSource:
        return SliceSource(self._declared, self._status, self.history, _FIRST + timedelta(seconds=at))

    def _status(self, slice_: Slice) -> SliceStatus:
        return self._statuses.get(slice_, SliceStatus())


class BackTest:
    """Of one company."""

    def __init__(self, seed: int, days: int) -> None:
        chance = random.Random(seed)
        self.company: Company = draw_company(chance)
        self.days = days
        self.truth = SimulatedDays(self.company, LEARNED + 1, chance).run()
        self.ready_by = {name: self._ready_by(name) for name in self.company.tables if name.startswith("ads")}
        self.truth = SimulatedDays(self.company, LEARNED + days + 2, chance, self.ready_by).run()
        texts = {name: f"{int(at) // HOUR % 24:02}:{int(at) // 60 % 60:02}" for name, at in self.ready_by.items()}
        self.onlooker = Onlooker(self.company.graph(texts), self.company.slots)
        self.judged = Judged()

    def run(self) -> Judged:
        """Day by day: what happens is told, and every so often a forecast is made."""
        first, last = LEARNED * DAY, (LEARNED + self.days) * DAY
        asked = first
        for happened in self.truth.happened:
            while asked < min(happened.at, last):
                self._ask(asked)
                asked += _STEP
            self.onlooker.tell(happened, self.truth.size.get((happened.table, happened.hour), 1.0))
        return self.judged

    def _ready_by(self, name: str) -> float:
        """Seconds after a day's end by which nine of ten of the first days were there, and 45 minutes."""
        after = [self.truth.finish[name, 24 * day] - (day + 1) * DAY for day in range(LEARNED)]
        return float(np.quantile(after, 0.9)) // 300 * 300 + 2_700.0

    def _ask(self, at: float) -> None:
        if at % HOUR == 0:
            self._judge_intervals(at)
        open_ = [place for place in self._due(at) if self.truth.finish[place] > at]
        if not open_:
            return
        baselines = Baselines(self.onlooker.source(at), [name for name, _ in open_])
        for place in open_:
            told = baselines.of(self.onlooker.slice(place))
            promised = self._promise(place)
            promised.looks.append((at, told.late))
            if told.state is not PromiseState.SAFE:
                promised.announced = min(promised.announced, at)

    def _due(self, at: float) -> Iterator[Place]:
        """What is promised for a time from now on, of days that are over."""
        for name, after in self.ready_by.items():
            day = int(at // DAY) - 1
            if (day + 1) * DAY + after > at and day >= LEARNED - 1:
                yield name, 24 * day

    def _promise(self, place: Place) -> Promised:
        if place not in self.judged.promised:
            end = place[1] * HOUR + DAY
            promised = Promised(end + self.ready_by[place[0]], self.truth.finish[place])
            promised.airflow = end + self._average(place)
            self.judged.promised[place] = promised
        return self.judged.promised[place]

    def _average(self, place: Place) -> float:
        """The average of the last runs, from the end of their window, that were there when this one began."""
        name, hour = place
        end = hour * HOUR + DAY
        before = [self.truth.finish[name, hour - 24 * back] for back in range(1, _RUNS + 4)]
        runs = [finish - (end - back * DAY) for back, finish in enumerate(before, 1) if finish <= end]
        return statistics.fmean(runs[:_RUNS])

    def _judge_intervals(self, at: float) -> None:
        wanted = [place for place in self._open_places(at) if self.truth.finish[place] > at]
        # What is promised of the day that goes on decides whose turn its hours have.
        today = [(name, int(at // DAY) * 24) for name in self.ready_by]
        open_ = self.onlooker.source(at).open_slices([self.onlooker.slice(place) for place in (*wanted, *today)])
        forecast = Forecast.of(open_.network, open_.durations, [self.company.slots])
        finishes = forecast.finishes((0.05, 0.5, 0.95))
        hour = int(at // HOUR) % 24
        for place in wanted:
            low, middle, high = finishes[open_.number[self.onlooker.slice(place)]].tolist()
            truth = self.truth.finish[place] - at
            self.judged.inside[hour][0] += low - 1.0 <= truth <= high + 1.0
            self.judged.inside[hour][1] += 1
            if place[0] in self.ready_by:
                average = max(place[1] * HOUR + DAY + self._average(place) - at, 0.0)
                self.judged.errors.append(abs(truth - middle))
                self.judged.errors_average.append(abs(truth - average))

    def _open_places(self, at: float) -> Iterator[Place]:
        """Windows that are over now, or in six hours."""
        for name, table in self.company.tables.items():
            step = 1 if table.is_hourly else 24
            newest = int(at + 6 * HOUR) // HOUR // step * step - step
            for hour in range(newest, newest - 30, -step):
                yield name, hour
