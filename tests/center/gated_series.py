"""A center without a store, runs that carry rows, and rules that judge them whenever they like.

Days, weeks, months and a quarter hold the same rows as one series; others read it by each policy. Rows are numbers of
deliveries, so that what a slice should hold can be said from what its inputs hold, and what a rule finds is known: each
delivery is good, or bad by the rule of one period of the series.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.dependency_model.world import graph
from tidemark.center.fact import Fact
from tidemark.center.transition_staging import Staging
from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.readiness.index import ReadinessIndex
from tidemark.dependency_model.readiness.release import release
from tidemark.dependency_model.readiness.slice_manifest import SliceManifest, manifest_of
from tidemark.dependency_model.status import Event, Quality, RunState, SliceStatus
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tidemark.dependency_model.slice import Slice

NOW = datetime(2025, 1, 2, tzinfo=UTC)
_DAYS = "start: 2024-12-29, end: 2025-01-01"
_RULES = "quality: [{row_count: {min: 1}}]"
SERIES = ("day", "week", "month", "quarter")
USERS = ("always", "if_changed", "never")
WORLD = graph(
    day=f"{{period: day, series: foo, {_DAYS}, {_RULES}}}",
    week=f"{{period: week, series: foo, {_DAYS}, {_RULES}, depends_on: [day]}}",
    month=f"{{period: month, series: foo, {_DAYS}, {_RULES}, depends_on: [day]}}",
    quarter=f"{{period: quarter, series: foo, {_DAYS}, {_RULES}, depends_on: [month]}}",
    **{name: f"{{period: day, {_DAYS}, reprocess: {name}, depends_on: [day]}}" for name in USERS},
    ask=f"{{period: month, {_DAYS}, reprocess: ask, depends_on: [day]}}",
    loose=f"{{period: day, {_DAYS}, depends_on: [{{entity: day, quality: ignore}}]}}",
    weekly=f"{{period: week, {_DAYS}, reprocess: if_changed, depends_on: [if_changed, week]}}",
    later=f"{{period: quarter, {_DAYS}, reprocess: always, depends_on: [never, quarter, weekly]}}",
)
SLICES = tuple(slice_ for name in WORLD for slice_ in WORLD.slices(name, NOW))
_GOOD = (Quality.PASSED, Quality.IGNORED)
_UNDER_WAY = (RunState.LAUNCHED, RunState.RUNNING)
Rows = frozenset[int]


class Run(NamedTuple):
    """A run under way: what it read when it was launched."""

    name: str
    rows: Rows


def overlap(slice_: Slice, other: Slice) -> bool:
    mine, its = WORLD.window(slice_), WORLD.window(other)
    return mine.start < its.end and its.start < mine.end


def is_around(slice_: Slice, other: Slice) -> bool:
    """Whether `slice_` is of a coarser period of the same series as `other`, and shares time with it."""
    both = slice_.entity in SERIES and other.entity in SERIES
    return both and SERIES.index(slice_.entity) > SERIES.index(other.entity) and overlap(slice_, other)


class GatedSeries:
    """`deliveries` say by which rule each is bad, or None; `latest` is the one that a day would read now.

    `held` is what readers of a slice see, `raised` whose rules are known to be broken, `unjudged` whose published rows
    wait for their rules, with whether these rows are others than before.
    """

    def __init__(self) -> None:
        self.graph, self.index = WORLD, ReadinessIndex(WORLD, datetime(2024, 1, 1, tzinfo=UTC), NOW)
        self.memory: Any = SimpleNamespace(index=self.index, tainted=None, decides=None, manifests={}, runs={})
        self._numbers, self._last = count(1), 0
        self.deliveries: list[str | None] = [None] * sum(slice_.entity == "day" for slice_ in SLICES)
        self.latest = {s: at for at, s in enumerate(s for s in SLICES if s.entity == "day")}
        self.held: dict[Slice, Rows] = {}
        self.raised: set[Slice] = set()
        self.unjudged: dict[Slice, bool] = {}
        self.under_way: dict[Slice, Run] = {}
        self.launched: list[Slice] = []
        self.index.advance(NOW)
        self._decide(self._staging())

    def status(self, slice_: Slice) -> SliceStatus:
        return self.index.status(slice_)

    def deliver(self, day: Slice, broken: str | None) -> None:
        """Other rows of a day, and somebody who asks for the day again where it is there or failed."""
        self.latest[day] = len(self.deliveries)
        self.deliveries.append(broken)
        if self.status(day).run_state in (RunState.COMPLETED, RunState.FAILED):
            self.tell(day, Event.BACKFILL_REQUESTED)

    def launch(self, slice_: Slice) -> None:
        """The dispatch launches what is ready; the run reads at once."""
        released = release(self.graph.requirements(slice_), self.index, NOW, NOW)
        run = f"run {next(self._numbers)}"
        manifest = manifest_of(slice_, COMPLETED, released, self.index, {})
        self.memory.manifests[slice_] = manifest
        self.launched.append(slice_)
        self.under_way[slice_] = Run(run, self.rows_of(slice_, manifest))
        self.tell(slice_, Event.LAUNCHED, run, manifest=manifest)

    def rows_of(self, slice_: Slice, manifest: SliceManifest) -> Rows:
        if slice_.entity == "day":
            return frozenset([self.latest[slice_]])
        used = (input_.slice for inputs in manifest.used_slices.values() for input_ in inputs)
        return frozenset().union(*(self.held[input_] for input_ in used))

    def crash(self, slice_: Slice) -> None:
        self.tell(slice_, Event.FAILED, self.under_way.pop(slice_).name)
        self.memory.manifests.pop(slice_, None)

    def end(self, slice_: Slice, *, audited: bool) -> None:
        """A run ends: with `audited` rows that break its rule are refused, without they are published first."""
        run = self.under_way.pop(slice_)
        if audited and self.breaks(slice_, run.rows):
            self.tell(slice_, Event.FAILED, run.name)
            self.memory.manifests.pop(slice_, None)
            self.raised.add(slice_)
            self.tell(slice_, Event.QUALITY_FAILED, run.name)
            return
        changed = self.held.get(slice_) != run.rows
        self.held[slice_] = run.rows
        if slice_.entity in SERIES:
            self.unjudged[slice_] = changed
        self.tell(slice_, Event.COMPLETED, run.name, changed=changed)
        self.memory.manifests.pop(slice_, None)

    def judge(self, slice_: Slice) -> None:
        """The rules of published rows say what they found."""
        changed = self.unjudged.pop(slice_)
        if self.breaks(slice_, self.held[slice_]):
            self.raised.add(slice_)
            self.tell(slice_, Event.QUALITY_FAILED)
        else:
            self.raised.discard(slice_)
            self.tell(slice_, Event.QUALITY_PASSED, changed=changed)

    def retry(self, slice_: Slice) -> None:
        self.tell(slice_, Event.RETRIED)

    def ignore(self, slice_: Slice) -> None:
        """Somebody decides that a slice will do as it is."""
        self.raised.discard(slice_)
        self.tell(slice_, Event.QUALITY_IGNORED)

    def breaks(self, slice_: Slice, rows: Rows) -> bool:
        return any(self.deliveries[number] == slice_.entity for number in rows)

    def tell(
        self, slice_: Slice, event: Event, run: str | None = None, *, changed: bool = True, manifest: Any = None
    ) -> None:
        """What the center does with a fact, without its store."""
        staging = self._staging()
        data = Facts(run_id=run, manifest=manifest)
        staging.take(Fact(f"{next(self._numbers)}", slice_, event, NOW, "test", changed=changed, data=data))
        self._decide(staging)

    def _staging(self) -> Staging:
        return Staging(self.graph, self.memory, self._last, NOW)

    def _decide(self, staging: Staging) -> None:
        applied = 0
        while True:
            for transition in staging.transitions[applied:]:
                self.index.observe(transition.slice, transition.status, transition.seq)
            applied = len(staging.transitions)
            decisions = self.index.decide()
            if not decisions:
                break
            for told in decisions:
                fact = Fact(f"{next(self._numbers)}", told.slice, told.event, NOW, "center")
                staging.add(fact, told.event, fact.event_id, fact.data)
        self.memory.runs.update(staging.runs)
        self._last = staging.last
        for transition in staging.transitions:  # what is asked for again is not judged any more
            if transition.event is Event.BACKFILL_REQUESTED:
                self.unjudged.pop(transition.slice, None)

    def in_state(self, *run_states: RunState) -> list[Slice]:
        return [slice_ for slice_ in SLICES if self.status(slice_).run_state in run_states]

    def flags(self, slice_: Slice) -> set[Slice]:
        """Which flags it should carry: of slices of its series whose rules are broken, inside or around its window."""
        return {c for c in self.raised if c == slice_ or is_around(c, slice_) or is_around(slice_, c)}

    def may_start(self, slice_: Slice) -> bool:
        """Whether every input is there, judged, and free of any flag but those raised about what it is part of."""
        inputs = [i for requirement in self.graph.requirements(slice_) for i in requirement.slices]
        return all(slice_.entity == "loose" or self._is_good(i, slice_) for i in inputs) and all(
            COMPLETED in self.status(i).states for i in inputs
        )

    def _is_good(self, input_: Slice, reader: Slice) -> bool:
        status = self.status(input_)
        held = {flag for flag in self.flags(input_) if flag != reader and not is_around(flag, reader)}
        return status.quality in _GOOD and not status.tainted and not held

    def wrong_rows(self) -> Iterator[Slice]:
        """Valid slices that hold other rows than their valid inputs; that is what `never` asks for."""
        for slice_ in SLICES:
            inputs = [i for requirement in self.graph.requirements(slice_) for i in requirement.slices]
            is_told = self.status(slice_).valid and all(self._is_valid(i) for i in inputs)
            if not inputs or slice_.entity == "never" or not is_told:
                continue
            if self.held[slice_] != frozenset().union(*(self.held[i] for i in inputs)):
                yield slice_

    def _is_valid(self, slice_: Slice) -> bool:
        status = self.status(slice_)
        return status.valid and status.run_state is RunState.COMPLETED and status.quality in _GOOD

    def heal(self) -> None:
        """What is under way comes to its end; then all deliveries are good, and everything is rebuilt by itself."""
        self.settle()
        for day, number in list(self.latest.items()):
            if self.deliveries[number] or self.held.get(day) != frozenset([number]):
                self.deliver(day, None)
        self.settle()

    def settle(self) -> None:
        for _ in range(300):
            if not any([*map(self._each, ([*self.under_way], [*self.unjudged]), (self._end, self._judge))]):
                ready = self.in_state(RunState.READY)
                for slice_ in ready:
                    if self.status(slice_).run_state is RunState.READY:
                        self.launch(slice_)
                if not ready and not self._a_person_helps():
                    return
        raise AssertionError("it does not come to an end")

    def _each(self, slices: list[Slice], act: Callable[[Slice], None]) -> bool:
        for slice_ in slices:
            act(slice_)
        return bool(slices)

    def _end(self, slice_: Slice) -> None:
        self.end(slice_, audited=True)

    def _judge(self, slice_: Slice) -> None:
        if slice_ in self.unjudged:
            self.judge(slice_)

    def _a_person_helps(self) -> bool:
        """Who retries runs that crashed, and rebuilds what is to be asked about."""
        crashed = [s for s in self.in_state(RunState.FAILED) if s not in self.raised]
        asking = [s for s in self.in_state(RunState.COMPLETED) if s.entity == "ask" and self.status(s).tainted]
        for slice_ in crashed:
            self.tell(slice_, Event.RETRIED)
        for slice_ in asking:
            self.tell(slice_, Event.BACKFILL_REQUESTED)
        return bool(crashed or asking)
