"""Stages facts and decisions for the store: transitions with the next numbers, based on known statuses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.center.inputs_changed_during_run import late_events
from tidemark.center.inputs_changed_unseen import inputs_of, is_running_unseen
from tidemark.center.report_vocabulary import MadeBy, made_by
from tidemark.center.reports_before import NOTHING_BEFORE, is_judged, report_of
from tidemark.dependency_model.entity.entity import Reprocess
from tidemark.dependency_model.status import Event
from tidemark.dependency_model.status.consequence import has_bad_inputs, steps
from tidemark.dependency_model.status.late_report import is_late
from tidemark.dependency_model.status.propagation import REPROCESS
from tidemark.dependency_model.status.report_to_events import Source, events_of, events_of_others
from tidemark.dependency_model.status.slice_status import RunState, SliceStatus
from tidemark.dependency_model.status.transition import row_of
from tidemark.dependency_model.time.window import seconds_of
from tidemark.state_store.high_watermark import high_watermark
from tidemark.state_store.transition import NOTHING_TOLD, Transition

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence
    from datetime import datetime

    from tidemark.center.fact import Fact
    from tidemark.center.in_memory_state import CenterMemory
    from tidemark.center.reports_before import Before
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.readiness.slice_manifest import SliceManifest
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status.input_read import InputRead
    from tidemark.dependency_model.status.late_report import ReportBefore
    from tidemark.state_store.transition import Facts

_FINISHED = (Event.COMPLETED, Event.BACKFILLED, Event.OBSERVED, Event.REACHED)
_FACT_OF_ITSELF = frozenset({Event.LAUNCHED, Event.FORCED})


class Staging:
    """Changes nothing outside: its contents are written together, or discarded."""

    def __init__(
        self,
        graph: DependencyGraph,
        memory: CenterMemory,
        last: int,
        now: datetime,
        below: Staging | None = None,
        reads: Container[InputRead] = frozenset(),
        before: Before = NOTHING_BEFORE,
        missed: Container[Slice] = frozenset(),
    ) -> None:
        self._graph, self._memory, self._now = graph, memory, now
        self._below, self._reads, self._missed = below, reads, missed
        self._last = last
        self._reports: dict[Slice, Sequence[ReportBefore]] = dict(before)
        self._statuses: dict[Slice, SliceStatus] = {}
        self.runs: dict[Slice, str] = {}
        self.transitions: list[Transition] = []

    @property
    def last(self) -> int:
        """The number of the last transition."""
        return self._last + len(self.transitions)

    def get(self, slice_: Slice, /) -> SliceStatus | None:
        """The status of a slice after all staged events."""
        status = self._statuses.get(slice_)
        if status is None:
            status = self._below.get(slice_) if self._below else self._memory.index.statuses.get(slice_)
        return status

    def take(self, fact: Fact) -> bool:
        """Stage a fact with all its effects; returns whether it is new.

        Raises TransitionError for an impossible event, ParseError for a slice that does not exist.
        """
        self._graph.window(fact.slice)
        status = self.get(fact.slice) or SliceStatus()
        if fact.generation is not None and fact.generation < status.generation:
            return False
        run, before = fact.data.run_id, self.reports(fact.slice)
        judged = is_judged(fact, self._graph)
        holder = self.run_of(fact.slice) if status.run_state in (RunState.LAUNCHED, RunState.RUNNING) else None
        if judged and is_late(report_of(fact), before, holder):
            return False
        source = self._source(fact, holder)
        if made_by(self._graph.node(fact.slice.entity), fact.slice) is MadeBy.OTHERS:
            events = events_of_others(fact.event, status, source, replaces=fact.replaces)
        else:
            events = events_of(fact.event, status, source)
        for number, event in enumerate(self._with_checks(fact, events)):
            data = fact.data if event in _FINISHED or event in _FACT_OF_ITSELF or len(events) == 1 else NOTHING_TOLD
            if data.manifest is not None and event not in (*_FINISHED, Event.LAUNCHED):
                data = replace(data, manifest=None)
            self.add(fact, event, f"{fact.event_id}#{number}" if number else fact.event_id, data)
        if run is not None and events:
            self.runs[fact.slice] = run
        if judged and events:
            self._reports[fact.slice] = [*before, report_of(fact)]
        return bool(events)

    def reports(self, slice_: Slice) -> Sequence[ReportBefore]:
        """Earlier reports of a slice, oldest first, if one of the staged facts may be late."""
        own = self._reports.get(slice_)
        return (self._below.reports(slice_) if self._below else ()) if own is None else own

    def _source(self, fact: Fact, holder: str | None) -> Source:
        """The source of a report. A run of the center, or one that Dagster knows, owns its slice until the run ends."""
        run = fact.data.run_id
        if run is None or run == self.run_of(fact.slice):
            return Source.OF_ITS_RUN
        if holder is None or self._memory.launched.get(fact.slice) == holder:
            return Source.OF_ANOTHER
        is_of_dagster = any(report.run == holder and report.is_of_dagster for report in self.reports(fact.slice))
        return Source.OF_ANOTHER if is_of_dagster else Source.OF_THE_NEXT

    def add(self, fact: Fact, event: Event, event_id: str, data: Facts) -> None:
        """Stage an event with its effects."""
        followers = steps(
            self._graph,
            self,
            fact.slice,
            event,
            self._now,
            changed=fact.changed,
            tainted=self._memory.tainted,
            state=fact.state,
            before=fact.before,
            decides=self._memory.decides,
            reads=self._reads,
            asks=self._asks(fact, event),
        )
        for number, step in enumerate(followers):
            is_own = not number
            status = self._with_watermark(step.slice, step.status, data) if is_own else step.status
            self._statuses[step.slice] = status
            self.transitions.append(
                Transition(
                    seq=self.last + 1,
                    event_id=event_id if is_own else f"{event_id}>{number}",
                    slice=step.slice,
                    event=step.event,
                    status=status,
                    who=fact.who,
                    why=fact.why if is_own else f"{fact.event.value} {step.cause}",
                    event_time=fact.event_time,
                    record_time=self._now,
                    facts=data if is_own else NOTHING_TOLD,
                )
            )

    def _with_watermark(self, slice_: Slice, status: SliceStatus, data: Facts) -> SliceStatus:
        """The status with its high watermark, if a reader asks for it: the reported one, else the slice's end."""
        is_asked = any(edge.dependency.beyond for edge in self._graph.downstream_edges(slice_.entity))
        if not is_asked or status.run_state is not RunState.COMPLETED:
            return status
        reported = high_watermark(data.watermarks)
        if reported is None and status.watermark is None and not self._graph.entity(slice_.entity).is_static:
            reported = seconds_of(self._graph.window(slice_).end)
        return status if reported is None else replace(status, watermark=reported)

    def merge(self, other: Staging) -> None:
        """Add what was staged on top of this."""
        self._statuses.update(other._statuses)
        self.runs.update(other.runs)
        self._reports.update(other._reports)
        self.transitions.extend(other.transitions)

    def run_of(self, slice_: Slice) -> str | None:
        """The last run of a slice."""
        run = self.runs.get(slice_)
        if run is None:
            run = self._below.run_of(slice_) if self._below else self._memory.runs.get(slice_)
        return run

    def _with_checks(self, fact: Fact, events: tuple[Event, ...]) -> Iterator[Event]:
        """Without rules, a completed slice has passed; changes during its computation are applied."""
        yield from events
        if not events or events[-1] not in (*_FINISHED, Event.RECOVERED):
            return
        if not self._graph.entity(fact.slice.entity).quality:
            yield Event.QUALITY_PASSED
        if events[-1] is Event.RECOVERED:
            return
        manifest = fact.data.manifest or self._memory.manifests.get(fact.slice)
        if manifest is not None:
            yield from self._late(manifest)
        elif events[-1] in (Event.COMPLETED, Event.BACKFILLED):
            yield from self._missed_by(fact.slice)

    def _missed_by(self, slice_: Slice) -> Iterator[Event]:
        """The effect of inputs that a run without a manifest found invalid, or did not see."""
        if has_bad_inputs(self._graph, slice_, self):
            yield Event.TAINTED
        elif slice_ in self._missed or self._brings_rows_for(slice_):
            event = Event(REPROCESS[self._graph.entity(slice_.entity).reprocess].changed)
            if event is not Event.KEPT:
                yield event

    def _brings_rows_for(self, slice_: Slice) -> bool:
        """Whether this commit has rows of an input that an active run without a manifest has not seen."""
        if not is_running_unseen(self._memory, slice_):
            return False
        staged = (*(self._below.transitions if self._below else ()), *self.transitions)
        new = {step.slice for step in staged if row_of(step.event).brings_rows} - {slice_}
        return bool(new) and not new.isdisjoint(inputs_of(self._graph, slice_))

    def _asks(self, fact: Fact, event: Event) -> bool:
        """Whether a new slice is tainted because its valid inputs have other rows now."""
        if fact.is_question:
            return True
        is_late = event is Event.TAINTED and fact.event in _FINISHED
        policy = self._graph.entity(fact.slice.entity).reprocess
        return is_late and policy is Reprocess.ASK and not has_bad_inputs(self._graph, fact.slice, self)

    def _late(self, manifest: SliceManifest) -> Iterator[Event]:
        status = self.get(manifest.slice)
        if status is not None and status.run_state is RunState.COMPLETED:
            yield from late_events(self._graph, manifest, self)
