"""Subscription to Dagster's event log by cursor, for runs of the center, the UI and backfills alike.

A planned materialization is a started run, a materialization a completed one. A wiped asset is absent; a run deleted
from Dagster's storage says nothing about the data. Rules have passed if the run evaluated them
(`rules_checked_by_run`): a slice reported without a run stays `quality unknown`. A run that ended without its planned
materialization has failed. What it reports later, about slices of another run, does not count (`late_results`). The
position is written with the facts, some seconds behind them (`log_tail`): after a restart, a few events are read again
and recognized by id. An event that cannot be understood (`told_event`), or causes an unexpected error, is refused
alone.

Event numbers belong to one storage. Another log, or a truncated one (`log_identity`), is read from the beginning, and
events older than the last known one are skipped.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Final

import dagster as dg
from dagster import DagsterEventType, EventLogRecord, EventRecordsFilter, RunRecord

from tidemark.center.detectors.late_results import LateResults
from tidemark.center.detectors.log_identity import KINDS, why_other_log
from tidemark.center.detectors.log_tail import COMMIT_SECONDS, Tail
from tidemark.center.detectors.refused_events import RefusedEvents
from tidemark.center.detectors.rules_checked_by_run import RunChecks
from tidemark.center.detectors.run_failure import failure_of
from tidemark.center.detectors.storable_json import is_storable
from tidemark.center.detectors.told_event import PROBE_KEY, facts_from_metadata, told_slice
from tidemark.center.fact import CHANGED, Fact
from tidemark.center.outages import OUTAGES
from tidemark.dagster_internals.asset_wipes import wipe_times
from tidemark.dependency_model.readiness.slice_manifest import SliceManifest
from tidemark.dependency_model.status import Event, RunState
from tidemark.errors import ParseError, TerminalError
from tidemark.state_store.transition import OF_DAGSTER, RUN_IN_DAGSTER, Facts
from tidemark.system.utc_clock import utc_now
from tidemark.warehouse.dagster_partition_keys import partition_of
from tidemark.warm_runs.run_identity import (
    RUN_TAG,
    OutsideEnd,
    launch_of,
    outside_end,
    own_tag,
    refused_assets,
    run_of_launch,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tidemark.center.center import DependencyCenter
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.reader import StateReader

CURSOR: Final = "dagster"
TIME_CURSOR: Final = "dagster time"
"""The write time of the newest event read, in epoch seconds: valid in any storage."""
_IS_THERE: Final = frozenset({Event.COMPLETED, Event.OBSERVED})
_AT_ONCE: Final = 1_000
_RUNS_AT_ONCE: Final = 200
_MOST_RUNS: Final = 10_000
_MOST_LOSSES: Final = 3
_LONGEST_RUN: Final = 256
_LOGGER: Final = logging.getLogger("tidemark")
_ENDED: Final = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)


def event_id(entry: dg.EventLogEntry, slice_: Slice) -> str:
    """The same id for an event in any storage, because record numbers are reused."""
    kind = "begun:" if entry.dagster_event_type is DagsterEventType.ASSET_MATERIALIZATION_PLANNED else ""
    return f"{OF_DAGSTER}{entry.run_id}:{entry.timestamp:.6f}:{kind}{slice_}"


class EventLogDetector:
    """Reads one Dagster storage for one center; `instance` may be replaced by another one of the same storage."""

    def __init__(
        self,
        instance: dg.DagsterInstance,
        center: DependencyCenter,
        read: StateReader,
        refused: RefusedEvents | None = None,
    ) -> None:
        self.instance, self._center, self._read = instance, center, read
        self.refused = refused or RefusedEvents(utc_now)
        self._tail = Tail(int(read.cursor(CURSOR) or 0), time.monotonic, time.time)
        self._newest, self._passes_over = float(read.cursor(TIME_CURSOR) or 0), float("-inf")
        self._is_compared = False
        self._runs: dict[str, str] = {}
        self._wiped: dict[str, float] = {}
        self._late = LateResults()
        self._of_others: set[tuple[Slice, str]] = set()
        self.launches_without_run: frozenset[str] = frozenset()
        """Launches of the center under way of which Dagster had no run at the last look: not yet, or no more."""
        self._begun_meanwhile: dict[Slice, Fact] = {}
        """Starts of other runs while a run had the slice: it may have ended by then."""

    def poll(self, *, reconcile: bool = True) -> int:
        """Read all new events; returns the number of facts with an effect.

        With `reconcile`, also events that became visible late, and runs that ended without their planned results.
        """
        if reconcile:
            self._notice_other_log()
        ended, new, begun = self._ended_runs() if reconcile else {}, 0, time.monotonic()
        after = self._tail.safe_cursor if reconcile else self._tail.last
        while records := self._next(after):
            after = records[-1].storage_id
            new += self._take_in([record for record in records if self._tail.is_new(record.storage_id)])
            if reconcile:
                self._tail.advance(begun)
        if reconcile:
            unknown = {run for run, record in ended.items() if record is None}
            self.launches_without_run = frozenset(unknown & {run for run, _ in self._center.launched_slices().values()})
        new += self._take_in_unread(ended)
        new += self._center.report(list(self._unfinished(ended))).new
        return new + (self._center.report(list(self._begun_before_the_end())).new if self._begun_meanwhile else 0)

    def _take_in_unread(self, ended: Mapping[str, RunRecord | None]) -> int:
        """Materializations of successful runs whose slices are still active: they were missed.

        This happens because event numbers are reused after the newest events were deleted.
        """
        names = {run for run, _ in self._center.under_way().values() if run} & ended.keys()
        all_ended = [record.dagster_run for name in sorted(names) if (record := ended[name]) is not None]
        runs = [run for run in all_ended if run.status is dg.DagsterRunStatus.SUCCESS]
        checks, kind = RunChecks(self.instance), DagsterEventType.ASSET_MATERIALIZATION
        records = [
            record for run in runs for record in self.instance.get_records_for_run(run.run_id, of_type=kind).records
        ]
        facts = [fact for record in records for fact in self._facts(record, checks)]
        return self._center.report(facts).new if facts else 0

    def _notice_other_log(self) -> None:
        """Start again if Dagster's storage is another one. After the first look, only its length is compared."""
        newest, self._is_compared = 0.0 if self._is_compared else self._newest, True
        if why := why_other_log(self.instance, self._tail.last, newest):
            _LOGGER.warning(
                "Dagster's event log %s, and was read to event %s: it is another log, or was cut. "
                "It is read from its beginning; slices that are completed stay so.",
                why,
                self._tail.last,
            )
            self._passes_over = self._newest - COMMIT_SECONDS
            self._tail = Tail(0, time.monotonic, time.time)

    def _take_in(self, records: list[EventLogRecord]) -> int:
        if not records:
            return 0
        news = [record for record in records if record.timestamp >= self._passes_over]
        self._newest = max([self._newest, *(record.timestamp for record in records)])
        try:
            new = self._commit(news)
        except OUTAGES:
            raise
        except Exception:  # noqa: BLE001 - an unforeseen error in one record must not stop the others
            new = sum(map(self._commit_alone, news))
        for record in records:
            self._tail.take(record.storage_id, record.timestamp)
        return new

    def _commit(self, records: list[EventLogRecord]) -> int:
        checks = RunChecks(self.instance)
        told = [(fact, record) for record in records for fact in self._understood(record, checks)]
        cursors = {CURSOR: str(self._tail.safe_cursor), TIME_CURSOR: repr(self._newest)}
        receipt = self._center.report([fact for fact, _ in told], cursors=cursors)
        of_fact = {id(fact): record for fact, record in told}
        for fact, error in receipt.refused:
            self._refuse(of_fact[id(fact)], error)
        return receipt.new

    def _commit_alone(self, record: EventLogRecord) -> int:
        try:
            return self._commit([record])
        except OUTAGES:
            raise
        except Exception as error:  # noqa: BLE001 - as above
            self._refuse(record, error)
            return 0

    def _understood(self, record: EventLogRecord, checks: RunChecks) -> list[Fact]:
        try:
            return list(self._facts(record, checks))
        except TerminalError as error:
            self._refuse(record, error)
            return []

    def _refuse(self, record: EventLogRecord, error: Exception) -> None:
        key = record.asset_key
        self.refused.refuse(
            self.instance, key.to_user_string() if key else "", f"event {record.storage_id} of Dagster's log", error
        )

    def _next(self, after: int) -> list[EventLogRecord]:
        """The next records of all kinds, in order, up to the last position that was read of every kind."""
        by_kind = [
            self.instance.event_log_storage.get_event_records(
                EventRecordsFilter(event_type=kind, after_cursor=after), limit=_AT_ONCE, ascending=True
            )
            for kind in KINDS
        ]
        full = [records[-1].storage_id for records in by_kind if len(records) == _AT_ONCE]
        everything = sorted(chain.from_iterable(by_kind), key=lambda record: record.storage_id)
        return [record for record in everything if not full or record.storage_id <= min(full)]

    def _facts(self, record: EventLogRecord, checks: RunChecks) -> Iterator[Fact]:
        entry = record.event_log_entry
        event = entry.dagster_event
        if event is None or event.asset_key is None:
            return
        run, when = self._run(entry.run_id), datetime.fromtimestamp(entry.timestamp, UTC)
        is_there = event.event_type is DagsterEventType.ASSET_MATERIALIZATION
        if is_there and PROBE_KEY in event.step_materialization_data.materialization.metadata:
            return  # reported by the crawl, which also reported it to the center
        for slice_ in self._slices(event):
            at, last_runs = (entry.run_id, record.storage_id), self._center.memory.runs
            if is_there and self._late.is_late(self.instance, slice_, last_runs, run, at):
                continue
            id_, why = event_id(entry, slice_), f"run {entry.run_id}"
            if not is_there:
                started = Fact(id_, slice_, Event.STARTED, when, "dagster", why, data=Facts(run_id=run))
                if last_runs.get(slice_) not in (None, run):
                    self._begun_meanwhile[slice_] = started
                yield started
                continue
            entity, told = (
                self._center.graph.entity(slice_.entity),
                facts_from_metadata(event.step_materialization_data.materialization),
            )
            data = Facts(
                run_id=run,
                row_count=told.rows,
                snapshot_id=told.version,
                code=told.code,
                code_content=told.code_content,
                parameters={**told.figures, **({} if told.changed else {CHANGED: False})},
                manifest=_manifest(told.reads, slice_),
            )
            is_last = told.state not in entity.state_names[:-1]
            reached = Event.COMPLETED if is_last else Event.REACHED
            state = None if is_last else told.state
            changed = told.changed
            yield Fact(id_, slice_, reached, when, "dagster", why, state=state, changed=changed, data=data)
            if told.missing:
                yield Fact(f"{id_}:missing", slice_, Event.LACKING, when, "dagster", f"without {told.missing}")
            if entity.quality and checks.have_passed(entry.run_id, entity, event.partition):
                passed = Event.QUALITY_PASSED
                warned = checks.broken(entry.run_id, entity, event.partition)
                held = f"its checks passed, with warnings: {warned}" if warned else "its checks passed"
                yield Fact(f"{id_}:quality", slice_, passed, when, "dagster", held, changed=changed)

    def _slices(self, event: dg.DagsterEvent) -> Iterator[Slice]:
        """The slices of an event; none for an asset without an entity. Raises RequestError for an invalid key."""
        name = event.asset_key.to_user_string() if event.asset_key else ""
        if name not in self._center.graph:
            return
        entity = self._center.graph.entity(name)
        keys = [event.partition] if event.partition else []
        if event.event_type is DagsterEventType.ASSET_MATERIALIZATION_PLANNED:
            subset = event.asset_materialization_planned_data.partitions_subset
            keys += subset.get_partition_keys() if subset else []
        if entity.is_static:
            yield told_slice(self._center.graph, name, None)
            return
        for key in keys:
            yield told_slice(self._center.graph, name, key)

    def _run(self, run_id: str) -> str:
        """The center's run id; the run's own id if the center did not launch it."""
        if run_id not in self._runs:
            if len(self._runs) >= _MOST_RUNS:
                self._runs.clear()
            run = self.instance.get_run_by_id(run_id)
            asked = launch_of(self.instance, run) if run else run_id
            self._runs[run_id] = asked if len(asked) <= _LONGEST_RUN and is_storable(asked) else run_id
        return self._runs[run_id]

    def _ended_runs(self) -> dict[str, RunRecord | None]:
        """Active runs that have ended by now; None for runs that Dagster does not have.

        Ask before reading their last events.
        """
        wanted = sorted({run for run, _ in self._center.under_way().values() if run})
        ended: dict[str, RunRecord | None] = {}
        for start in range(0, len(wanted), _RUNS_AT_ONCE):
            some = wanted[start : start + _RUNS_AT_ONCE]
            by_id = self.instance.get_run_records(dg.RunsFilter(run_ids=some))
            tagged = self.instance.get_run_records(dg.RunsFilter(tags={RUN_TAG: some}))
            # Of two runs with one id, the center's own counts, then the first: others were refused.
            known = {asked: record for record in tagged if (asked := own_tag(record.dagster_run, RUN_TAG))}
            known.update((record.dagster_run.run_id, record) for record in by_id)
            records = {name: known.get(name) for name in some}
            ended.update((name, record) for name, record in records.items() if record is None or _has_ended(record))
        return ended

    def _unfinished(self, ended: dict[str, RunRecord | None]) -> Iterator[Fact]:
        checks = RunChecks(self.instance)
        for slice_, (run, _) in self._center.under_way().items():
            if run is None or run not in ended:
                continue
            record, entity = ended[run], self._center.graph.entity(slice_.entity)
            if record is None:
                yield from self._deleted(run, slice_)
                continue
            event = _end_of(record.dagster_run, slice_, self._losses(record.dagster_run, slice_))
            cause = self._failure(record.dagster_run, slice_) if event is Event.FAILED else ""
            yield from _endings(record, run, slice_, entity, checks, event, cause)

    def _failure(self, run: dg.DagsterRun, slice_: Slice) -> str:
        return failure_of(self.instance, run.run_id, slice_.entity)

    def _begun_before_the_end(self) -> Iterator[Fact]:
        """Starts of active runs that came while another run had the slice."""
        under_way = self._center.under_way()
        for slice_, started in list(self._begun_meanwhile.items()):
            goes_on = self._goes_on(started)
            if slice_ not in under_way and goes_on:
                yield replace(started, event_time=datetime.now(UTC))
            if slice_ not in under_way or not goes_on or under_way[slice_][0] == started.data.run_id:
                del self._begun_meanwhile[slice_]

    def _goes_on(self, started: Fact) -> bool:
        """Whether the run of a reported start is still active."""
        run = run_of_launch(self.instance, started.data.run_id or "")
        return run is not None and not run.is_finished

    def _deleted(self, run: str, slice_: Slice) -> Iterator[Fact]:
        """Facts about a slice whose run was deleted from Dagster."""
        status = self._center.status(slice_)
        if status.run_state is not RunState.RUNNING or (slice_, run) in self._of_others:
            return
        begun = [transition for transition in self._read.history(slice_) if transition.event is Event.STARTED]
        if begun and begun[-1].event_id.startswith(OF_DAGSTER):
            event_id = f"deleted:{run}:{slice_}"
            yield Fact(event_id, slice_, Event.LOST, datetime.now(UTC), "dagster", f"run {run} was deleted")
        else:
            self._of_others.add((slice_, run))

    def _losses(self, run: dg.DagsterRun, slice_: Slice) -> int:
        """How often runs of the slice's present generation were lost before this lost one."""
        if outside_end(run) is not OutsideEnd.LOST:
            return 0
        generation = self._center.status(slice_).generation
        history = self._read.history(slice_)
        return sum(step.event is Event.LOST and step.status.generation == generation for step in history)

    def inspect_wiped(self) -> int:
        """Mark wiped assets as absent; slices that wait for them keep waiting. Call it after `poll`.

        A slice that another system reported was never in Dagster, so it cannot have been wiped.
        """
        times = wipe_times(self.instance, list(self._center.graph))
        news = {name: at for name, at in times.items() if at > self._wiped.get(name, 0.0)}
        if not news:
            return 0
        facts, why = list[Fact](), "its materialization was wiped"
        for slice_, status in self._center.completed_slices():
            at = news.get(slice_.entity)
            if at is not None and self._was_there(slice_, at):
                id_, when = f"wiped:{slice_}:{status.generation}", datetime.fromtimestamp(at, UTC)
                facts.append(Fact(id_, slice_, Event.DELETED, when, "dagster", why))
        self._wiped.update(news)
        return self._center.report(facts).new if facts else 0

    def _was_there(self, slice_: Slice, wiped_at: float) -> bool:
        """Whether Dagster itself reported the slice as complete last, and before the asset was wiped."""
        said = [transition for transition in self._read.history(slice_) if transition.event in _IS_THERE]
        return not said or (said[-1].event_id.startswith(OF_DAGSTER) and said[-1].event_time.timestamp() <= wiped_at)


def _has_ended(record: RunRecord) -> bool:
    return record.dagster_run.status in _ENDED


def _endings(
    record: RunRecord, name: str, slice_: Slice, entity: Entity, checks: RunChecks, event: Event, cause: str
) -> Iterator[Fact]:
    """Facts about a slice whose run ended without it, by reason; `cause` is the error of the run.

    Rows that failed a blocking rule were not published, so the slice is invalid too. A crashed rule says nothing.
    """
    run = record.dagster_run
    partition = partition_of(entity, slice_)
    broken = checks.broken(run.run_id, entity, partition)
    ended = f"run {run.run_id} ended ({run.status.value.lower()}) without it{_WHY.get(event, '')}"
    why = broken or cause or ended
    data = Facts(run_id=name, parameters={RUN_IN_DAGSTER: run.run_id})
    when = datetime.fromtimestamp(record.end_time, UTC) if record.end_time else datetime.now(UTC)
    yield Fact(f"ended:{name}:{slice_}", slice_, event, when, "dagster", why, data=data)
    if broken and event is Event.FAILED and checks.have_refused(run.run_id, entity, partition):
        event_id = f"ended:{name}:{slice_}:quality"
        yield Fact(event_id, slice_, Event.QUALITY_FAILED, when, "dagster", broken, data=data)


_WHY: Final = {
    Event.REFUSED: ": its inputs are not there",
    Event.CANCELLED: ": it was cancelled",
    Event.INTERRUPTED: ": its process was stopped",
    Event.LOST: ": its process is lost",
}


def _end_of(run: dg.DagsterRun, slice_: Slice, losses: int) -> Event:
    """A slice whose runs are lost repeatedly is probably the cause: the next loss counts as its failure.

    Dagster skips what is downstream of a refused asset, and the run succeeds.
    """
    refused = refused_assets(run)
    if slice_.entity in refused or (refused and run.status is dg.DagsterRunStatus.SUCCESS):
        return Event.REFUSED
    end = outside_end(run)
    if end is OutsideEnd.INTERRUPTED:
        return Event.INTERRUPTED
    if end is OutsideEnd.LOST and losses < _MOST_LOSSES:
        return Event.LOST
    return Event.CANCELLED if run.status is dg.DagsterRunStatus.CANCELED else Event.FAILED


def _manifest(told: str, slice_: Slice) -> SliceManifest | None:
    """The inputs that a run reports; None if missing or unreadable."""
    try:
        manifest = SliceManifest.of_json(told) if told else None
    except (ValueError, KeyError, TypeError, ParseError):
        return None
    return manifest if manifest is not None and manifest.slice == slice_ else None
