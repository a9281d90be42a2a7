"""A center whose project changes, and whose runs and backfills people touch: no Dagster, a clock set by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tidemark.center.backfill_planning import plan_of
from tidemark.center.backfills import BackfillDriver
from tidemark.center.center import DependencyCenter
from tidemark.center.dispatch import DagsterRunState, Dispatch
from tidemark.center.errors import LaunchError
from tidemark.center.fact import CHANGED, Fact
from tidemark.center.launch_policy import LaunchPolicy
from tidemark.center.pools import Pools
from tidemark.dependency_model.backfill import BackfillPhase, BackfillPlan
from tidemark.dependency_model.entity import parse_entity
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, SliceStatus
from tidemark.state_store.backfills import BackfillRequest, Backfills
from tidemark.state_store.database import Database
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tidemark.dependency_model.backfill.progress import BackfillAction

DAY = "2031-05-05"
SINCE = datetime(2031, 5, 1, tzinfo=UTC)
REQUEST = BackfillRequest("ann", "the feed repeated itself", "some slices")


class Runs:
    """Every run that was asked for, with its slices; refuses them while `is_down`."""

    def __init__(self) -> None:
        self.slices: dict[str, list[str]] = {}
        self.is_down = False

    def launch(self, run_id: str, slices: Sequence[Slice], pool: str, backfill: int | None = None) -> None:  # noqa: ARG002
        if self.is_down:
            raise LaunchError("no answer")
        self.slices.setdefault(run_id, [str(slice_) for slice_ in slices])

    def state(self, run_id: str) -> DagsterRunState:
        return DagsterRunState.UNDER_WAY if run_id in self.slices else DagsterRunState.UNKNOWN


class ChangingWorld:
    """`declare` is a new process of the center, with other declarations."""

    def __init__(
        self, folder: Path, texts: Mapping[str, str], *, attempts: int = 2, together: int = 1, **more: str
    ) -> None:
        self.now = datetime(2031, 5, 6, 12, tzinfo=UTC)
        self.runs, self.attempts, self.told = Runs(), attempts, 0
        self.together = together
        self.start, self.pools = more.get("start", DAY), more.get("pools", "default=9")
        self.store = StateStore(Database.at(folder / "state.db"))
        self.stored = Backfills(self.store.database)
        self.declare(texts)

    def declare(self, texts: Mapping[str, str]) -> None:
        defaults = {"time_zone": "UTC", "start": self.start}
        entities = [parse_entity(text, name, defaults=defaults) for name, text in texts.items()]
        self.graph = DependencyGraph.build(entities)
        self.center = DependencyCenter(self.graph, self.store, since=SINCE, clock=lambda: self.now)
        self.driver = BackfillDriver(self.center, lambda: self.now)
        self.dispatch = Dispatch(
            self.center,
            self.runs,
            Pools.parse(self.pools),
            policy=LaunchPolicy(attempts=self.attempts, together=self.together),
            clock=lambda: self.now,
            backfills=self.driver,
        )

    def step(self) -> list[str]:
        """One tick; the slices of the runs that it asked for."""
        before = set(self.runs.slices)
        self.driver.refresh()
        self.center.tick()
        self.dispatch.step()
        return sorted(name for run in self.runs.slices.keys() - before for name in self.runs.slices[run])

    def settle(self, most: int = 60) -> list[str]:
        """Let all runs come to a good end; what was launched, in order."""
        launched: list[str] = []
        for _ in range(most):
            launched += self.step()
            under_way = list(self.center.under_way())
            if not under_way:
                break
            for slice_ in under_way:
                self.end(str(slice_))
        return launched

    def fact(self, text: str, event: str, run: str | None = None, at: datetime | None = None) -> Fact:
        self.told += 1
        data = Facts(run_id=run) if run else Facts()
        return Fact(f"told {self.told}", Slice.parse(text), Event(event), at or self.now, "test", data=data)

    def tell(
        self, text: str, event: str, run: str | None = None, at: datetime | None = None, *, changed: bool = True
    ) -> int:
        fact = self.fact(text, event, run, at)
        if run and not changed:
            fact = replace(fact, changed=False, data=replace(fact.data, parameters={CHANGED: False}))
        return self.center.report([fact], strict=True).new

    def end(self, text: str, how: str = "completed") -> None:
        """The run that has the slice ends so."""
        run, _ = self.center.under_way()[Slice.parse(text)]
        self.tell(text, how, run)

    def later(self, **delta: float) -> None:
        self.now += timedelta(**delta)

    def status(self, text: str) -> SliceStatus:
        return self.center.status(Slice.parse(text))

    def generation(self, name: str, day: str = DAY) -> int:
        return self.status(f"{name}@{day}").generation

    def state(self, name: str, day: str = DAY) -> str:
        return self.status(f"{name}@{day}").run_state.value

    def events(self, text: str) -> str:
        return " ".join(step.event.value for step in self.store.read.history(Slice.parse(text)))

    def backfill(self, *roots: str) -> int:
        plan = plan_of(self.graph, self.store, [Slice.parse(root) for root in roots], self.now)
        return self.stored.add(plan, REQUEST, BackfillPhase.RUNNING)

    def dagster_backfill(self, *roots: str) -> int:
        """The rest of a backfill of Dagster's pages, whose own runs rebuild the roots."""
        members = plan_of(self.graph, self.store, [Slice.parse(root) for root in roots], self.now).members
        after = {slice_: self.status(str(slice_)).generation for slice_ in map(Slice.parse, roots)}
        told = {slice_: replace(member, after=after.get(slice_)) for slice_, member in members.items()}
        return self.stored.add(BackfillPlan(told), REQUEST, BackfillPhase.RUNNING)

    def act(self, number: int, action: BackfillAction) -> None:
        self.stored.act(number, action)

    def phase(self, number: int) -> str:
        return self.stored.row(number).phase.value

    def progress(self, number: int) -> dict[str, str]:
        return {row.slice.entity: row.progress.value for row in self.stored.members(number)}
