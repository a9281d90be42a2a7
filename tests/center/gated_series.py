"""A center without a store, runs that carry rows, and rules that judge them whenever they like.

Days, weeks, months and a quarter hold the same rows as one series; others read it by each policy. Rows are numbers of
deliveries, so that what a slice should hold can be said from what its inputs hold, and what a rule finds is known: each
delivery is good, or bad by the rule of one period of the series.

The world says by itself what should be: which rules are broken, which rows were judged, how often the rows of a slice
were others than before, and who asked for a slice. It takes none of this from the statuses that it is to check.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.dependency_model.world import graph
from tidemark.center.fact import Fact
from tidemark.center.transition_staging import Staging
from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.entity.entity import Reprocess
from tidemark.dependency_model.readiness.index import ReadinessIndex
from tidemark.dependency_model.readiness.release import release
from tidemark.dependency_model.readiness.slice_manifest import manifest_of
from tidemark.dependency_model.status import Event, RunState, SliceStatus
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.input_read import InputRead
    from tidemark.state_store.transition import Transition

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
_UNDER_WAY = (RunState.LAUNCHED, RunState.RUNNING)
Rows = frozenset[int]


class Seen(NamedTuple):
    """What a run read of an input: of which generation, and how often the input's rows had changed by then."""

    generation: int
    changes: int


class Run(NamedTuple):
    """A run under way: what it read when it was launched."""

    name: str
    rows: Rows
    seen: dict[Slice, Seen]


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
    wait for their rules, with whether these rows are others than before. `there` are slices with rows that nobody asks
    for again, `good` those whose rows passed their rules or were let pass, `changes` how often rows were others than
    before, `seen` what a slice was computed from, `asked` how often a person asked for it. `reads` is what the
    store would tell of the runs, `kept` are slices of which a person said that they will do as they are.
    """

    def __init__(self) -> None:
        self.graph, self.index = WORLD, ReadinessIndex(WORLD, datetime(2024, 1, 1, tzinfo=UTC), NOW)
        self.memory: Any = SimpleNamespace(index=self.index, tainted=None, decides=None, manifests={}, runs={})
        self._numbers, self._last = count(1), 0
        self.reads: set[InputRead] = set()
        self.kept: set[Slice] = set()
        self.deliveries: list[str | None] = [None] * sum(slice_.entity == "day" for slice_ in SLICES)
        self.latest = {s: at for at, s in enumerate(s for s in SLICES if s.entity == "day")}
        self.held: dict[Slice, Rows] = {}
        self.raised: set[Slice] = set()
        self.unjudged: dict[Slice, bool] = {}
        self.under_way: dict[Slice, Run] = {}
        self.launched: list[Slice] = []
        self.there: set[Slice] = set()
        self.good: set[Slice] = set()
        self.changes: Counter[Slice] = Counter()
        self.seen: dict[Slice, dict[Slice, Seen]] = {}
        self.asked: Counter[Slice] = Counter()
        self.by_policy: Counter[Slice] = Counter()
        self.index.advance(NOW)
        self._decide(self._staging())

    def status(self, slice_: Slice) -> SliceStatus:
        return self.index.status(slice_)

    def deliver(self, day: Slice, broken: str | None) -> None:
        """Other rows of a day, and somebody who asks for the day again where it is there or failed."""
        self.latest[day] = len(self.deliveries)
        self.deliveries.append(broken)
        if self.status(day).run_state in (RunState.COMPLETED, RunState.FAILED):
            self.ask_for(day)

    def ask_for(self, slice_: Slice) -> None:
        """Somebody wants it computed again: mostly of the rows that it was computed from before."""
        self.asked[slice_] += 1
        self.tell(slice_, Event.BACKFILL_REQUESTED)

    def keep(self, slice_: Slice) -> None:
        """Somebody who was asked says that it will do with what it was computed from."""
        self.seen[slice_] = self._seen_now(self.inputs(slice_))
        self.kept.add(slice_)
        self.tell(slice_, Event.KEPT)

    def launch(self, slice_: Slice) -> None:
        """The dispatch launches what is ready; the run reads at once."""
        released = release(self.graph.requirements(slice_), self.index, NOW, NOW)
        run = f"run {next(self._numbers)}"
        manifest = manifest_of(slice_, COMPLETED, released, self.index, {})
        self.memory.manifests[slice_] = manifest
        self.launched.append(slice_)
        used = [input_.slice for inputs in manifest.used_slices.values() for input_ in inputs]
        self.under_way[slice_] = Run(run, self.rows_of(slice_, used), self._seen_now(used))
        self.tell(slice_, Event.LAUNCHED, run, manifest=manifest)

    def rows_of(self, slice_: Slice, used: list[Slice]) -> Rows:
        if slice_.entity == "day":
            return frozenset([self.latest[slice_]])
        return frozenset().union(*(self.held[input_] for input_ in used))

    def _seen_now(self, inputs: list[Slice]) -> dict[Slice, Seen]:
        return {input_: Seen(self.status(input_).generation, self.changes[input_]) for input_ in inputs}

    def inputs(self, slice_: Slice) -> list[Slice]:
        return [input_ for requirement in self.graph.requirements(slice_) for input_ in requirement.slices]

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
        self.held[slice_], self.seen[slice_] = run.rows, run.seen
        self.changes[slice_] += changed
        self.kept.discard(slice_)
        self.there.add(slice_)
        self.good.discard(slice_)
        if slice_.entity in SERIES:
            self.unjudged[slice_] = changed
        else:
            self.good.add(slice_)
        self.reads.update(self.memory.manifests[slice_].reads(self.status(slice_).generation))
        self.tell(slice_, Event.COMPLETED, run.name, changed=changed)
        self.memory.manifests.pop(slice_)

    def judge(self, slice_: Slice) -> None:
        """The rules of published rows say what they found."""
        changed = self.unjudged.pop(slice_)
        if self.breaks(slice_, self.held[slice_]):
            self.raised.add(slice_)
            self.tell(slice_, Event.QUALITY_FAILED)
        else:
            self.raised.discard(slice_)
            self.good.add(slice_)
            self.tell(slice_, Event.QUALITY_PASSED, changed=changed)

    def retry(self, slice_: Slice) -> None:
        self.tell(slice_, Event.RETRIED)

    def ignore(self, slice_: Slice) -> None:
        """Somebody decides that a slice will do as it is."""
        self.raised.discard(slice_)
        self.good.add(slice_)
        self.tell(slice_, Event.QUALITY_IGNORED)

    def condemn(self, slice_: Slice) -> None:
        """Somebody finds rows bad that had passed their rules."""
        self.raised.add(slice_)
        self.good.discard(slice_)
        self.tell(slice_, Event.QUALITY_FAILED)

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
        return Staging(self.graph, self.memory, self._last, NOW, reads=self.reads)

    def _decide(self, staging: Staging) -> None:
        applied, tainted = 0, {slice_ for slice_ in SLICES if self.status(slice_).tainted}
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
        for transition in staging.transitions:  # what is asked for again is not there, and not judged any more
            if transition.event is Event.BACKFILL_REQUESTED:
                self.unjudged.pop(transition.slice, None)
                self.there.discard(transition.slice)
                self.good.discard(transition.slice)
                self._require_reason(transition, was_tainted=transition.slice in tainted)

    def _require_reason(self, transition: Transition, *, was_tainted: bool) -> None:
        """A slice is asked for again by a person, or as its policy says: by nobody's whim."""
        slice_ = transition.slice
        if transition.status.generation <= 1 + self.asked[slice_] + self.by_policy[slice_]:
            return
        self.by_policy[slice_] += 1
        seen = self.seen.get(slice_)
        if seen is None:  # what it had computed was refused
            return
        rebuilt = {input_ for input_ in seen if self.status(input_).generation > seen[input_].generation}
        changed = {input_ for input_ in seen if self.changes[input_] > seen[input_].changes}
        policy = self.graph.entity(slice_.entity).reprocess
        assert policy in (Reprocess.ALWAYS, Reprocess.IF_CHANGED), f"{slice_} is asked for, and its policy is {policy}"
        is_let_pass = transition.why.startswith(Event.QUALITY_IGNORED.value)  # by a person: it may be once too often
        assert rebuilt or was_tainted or is_let_pass, (
            f"{slice_} is asked for, and none of its inputs was computed again"
        )
        is_of_input = transition.why in {f"{Event.QUALITY_PASSED.value} {input_}" for input_ in seen}
        if policy is Reprocess.IF_CHANGED and is_of_input:  # where only a flag is lifted it may be once too often
            assert changed, f"{slice_} is asked for, and none of its inputs has changed"

    def in_state(self, *run_states: RunState) -> list[Slice]:
        return [slice_ for slice_ in SLICES if self.status(slice_).run_state in run_states]

    def flags(self, slice_: Slice) -> set[Slice]:
        """Which flags it should carry: of slices of its series whose rules are broken, inside or around its window."""
        return {c for c in self.raised if c == slice_ or is_around(c, slice_) or is_around(slice_, c)}

    def may_start(self, slice_: Slice) -> bool:
        """Whether every input is there, judged, and free of any flag but those raised about what it is part of."""
        inputs = self.inputs(slice_)
        return all(slice_.entity == "loose" or self._is_good(i, slice_) for i in inputs) and self.there.issuperset(
            inputs
        )

    def _is_good(self, input_: Slice, reader: Slice) -> bool:
        held = {flag for flag in self.flags(input_) if flag != reader and not is_around(flag, reader)}
        return input_ in self.good and not self.status(input_).tainted and not held

    def wrong_rows(self) -> Iterator[Slice]:
        """Valid slices computed from other rows than their valid inputs hold now; that is what `never` asks for."""
        for slice_ in SLICES:
            inputs = self.inputs(slice_)
            is_told = self.status(slice_).valid and all(self._is_valid(i) for i in inputs)
            if not inputs or slice_.entity == "never" or not is_told:
                continue
            seen = self.seen[slice_]
            if any(self.changes[input_] > seen[input_].changes for input_ in inputs):
                yield slice_

    def doubtful(self) -> Iterator[Slice]:
        """Valid slices with an input that is not: computed from it before that was known.

        Rows that wait for their rules may carry a flag of rows that were refused, which nobody has read.
        """
        known = self.there - self.unjudged.keys()
        for slice_ in filter(lambda slice_: self.status(slice_).valid, self.there):
            borne = {*self.flags(slice_), *(c for c in self.raised if c == slice_ or is_around(c, slice_))}
            if any(self.status(i).tainted or self.flags(i) - borne for i in self.inputs(slice_) if i in known):
                yield slice_

    def asks_in_vain(self) -> Iterator[Slice]:
        """Whoever is to be asked, and is not, or is asked without a reason; `always` that took no part in a rebuild."""
        for slice_ in self.there:
            inputs, seen = self.inputs(slice_), self.seen[slice_]
            if not all(self._is_valid(input_) for input_ in inputs):
                continue
            rebuilt = any(self.status(input_).generation > seen[input_].generation for input_ in inputs)
            changed = any(self.changes[input_] > seen[input_].changes for input_ in inputs)
            policy, is_tainted = self.graph.entity(slice_.entity).reprocess, self.status(slice_).tainted
            if policy is Reprocess.ASK and is_tainted < changed:
                yield slice_
            if policy is Reprocess.ASK and is_tainted > rebuilt:
                yield slice_
            if policy is Reprocess.ALWAYS and slice_ not in self.under_way and rebuilt:
                yield slice_
            if policy in (Reprocess.NEVER, Reprocess.IF_CHANGED) and is_tainted:
                yield slice_

    def is_to_be_asked(self, slice_: Slice) -> bool:
        """Whether somebody has to decide about it, and its inputs are good."""
        is_asking = self.graph.entity(slice_.entity).reprocess is Reprocess.ASK and self.status(slice_).tainted
        return is_asking and all(self._is_valid(input_) for input_ in self.inputs(slice_))

    def _is_valid(self, slice_: Slice) -> bool:
        return slice_ in self.good and slice_ in self.there and self.status(slice_).valid

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
            self.ask_for(slice_)
        return bool(crashed or asking)
