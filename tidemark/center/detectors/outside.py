"""Finds external slices by their probes (A5, C8).

Each slice that may have readers is watched from its end until it is there and its rules pass, and then for
`recheck_for`: changed data is a new generation, and removed data makes the slice absent. Sights are shown in Dagster
first and then reported, so after a crash they may be shown twice.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final

from tidemark.center.detectors.observed_in_dagster import show_observation
from tidemark.center.detectors.slice_rules import judge
from tidemark.center.fact import Fact
from tidemark.center.isolated_steps import IsolatedSteps
from tidemark.crawl.all_probes import system_of
from tidemark.dependency_model.completeness.slot import LateCounts
from tidemark.dependency_model.entity.rule_text import rule_text
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, Quality, RunState, SliceStatus
from tidemark.dependency_model.status.slice_status import FOREIGN
from tidemark.dependency_model.time.window import seconds_of
from tidemark.state_store.notes import PublishedNotes
from tidemark.state_store.probe_errors import probe_errors
from tidemark.state_store.probe_looks import ProbeLook, probe_looks, probe_requests
from tidemark.state_store.rule_results import RuleResults, StoredRuleResult
from tidemark.state_store.transition import Facts
from tidemark.state_store.witnessed_arrivals import AGAIN, LATECOMER, ORIGIN, WITNESS, witnessed_arrivals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    import dagster as dg

    from tidemark.center.center import DependencyCenter
    from tidemark.center.detectors.slice_rules import RuleVerdict
    from tidemark.crawl.crawler import Crawler, SettledSlice
    from tidemark.dependency_model.arrival.sighting import Sight
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.state_store.database import Database
    from tidemark.state_store.transition import Transition

NEWEST: Final = 1_000
"""The number of newest slices of an entity's part to look for; older ones must be reported."""
_AGAIN: Final = timedelta(minutes=10)
"""The interval of scans: slices may be requested again, or reported by others."""
_LEARNED: Final = 200
_MOST_ERRORS: Final = 1_000
_LONGEST_ERROR: Final = 500
CONTENT: Final = "content"
"""The parameter of an observed slice that changes with its data."""
_SOURCE: Final = "source of the replica"
"""The reporter of faults that the source of a replica found."""
_THERE: Final = RunState.COMPLETED
_ARRIVALS: Final = frozenset({Event.OBSERVED, Event.COMPLETED, Event.BACKFILLED, Event.RECOVERED})
_OF_RUNS: Final = frozenset({Event.COMPLETED, Event.BACKFILLED})
_GOOD: Final = frozenset({Quality.PASSED, Quality.IGNORED})


class OutsideDetector:
    """Watches external slices through one crawler. `clock` is aware."""

    def __init__(
        self, crawler: Crawler, center: DependencyCenter, database: Database, clock: Callable[[], datetime]
    ) -> None:
        self.crawler, self._center, self._database, self._clock = crawler, center, database, clock
        self._results, self._errors = RuleResults(database), PublishedNotes(probe_errors(database))
        self._looks, self._requests = probe_looks(database), probe_requests(database)
        self._noted_looks: set[str] | None = None
        self._scanned: dict[str, datetime] = {}
        self._next_end: dict[str, datetime] = {}
        self._believed: dict[Slice, tuple[int, str]] = {}
        self.isolated = IsolatedSteps()

    def poll(self, instance: dg.DagsterInstance) -> int:
        """Continue the crawl and report sights; returns the number of facts with an effect."""
        now, graph = self._clock(), self._center.graph
        self.isolated.begin()
        for name in graph:
            if graph.entity(name).probe is not None and self._is_to_scan(name, now):
                self.isolated.run(f"slices of {name} to watch", partial(self._scan, name, now), None)
        self.isolated.run("requests to look", partial(self._take_requests, now), None)
        new = 0
        for settled in self.crawler.step(now):
            new += self.isolated.run(f"arrival of {settled.slice}", partial(self._report, settled, instance), 0)
        self.isolated.run("errors of probes", self._note_errors, None)
        self.isolated.run("looks of probes", self._note_looks, None)
        return new

    def _take_requests(self, now: datetime) -> None:
        """Look at once at slices that a person asks for; the first result counts."""
        asked = self._requests.all()
        for text in asked:
            slice_ = Slice.parse(text)
            if self._center.graph.has(slice_) and self._center.graph.entity(slice_.entity).probe is not None:
                self._watch_if_wanted(slice_, self._center.graph.window(slice_).end, now)
                self.crawler.look_now(slice_, now)
        if asked:
            self._requests.remove(*asked)

    def _note_looks(self) -> None:
        """Notes for `status` and `explain`: the last look of each watched slice."""
        if self._noted_looks is None:
            self._noted_looks = {*self._looks.all()}
        looks = {
            str(watched.slice): ProbeLook(
                watched.sighting.at, watched.due, watched.sighting.sight.why[:_LONGEST_ERROR]
            ).to_json()
            for watched in self.crawler.take_looked()
            if watched.sighting is not None
        }
        watched_now = (
            {str(watched.slice) for watched in self.crawler.watched()} if self._noted_looks or looks else set()
        )
        if gone := self._noted_looks - watched_now:
            self._looks.remove(*gone)
        if looks:
            self._looks.put(looks)
        self._noted_looks = (self._noted_looks - gone) | looks.keys()

    def _note_errors(self) -> None:
        """Notes for `status`."""
        newest = islice(self.crawler.errors.items(), _MOST_ERRORS)
        self._errors.become({str(slice_): error[:_LONGEST_ERROR] for slice_, error in newest})

    def _is_to_scan(self, name: str, now: datetime) -> bool:
        scanned = self._scanned.get(name)
        return scanned is None or not scanned <= now < min(scanned + _AGAIN, self._next_end[name])

    def _scan(self, name: str, now: datetime) -> None:
        """Watch every ended slice that is wanted, and stop for others."""
        if name not in self._scanned:
            self._learn(name)
        node = self._center.graph.node(name)
        self._scanned[name], self._next_end[name] = now, now + _AGAIN
        for sub in node.subs:
            for slice_, end in self._ended(name, sub, now):
                self._watch_if_wanted(slice_, end, now)

    def _ended(self, name: str, sub: Sub, now: datetime) -> Iterator[tuple[Slice, datetime]]:
        node = self._center.graph.node(name)
        grid, existing = node.grid_of(sub), node.existing_of(sub)
        if grid is None:
            yield node.slice(0, sub), now
            return
        present = grid.at(seconds_of(now))
        self._next_end[name] = min(self._next_end[name], grid.window(present).end)
        ended = min(existing.stop, present)
        for ordinal in range(max(existing.start, ended - NEWEST), ended):
            yield node.slice(ordinal, sub), grid.window(ordinal).end

    def _watch_if_wanted(self, slice_: Slice, end: datetime, now: datetime) -> None:
        entity = self._center.graph.entity(slice_.entity)
        is_wanted = _is_wanted(entity, self._center.status(slice_)) or self._is_rechecked(entity, end, now)
        if entity.probe is None or not is_wanted:
            self.crawler.forget(slice_)
            self._believed.pop(slice_, None)
            return
        was_there = self._center.status(slice_).run_state is _THERE
        self.crawler.watch(slice_, end, entity.probe, system_of(entity.probe), now, was_there=was_there)

    def _learn(self, name: str) -> None:
        graph = self._center.graph
        for slice_, seen in witnessed_arrivals(self._database, name, _LEARNED):
            if graph.exists(slice_):
                self.crawler.learn(name, graph.window(slice_).end, seen)

    def _report(self, settled: SettledSlice, instance: dg.DagsterInstance) -> int:
        slice_, sight = settled.slice, settled.sighting.sight
        entity, status = self._center.graph.entity(slice_.entity), self._center.status(slice_)
        if not sight.is_there:
            is_gone = status.run_state is _THERE and self._was_seen(slice_)
            return self._center.report([_removal(settled, status)]).new if is_gone else 0
        if FOREIGN in status.states and self._is_before_the_overwrite(settled):
            return 0
        is_wanted, is_other = _is_wanted(entity, status), self._is_other(entity, slice_, sight, status)
        is_rechecked = self._is_rechecked(entity, self._center.graph.window(slice_).end, self._clock())
        if not (is_wanted or is_rechecked):
            self.crawler.forget(slice_)
        if not (is_wanted or is_other):
            return self._center.report(list(self._faults(settled, status))).new
        verdicts = judge(entity, sight)
        is_good = not any(verdict.holds_back for verdict in verdicts)
        is_new = status.run_state is not _THERE or is_other
        if is_new or is_good or status.quality is not Quality.FAILED:
            show_observation(instance, entity, slice_, sight, verdicts, is_new=is_new)
        facts = _facts(settled, status, verdicts, is_good=is_good, is_other=is_other)
        new = self._center.report([*facts, *([_tainted(settled, status)] if sight.fault else ())]).new
        self._results.put(list(_results(entity, settled, verdicts)))
        if is_new and settled.is_witnessed and entity.period is not None and not is_other:
            self.crawler.learn(entity.name, self._center.graph.window(slice_).end, _first_seen(settled))
        if is_good and not is_rechecked:
            self.crawler.forget(slice_)
        return new

    def _faults(self, settled: SettledSlice, status: SliceStatus) -> Iterator[Fact]:
        """The taint of a slice that its source found wrong later, or its end. A taint by others stays."""
        if status.run_state is not _THERE or bool(settled.sighting.sight.fault) == status.tainted:
            return
        if settled.sighting.sight.fault:
            yield _tainted(settled, status)
            return
        history = self._center.store.read.history(settled.slice)
        taint = next((step for step in reversed(history) if step.event is Event.TAINTED), None)
        if taint is not None and taint.who == _SOURCE:
            seen = settled.sighting.at
            event_id = f"probe:{settled.slice}:{status.generation}:{seen.isoformat()}:kept"
            why = "its source found it good again"
            yield Fact(event_id, settled.slice, Event.KEPT, seen, _SOURCE, why, generation=status.generation)

    def _is_rechecked(self, entity: Entity, end: datetime, now: datetime) -> bool:
        """Whether a complete slice is still looked at; not with `late: keep`."""
        probe = entity.probe
        if probe is None or not probe.recheck_for or probe.late is LateCounts.KEEP:
            return False
        return now < end + probe.recheck_for

    def _was_seen(self, slice_: Slice) -> bool:
        """Whether a probe saw its data; a person may report a slice as complete that no probe finds."""
        history = self._center.store.read.history(slice_)
        arrival = next((step for step in reversed(history) if step.event in _ARRIVALS), None)
        return arrival is not None and arrival.who in (WITNESS, LATECOMER, AGAIN)

    def _is_before_the_overwrite(self, settled: SettledSlice) -> bool:
        """Whether the look saw the data that another program has changed since."""
        history = self._center.store.read.history(settled.slice)
        return any(step.event is Event.OVERWRITTEN and step.event_time >= settled.sighting.at for step in history)

    def _is_other(self, entity: Entity, slice_: Slice, sight: Sight, status: SliceStatus) -> bool:
        """Whether the data changed; without a noted content, the first sight counts.

        If other rows replace rows that broke a rule, readers must not get the broken rows. Data that was reported as
        overwritten is other data.
        """
        if FOREIGN in status.states and status.run_state is _THERE:
            return True
        is_looked_at = entity.probe is not None and (entity.probe.recheck_for or _is_wanted(entity, status))
        if status.run_state is not _THERE or not is_looked_at:
            self._believed.pop(slice_, None)
            return False
        generation, believed = self._believed.get(slice_, (0, ""))
        if generation != status.generation:
            history = self._center.store.read.history(slice_)
            # The rows that a run of this center computed are not those of a later holder of its flows.
            is_of_run = bool(sight.origin) and any(step.event in _OF_RUNS for step in history)
            believed = content_of_history(history) if is_of_run else _any_content(history) or sight.content
            self._believed[slice_] = (status.generation, believed)
        return believed != sight.content


def content_of_history(history: Sequence[Transition]) -> str:
    """The content that a probe saw last, if no run has computed the slice since; otherwise empty."""
    last_run = max((at for at, step in enumerate(history) if step.event in _OF_RUNS), default=-1)
    return _any_content(history[last_run + 1 :])


def _any_content(history: Sequence[Transition]) -> str:
    contents = (step.facts.parameters.get(CONTENT) for step in reversed(history))
    return next((str(content) for content in contents if content), "")


def _is_wanted(entity: Entity, status: SliceStatus) -> bool:
    """Whether the slice is missing, its rules have not passed yet, or its data was reported as overwritten."""
    is_bad = bool(entity.quality) and status.quality not in _GOOD
    return status.run_state is not _THERE or is_bad or FOREIGN in status.states


def _tainted(settled: SettledSlice, status: SliceStatus) -> Fact:
    seen, fault = settled.sighting.at, settled.sighting.sight.fault
    event_id = f"probe:{settled.slice}:{status.generation}:{seen.isoformat()}:tainted"
    return Fact(event_id, settled.slice, Event.TAINTED, seen, _SOURCE, fault)


def _removal(settled: SettledSlice, status: SliceStatus) -> Fact:
    slice_, seen = settled.slice, settled.sighting.at
    event_id = f"probe:{slice_}:{status.generation}:{seen.isoformat()}:gone"
    why = f"it is not there any more: {settled.sighting.sight.why}"
    return Fact(event_id, slice_, Event.DELETED, seen, AGAIN, why, generation=status.generation)


def _facts(
    settled: SettledSlice, status: SliceStatus, verdicts: tuple[RuleVerdict, ...], *, is_good: bool, is_other: bool
) -> Iterator[Fact]:
    slice_, sight = settled.slice, settled.sighting.sight
    is_first = status == SliceStatus()
    # A probe sees the data at the time of its look: reports before the look are older, even if the data is older too.
    seen = _first_seen(settled) if is_first else settled.sighting.at
    who = (WITNESS if settled.is_witnessed else LATECOMER) if is_first else AGAIN
    event_id = f"probe:{slice_}:{status.generation}:{seen.isoformat()}"
    why = f"it was changed: {sight.why}" if is_other else sight.why
    yield Fact(event_id, slice_, Event.OBSERVED, seen, who, why, replaces=is_other, data=facts_of_sight(sight))
    if verdicts:
        event = Event.QUALITY_PASSED if is_good else Event.QUALITY_FAILED
        why = "; ".join(verdict.reason for verdict in verdicts if is_good or verdict.holds_back)
        yield Fact(f"{event_id}:{event.value}", slice_, event, seen, who, why)


def _results(entity: Entity, settled: SettledSlice, verdicts: tuple[RuleVerdict, ...]) -> Iterator[StoredRuleResult]:
    """Results of the rules for Dagster, once for each sight."""
    sight, texts = settled.sighting.sight, map(rule_text, entity.quality)
    version = int(sight.version) if sight.version and sight.version.isdecimal() else None
    for verdict, expected in zip(verdicts, texts, strict=True):
        yield StoredRuleResult(
            settled.slice,
            verdict.name,
            settled.sighting.since,
            "warn" if verdict.warns else "block",
            "passed" if verdict.passed else "broken",
            expected,
            verdict.reason,
            {},
            sight.rows,
            version,
        )


def facts_of_sight(sight: Sight) -> Facts:
    """The facts about a slice's data that a probe reported."""
    watermarks = {} if sight.watermark is None else {"source": sight.watermark}
    parameters: dict[str, object] = {CONTENT: sight.content} if sight.content else {}
    if sight.origin:
        parameters[ORIGIN] = dict(sight.origin)
    return Facts(row_count=sight.rows, snapshot_id=sight.version, watermarks=watermarks, parameters=parameters)


def _first_seen(settled: SettledSlice) -> datetime:
    return settled.sighting.first_seen or settled.sighting.since
