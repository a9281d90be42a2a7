"""Merges change records into Delta tables and tags snapshots. One step reads all available records.

Each table keeps its own offsets in its own commits. After a crash between two tables, or between a commit and its tags,
the next step reconciles the state (B1, B2, B4).
"""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession

from tidemark.capture.apply.empty_for_reload import reload_table
from tidemark.capture.apply.table_ingest import TableIngest, TableOutcome
from tidemark.capture.apply.take_over import take_over
from tidemark.capture.audit.hold_entries import HoldEntries, hold_or_release
from tidemark.capture.binlog.accepted_findings import AcceptedFindings
from tidemark.capture.binlog.gtid_policy import BinlogPolicy
from tidemark.capture.binlog.halted_sources import HaltedSources
from tidemark.capture.commits.capture_lease import CaptureLease
from tidemark.capture.commits.commit_state import Commit, CommitState, last_commit
from tidemark.capture.commits.foreign_writes import write_of_others
from tidemark.capture.commits.read_progress import ReadProgress
from tidemark.capture.errors import ChangeFileError
from tidemark.capture.heartbeat.liveness import note_look
from tidemark.capture.heartbeat.newest_heartbeats import NewestBeats
from tidemark.capture.initial_load.reload_requests import ReloadRequests
from tidemark.capture.operations.earlier_notes import take_in_earlier_notes
from tidemark.capture.operations.ingestion_report import (
    IngestReport,
    held_warnings,
    missed_warnings,
    snapshot_waiting,
    untagged_warnings,
)
from tidemark.capture.operations.instance_leases import taking_in
from tidemark.capture.operations.reload_order import order_start
from tidemark.capture.operations.step_state import StepPosition, StepResult, problem_of_instance, state_of_topics
from tidemark.capture.operations.trim_side_tables import trim_if_due
from tidemark.capture.planning.commit_planner import CommitPlan, make_plan
from tidemark.capture.planning.read_groups import AGAIN_SHARE, LAGGING_SHARE, read_groups
from tidemark.capture.planning.readable_offsets import ReadableScan, readable_scan
from tidemark.capture.planning.slice_ends import missed_slice_ends, open_slice_ends, waits_of
from tidemark.capture.snapshots.tagging import keep_newest, tag_accepted, tag_commit, tag_missing
from tidemark.capture.source.change_files import ChangeFile
from tidemark.capture.source.dead_letters import DeadLetters
from tidemark.capture.source.file_intake import FileIntake
from tidemark.capture.source.intake import Due, Intake, ReadUnit
from tidemark.capture.source.scan import Scan
from tidemark.capture.source.scan_summary import MalformedDeclaration
from tidemark.capture.source.unrouted import Unrouted
from tidemark.capture.source_table import SourceTable, instances_of, topic_of
from tidemark.delta.delta_rs_table import current_version
from tidemark.dependency_model.time import Calendar
from tidemark.errors import TidemarkError
from tidemark.spark.temporary_settings import settings, worth_compiling
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.crash_points import crash_point
from tidemark.system.files import writable_directory
from tidemark.system.settings import Settings
from tidemark.system.utc_clock import utc_now

THREADS = 2


class Ingestion:
    """The capture of a set of tables. Leases ensure that one process at a time merges the changes of an instance.

    Records come from `intake`, by default from landed change files.
    """

    def __init__(
        self,
        spark: SparkSession,
        settings: Settings,
        sources: Sequence[SourceTable],
        registry: SnapshotRegistry,
        intake: Intake | None = None,
        policy: BinlogPolicy | None = None,
    ) -> None:
        self._spark = spark
        self._settings = settings
        self._sources = tuple(sources)
        self._registry, self._database = registry, registry.database
        self._intake: Intake = intake or FileIntake(settings.landing)
        self._calendar = Calendar(settings.time_zone)
        self._tables = {
            source.name: TableIngest(spark, source, settings.warehouse, self._calendar) for source in sources
        }
        self._unrouted = Unrouted(settings.warehouse)
        self._dead_letters = DeadLetters(settings.warehouse)
        self._policy = policy or BinlogPolicy.of(settings)
        self._position = StepPosition()

    def step(self) -> IngestReport:
        """Take in everything that has landed, tag complete snapshots, and report what waits.

        Raises after all other records were taken in: the first of ChangeFileError, OffsetGapError, ColumnTypeError,
        DeclarationError, ChangeValueError, ForeignCommitError, UnexpectedTableError. Raises before anything is done:
        AlreadyRunningError, FencedCaptureError, DiskPathError. Raises FencedError if the process was stopped for so
        long that another process has its instances.
        """
        started = time.monotonic()
        if isinstance(self._settings.warehouse, Path):
            writable_directory(self._settings.warehouse)
        with taking_in(self._settings, self._database, self._sources) as held:
            take_in_earlier_notes(self._settings, self._database)
            lease = CaptureLease.obtain(self._settings, self._database, utc_now())
            step = StepResult(lease=lease, held=held)
            position = self._with_reloads(self._with_logs(self._position, step), step)
            position = self._with_accepted(self._with_audited(position, step), step)
            position = self._passes(position, step)
            self._position = replace(position, stopped=frozenset(step.stopped))
            self._note(position, step)
            trim_if_due(self._settings, utc_now(), self._registry, self._sources)
        if step.problems:
            raise step.problems[0]
        return self._report(step, position, time.monotonic() - started)

    def _note(self, position: StepPosition, step: StepResult) -> None:
        """Write the notes that commands on any host read between steps."""
        instances, fences = instances_of(self._sources), step.held.fences
        HaltedSources(self._database).write(instances, position.findings, fences)
        ReadProgress(self._database).write(self._sources, position.states, fences)
        NewestBeats(self._database).note(step.beats, fences)
        note_look(self._database, instances, utc_now(), fences)

    def _with_logs(self, position: StepPosition, step: StepResult) -> StepPosition:
        """The position of each table by its own log. Tags that a crash left unwritten are written now."""
        for source in self._sources:
            path = self._settings.warehouse / source.name
            version = current_version(path)
            if position.is_at(source.name, version, step.lease):
                continue
            step.closed += tag_missing(self._registry, path, position.accepted, source.audited)
            keep_newest(self._registry, source)
            last = last_commit(path)
            state = replace(CommitState() if last is None else last.state, lease=step.lease)
            position = replace(position.with_table_at(source.name, state, version), units={})
            missed = missed_slice_ends(source, self._calendar, state.closed, state.merged_ms)
            step.warnings += missed_warnings(missed)
            foreign = write_of_others(path, last, version) if last and version else None
            if last and foreign:
                # Nothing is merged on top of it, and the next step checks it again.
                step.stop(source.name, foreign)
                position = position.with_table_at(source.name, state, None)
            elif last:
                position = self._taken_over(position, step, source.name)
        return position

    def _taken_over(self, position: StepPosition, step: StepResult, name: str) -> StepPosition:
        """The position after a commit that fences writers with an older lease."""
        try:
            known, warehouse = position.versions[name], self._settings.warehouse
            version, state = take_over(self._spark, warehouse, name, position.states[name], known)
        except Exception as error:  # noqa: BLE001 - the boundary of a table: others go on whatever it was
            step.stop(name, error)
            return position.with_table_at(name, position.states[name], None)
        return position if version is None else position.with_table_at(name, state, version)

    def _with_reloads(self, position: StepPosition, step: StepResult) -> StepPosition:
        """The position after requested reloads. Tables without requests are unchanged."""
        requests = ReloadRequests(self._database)
        for source in self._sources:
            try:
                if not position.states[source.name].batch:
                    order_start(self._settings, self._database, source)
                for request in requests.after(source.name, position.states[source.name].reloads):
                    if not request.is_whole and source.name in step.stopped:
                        continue  # rows of other shards may be from a foreign write
                    state = position.states[source.name]
                    session, warehouse = self._spark.newSession(), self._settings.warehouse
                    version, state = reload_table(
                        session, source, warehouse, state, request, position.versions[source.name]
                    )
                    position = replace(position.with_table_at(source.name, state, version), units={})
                    step.commits += 1
            except Exception as error:  # noqa: BLE001 - the boundary of a table: others go on whatever it was
                step.stop(source.name, error)
        return position

    def _with_audited(self, position: StepPosition, step: StepResult) -> StepPosition:
        """The position after the audit's entries: tables with wrong rows are held, repaired ones released."""
        for source in self._active(self._sources, step):
            try:
                state = position.states[source.name]
                entries = HoldEntries(self._database).after(source.name, state.audited)
                if entries:
                    session, warehouse = self._spark.newSession(), self._settings.warehouse
                    known = position.versions[source.name]
                    version, state = hold_or_release(session, source, warehouse, state, entries, known)
                    position = replace(position.with_table_at(source.name, state, version), units={})
                    step.commits += 1
            except Exception as error:  # noqa: BLE001 - the boundary of a table: others go on whatever it was
                step.stop(source.name, error)
        return position

    def _with_accepted(self, position: StepPosition, step: StepResult) -> StepPosition:
        """The position with the findings that people accepted. If there are new ones, records are read again."""
        accepted = AcceptedFindings(self._database).offsets()
        if accepted == position.accepted:
            return position
        for source in self._sources:
            path = self._settings.warehouse / source.name
            step.closed += tag_accepted(self._registry, path, accepted, source.audited)
        return replace(position, accepted=accepted, units={})

    def _passes(self, position: StepPosition, step: StepResult) -> StepPosition:
        """Take in everything in turns: a pass of tables at similar offsets, then a small pass of each that lags.

        Tables that failed in the last step have passes of their own, so that a repeated failure does not cost the
        others a pass.
        """
        goes_on = True
        while goes_on:
            goes_on = False
            active, offsets = self._active(self._sources, step), position.offsets(self._sources)
            for group in read_groups([source for source in active if source.name not in position.stopped], offsets):
                share = LAGGING_SHARE if goes_on else 1.0
                position, more = self._pass(position, step, self._active(group, step), share)
                goes_on |= more
            for group in read_groups([source for source in active if source.name in position.stopped], offsets):
                position, more = self._pass(position, step, self._active(group, step), AGAIN_SHARE)
                position = replace(position, stopped=position.stopped - {source.name for source in group})
                goes_on |= more
        return position

    @staticmethod
    def _active(sources: Sequence[SourceTable], step: StepResult) -> list[SourceTable]:
        return [source for source in sources if source.name not in step.stopped]

    def _pass(
        self, before: StepPosition, step: StepResult, active: Sequence[SourceTable], share: float
    ) -> tuple[StepPosition, bool]:
        """Take in one bounded set of records for tables at similar offsets. False if nothing more follows."""
        step.held.require()
        key = tuple(source.name for source in active)
        reached = before.next_offsets(active, step.blocked)
        due = self._intake.due(reached, step.refused, share * step.scale[key])
        if self._block(before, step, active, due):
            return before, True
        if not due.units or due.units == before.units.get(key):
            return before, False
        known_problems = len(step.problems)
        try:
            with settings(self._spark, worth_compiling(sum(unit.records for unit in due.units))):
                scan = self._intake.scan(self._spark, due, self._sources, reached)
        except ChangeFileError as error:
            self._refuse(step, due.units, error)
            return before, True
        try:
            after = self._take_in(before, step, scan, active, due)
        except TidemarkError:
            raise
        except Exception as error:  # noqa: BLE001 - the boundary of tables that are read together: the others go on
            after = before
            for source in active:
                step.stop(source.name, error)
        finally:
            scan.close()
        if any(source.name in step.stopped for source in active):
            # The others go on without the failed table; the next step tries it again.
            return replace(after, units={}), True
        stands = all(after.states[name].batch == before.states[name].batch for name in key) and (
            after.offsets(active) == before.offsets(active)
        )
        if stands:
            step.scale[key] *= 2
        # Reading more records after a halt does not end the halt.
        is_stuck = stands and (len(step.problems) > known_problems or any(after.halted.get(name) for name in key))
        units = {} if step.stopped else {**after.units, key: due.units}
        return replace(after, units=units), due.more and not is_stuck

    def _block(self, position: StepPosition, step: StepResult, active: Sequence[SourceTable], due: Due) -> bool:
        """Record the instances whose next records are missing, once in a step. Returns whether there are new ones."""
        blocked = {
            (source.name, instance): problem
            for source in active
            for instance in source.instances
            if (source.name, instance) not in step.blocked
            and (problem := problem_of_instance(position.states[source.name], instance, due)) is not None
        }
        step.blocked |= blocked.keys()
        step.problems += [problem for problem in blocked.values() if str(problem) not in map(str, step.problems)]
        return bool(blocked)

    def _refuse(self, step: StepResult, chosen: Sequence[ReadUnit], error: ChangeFileError) -> None:
        """Go on without the file and the later records of the same topic."""
        bad = next(unit for unit in chosen if isinstance(unit, ChangeFile) and unit.path == error.path)
        step.refused[bad.instance] = bad.first_offset
        step.problems.append(error)

    def _take_in(
        self, before: StepPosition, step: StepResult, scan: Scan, active: Sequence[SourceTable], due: Due
    ) -> StepPosition:
        step.problems += scan.gaps.values()
        step.warnings += self._unrouted.keep(scan)
        step.warnings += self._dead_letters.keep_messages(scan, self._without_table(scan))
        states = {source.name: state_of_topics(before.states[source.name], source, due) for source in active}
        reached = before.next_offsets(active, step.blocked)
        watched = readable_scan(scan, active, states, reached, self._policy, before.accepted, step.blocked)
        step.hear(watched.order.newest_beats)
        step.warnings += [finding for finding in watched.clocks.findings if finding not in step.warnings]
        plans = self._plans(step, watched, active, states)
        step.warnings += [text for text in _failed_loads(scan, active, states) if text not in step.warnings]
        step.warnings += [text for plan in plans.values() for text in untagged_warnings(plan.untagged)]
        after = replace(
            before,
            halted={**before.halted, **{source.name: watched.findings_of(source) for source in active}},
            waiting={**before.waiting, **{name: plan.waiting for name, plan in plans.items()}},
        )
        with ThreadPoolExecutor(THREADS, thread_name_prefix="ingest") as pool:
            running = {
                name: pool.submit(
                    self._tables[name].run, scan, watched.order, plan.batches, states[name], before.versions[name]
                )
                for name, plan in plans.items()
                if plan.batches
            }
        for name, future in running.items():
            after = self._settle(after, step, name, future)
        return after

    def _without_table(self, scan: Scan) -> list[MalformedDeclaration]:
        """Unreadable schema changes of tables that no entity captures."""
        return [
            malformed
            for malformed in scan.summary.malformed_declarations
            if not any(
                source.holds(malformed.instance, name) for source in self._sources for name in malformed.physical
            )
        ]

    def _plans(
        self, step: StepResult, watched: ReadableScan, active: Sequence[SourceTable], states: Mapping[str, CommitState]
    ) -> dict[str, CommitPlan]:
        plans: dict[str, CommitPlan] = {}
        for source in active:
            try:
                plans[source.name] = self._plan(source, watched, states[source.name])
            except Exception as error:  # noqa: BLE001 - the boundary of a table: others go on whatever it was
                step.stop(source.name, error)
        return plans

    def _plan(self, source: SourceTable, watched: ReadableScan, state: CommitState) -> CommitPlan:
        streams = watched.streams(source, state)
        reached = max((mark.newest_ms for stream in streams for mark in stream.marks), default=0)
        slice_ends = open_slice_ends(source, self._calendar, state.closed, state.merged_ms, reached)
        waits = [*state.waits, *waits_of(source, slice_ends)]
        return make_plan(streams, [*slice_ends, *waits], max(state.closed.values(), default=None))

    def _settle(self, before: StepPosition, step: StepResult, name: str, future: Future[TableOutcome]) -> StepPosition:
        """Write the tags of a table's commits. Returns the new position."""
        try:
            outcome = future.result()
        except Exception as error:  # noqa: BLE001 - the boundary of a table: others go on whatever it was
            step.stop(name, error)
            # Commits before the failure are in the table's log.
            rest = {table: state for table, state in before.states.items() if table != name}
            return self._with_logs(replace(before, states=rest), step)
        crash_point("ingest.before_tags")
        step.held.require()
        version, path, audited = before.versions[name], self._settings.warehouse / name, outcome.table.audited
        for version, state in outcome.committed:
            commit = Commit(version, utc_now(), state)
            step.closed += tag_commit(self._registry, path, commit, before.accepted, audited)
            step.warnings += held_warnings(state, before.accepted)
            step.changes[name] += state.counts["changes"]
            step.late[name] += state.counts["late"]
        if any(state.closes for _, state in outcome.committed):
            keep_newest(self._registry, outcome.table)
        crash_point("ingest.after_tags")
        step.commits += len(outcome.committed)
        step.warnings += outcome.warnings
        return before.with_table_at(name, outcome.state, version)

    def _report(self, step: StepResult, position: StepPosition, seconds: float) -> IngestReport:
        waiting = tuple(
            snapshot_waiting(slice_end, position.states[name].watermarks, position.halted.get(name, ()))
            for name, slice_ends in position.waiting.items()
            for slice_end in slice_ends
        )
        return IngestReport(
            changes=dict(step.changes),
            late={name: count for name, count in step.late.items() if count},
            commits=step.commits,
            closed=tuple(step.closed),
            waiting=waiting,
            warnings=tuple(step.warnings),
            seconds=seconds,
            halted=position.findings,
        )


def _failed_loads(scan: Scan, sources: Sequence[SourceTable], states: Mapping[str, CommitState]) -> list[str]:
    """A warning for each failed load since the last read of the table."""
    return [
        failed.warning(source.name)
        for failed in scan.summary.failed_loads
        for source in sources
        if source.holds(failed.instance, failed.physical)
        and failed.offset >= states[source.name].offsets.get(topic_of(failed.instance), 0)
    ]
