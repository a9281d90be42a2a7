"""Days of overload through the real center and dispatch: promises kept by the order in which slices are launched.

The runs are simulated: they take as long on each day as the company's truth says, whichever way they are ordered.
"""

from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from benchmarks.baseline.simulated_company import START, Company, draw_company
from benchmarks.baseline.simulated_days import DAY, HOUR, SimulatedDays
from tidemark.center.center import DependencyCenter
from tidemark.center.dispatch import DagsterRunState, Dispatch
from tidemark.center.fact import Fact
from tidemark.center.launch_order import ChainOrder, MarginOrder
from tidemark.center.launch_policy import LaunchPolicy
from tidemark.center.pools import Pools
from tidemark.center.typical_times import TypicalTimes
from tidemark.dependency_model.status import Event
from tidemark.state_store.database import Database
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tidemark.center.launch_order import LaunchOrder
    from tidemark.dependency_model.slice import Slice

_FIRST: Final = datetime.fromisoformat(START).replace(tzinfo=UTC)
_USUAL_DAYS: Final = 1
"""So many days with room for all come before, from which durations are learned."""
_SLOTS: Final = 2


class FirstComeOrder:
    """As it became ready."""

    def __init__(self, center: DependencyCenter) -> None:
        self._center = center

    def sort(self, groups: Sequence[list[Slice]]) -> list[list[Slice]]:
        came = {slice_: number for number, slice_ in enumerate(self._center.ready())}
        return sorted(groups, key=lambda group: came[group[0]])

    def is_promised(self, group: Sequence[Slice]) -> bool:  # noqa: ARG002 - it goes by no promises
        return False


@dataclass(frozen=True, slots=True)
class Kept:
    """Of `promised` promises of the overloaded days, how many each order kept."""

    promised: int
    margin: int
    chain: int
    first_come: int


class OrderOf(Protocol):
    """An order of a center with a clock."""

    def __call__(self, center: DependencyCenter, clock: Callable[[], datetime]) -> LaunchOrder: ...


def measure_overload(seed: int, companies: int) -> Kept:
    """Of so many companies, one day of overload each."""
    counts = [_of_company(random.Random(f"{seed} overload {number}")) for number in range(companies)]
    return Kept(*(sum(column) for column in zip(*counts, strict=True)))


def _of_company(chance: random.Random) -> tuple[int, int, int, int]:
    drawn = draw_company(chance)
    daily = {name: replace(table, hours=()) for name, table in drawn.tables.items() if not table.is_hourly}
    company = Company(daily, _SLOTS)
    seed = chance.random()
    last = max(SimulatedDays(company, 1, random.Random(seed)).run().finish.values()) - DAY
    free = SimulatedDays(Company(company.tables, 99), 1, random.Random(seed)).run().finish
    promised = [name for name in company.tables if name.startswith(("ads", "dws")) and chance.random() < 0.4]
    ready_by = {name: _between(free[name, 0] - DAY + HOUR, last, chance) for name in promised}

    def kept(order: OrderOf) -> int:
        return _Overload(company, ready_by, random.Random(seed), order).kept()

    return (
        len(promised),
        kept(lambda center, clock: MarginOrder(center, TypicalTimes(center.graph, center.store.database), clock)),
        kept(lambda center, clock: ChainOrder(center)),  # noqa: ARG005 - it needs no clock
        kept(lambda center, clock: FirstComeOrder(center)),  # noqa: ARG005
    )


def _between(least: float, most: float, chance: random.Random) -> float:
    """What can be kept, if it is the turn of what it needs: in the first half of the time that all takes."""
    return least + max(0.0, most - least) * chance.uniform(0.0, 0.5)


class _Overload:
    """A center whose clock goes from one event to the next, and the runs that it asks for."""

    def __init__(self, company: Company, ready_by: Mapping[str, float], chance: random.Random, order: OrderOf) -> None:
        self._company, self._ready_by, self._order = company, ready_by, order
        texts = {name: f"{int(at) // HOUR % 24:02}:{int(at) // 60 % 60:02}" for name, at in ready_by.items()}
        self._graph = company.graph(texts)
        days = range(_USUAL_DAYS + 1)
        self._took = {
            (name, day): table.truth.draw_arrival(day, chance) if table.is_external else table.truth.draw(day, chance)
            for day in days
            for name, table in company.tables.items()
        }
        self.now = _FIRST
        self._events: list[tuple[datetime, int, Slice | None, Event, str]] = []
        self._count = 0
        self._finish: dict[Slice, datetime] = {}

    def kept(self) -> int:
        """How many promises of the last day are kept."""
        with tempfile.TemporaryDirectory() as folder:
            store = StateStore(Database.at(Path(folder) / "state.db"))
            center = DependencyCenter(self._graph, store, since=_FIRST, clock=self._clock)
            for day in range(_USUAL_DAYS + 1):
                self._day(center, day, _SLOTS if day == _USUAL_DAYS else 99)
            store.close()
        end = _FIRST + timedelta(days=_USUAL_DAYS + 1)
        return sum(
            self._finish[self._graph.slice_at(name, end - timedelta(hours=1))]
            <= (end + timedelta(seconds=seconds)).replace(second=0, microsecond=0)
            for name, seconds in self._ready_by.items()
        )

    def _clock(self) -> datetime:
        return self.now

    def _day(self, center: DependencyCenter, day: int, slots: int) -> None:
        end = _FIRST + timedelta(days=day + 1)
        for name, table in self._company.tables.items():
            if table.is_external:
                arrives = end + timedelta(seconds=self._took[name, day])
                self._at(arrives, self._graph.slice_at(name, end - timedelta(hours=1)), Event.OBSERVED, "")
            elif table.not_before:
                self._at(end + timedelta(hours=table.not_before), None, Event.RELEASED, "")
        pools = Pools({"default": slots})
        policy = LaunchPolicy(together=1)
        order = self._order(center, self._clock)
        dispatch = Dispatch(center, self, pools, policy=policy, order=order, clock=self._clock)
        self.now = end
        center.tick()
        dispatch.step()
        while self._events:
            self.now, _, slice_, event, run_id = heappop(self._events)
            if slice_ is not None:
                self._finish[slice_] = self.now
                fact = Fact(f"{slice_} {event}", slice_, event, self.now, "figure", data=Facts(run_id=run_id or None))
                center.report([fact], strict=True)
            center.tick()
            dispatch.step()

    def _at(self, at: datetime, slice_: Slice | None, event: Event, run_id: str) -> None:
        self._count += 1
        heappush(self._events, (at, self._count, slice_, event, run_id))

    def launch(self, run_id: str, slices: Sequence[Slice], pool: str, backfill: int | None = None) -> None:  # noqa: ARG002 - one pool
        """The dispatch asks for a run."""
        for slice_ in slices:
            day = (self._graph.window(slice_).start - _FIRST).days
            self._at(self.now + timedelta(seconds=self._took[slice_.entity, day]), slice_, Event.COMPLETED, run_id)

    def state(self, run_id: str) -> DagsterRunState:
        """Whatever was asked for goes on."""
        return DagsterRunState.UNDER_WAY if run_id else DagsterRunState.UNKNOWN
