"""Records of changes into Delta tables and named snapshots: one step takes in whatever is there.

Each table keeps its own offsets in its own commits, so a crash between two tables, or between a commit and the
names it gives, is made good by the next step (B1, B2, B4).
"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from pyspark.sql import SparkSession

from tidemark.capture.apply.table_ingest import TableIngest, TableOutcome
from tidemark.capture.binlog.accepted import Accepted
from tidemark.capture.binlog.finding import Finding
from tidemark.capture.binlog.halted import Held
from tidemark.capture.binlog.policy import SPARSE, Policy
from tidemark.capture.commits.commit_state import Commit, CommitState, last_commit
from tidemark.capture.epoch import utc_now
from tidemark.capture.errors import ChangeFileError, UnexpectedTableError
from tidemark.capture.heartbeat.liveness import note_look
from tidemark.capture.heartbeat.newest_beats import Arrived
from tidemark.capture.operations.report import IngestReport, missed_warnings, snapshot_waiting, unnamed_warnings
from tidemark.capture.planning.boundaries import missed_boundaries, open_boundaries, waits_of
from tidemark.capture.planning.planner import Plan, Waiting, make_plan
from tidemark.capture.planning.readable import Watched, watch_scan
from tidemark.capture.snapshots.naming import keep_newest, name_commit, name_missing
from tidemark.capture.source.dead_letters import DeadLetters
from tidemark.capture.source.file_intake import FileIntake
from tidemark.capture.source.intake import Due, Intake, Piece
from tidemark.capture.source.landing import ChangeFile
from tidemark.capture.source.scan import Scan
from tidemark.capture.source.summary import MalformedDeclaration
from tidemark.capture.source.unrouted import Unrouted
from tidemark.capture.source_table import SourceTable, instances_of, topic_of
from tidemark.delta.table import current_version
from tidemark.dependency_model.errors import TidemarkError
from tidemark.dependency_model.time import Calendar
from tidemark.spark.settings import settings, worth_compiling
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot
from tidemark.system.crash import crash_point
from tidemark.system.disk import writable_directory
from tidemark.system.lock import only_one
from tidemark.system.settings import Settings

THREADS = 2


@dataclass
class _Step:
    """What a step has gathered so far. `refused` are offsets of unusable files per instance.

    A pass that moved nothing on was too small: `scale` makes the next one bigger.
    """

    changes: Counter[str] = field(default_factory=Counter)
    late: Counter[str] = field(default_factory=Counter)
    commits: int = 0
    closed: list[TaggedSnapshot] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    problems: list[TidemarkError] = field(default_factory=list)
    refused: dict[str, int] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    scale: int = 1
    beats: dict[str, int] = field(default_factory=dict)


class Ingestion:
    """The capture of a set of tables; one instance at a time works on a warehouse, guarded by a lock.

    Records come from `intake`, without one from landed change files.
    """

    def __init__(
        self,
        spark: SparkSession,
        settings: Settings,
        sources: Sequence[SourceTable],
        registry: SnapshotRegistry,
        intake: Intake | None = None,
        policy: Policy = SPARSE,
    ) -> None:
        self._spark = spark
        self._settings = settings
        self._sources = tuple(sources)
        self._registry = registry
        self._intake: Intake = intake or FileIntake(settings.landing)
        self._calendar = Calendar(settings.time_zone)
        self._tables = {one.name: TableIngest(spark, one, settings.warehouse, self._calendar) for one in sources}
        self._unrouted = Unrouted(settings.warehouse)
        self._states: dict[str, CommitState] = {}
        self._versions: dict[str, int | None] = {}
        self._waiting: dict[str, tuple[Waiting, ...]] = {}
        self._read: Sequence[Piece] = ()
        self._policy = policy
        self._accepted: Mapping[str, frozenset[int]] = {}
        self._held: dict[str, tuple[Finding, ...]] = {}

    def step(self) -> IngestReport:
        """Take in everything that has landed, name what is complete, and say what waits.

        Raises, after having taken in all that can be, the first of ChangeFileError, OffsetGapError, ColumnTypeError,
        ChangeValueError; before anything AlreadyRunningError, DiskPathError.
        """
        started = time.monotonic()
        writable_directory(self._settings.warehouse)
        with only_one(self._settings.data / "ingestion.lock", "taking in changes"):
            step = _Step()
            self._load_states(step)
            self._load_accepted()
            while self._pass(step):
                pass
            Held.of(self._settings).write(self._findings())
            Arrived.of(self._settings).note(step.beats)
            note_look(self._settings, utc_now())
        if step.problems:
            raise step.problems[0]
        return self._report(step, time.monotonic() - started)

    def _load_states(self, step: _Step) -> None:
        """Where each table stands, from its own log; names that a crash kept from being written are written now."""
        for source in self._sources:
            path = self._settings.warehouse / source.name
            version = current_version(path)
            if source.name in self._states and self._versions[source.name] == version:
                continue
            step.closed += name_missing(self._registry, path)
            keep_newest(self._registry, source)
            last = last_commit(path)
            self._states[source.name] = CommitState() if last is None else last.state
            self._versions[source.name] = version
            self._read = ()
            step.warnings += self._missed(source)

    def _load_accepted(self) -> None:
        """What people said to go on after; what was read before has to be looked at again then."""
        accepted = Accepted.of(self._settings).offsets()
        if accepted != self._accepted:
            self._accepted, self._read = accepted, ()

    def _missed(self, source: SourceTable) -> list[str]:
        state = self._states[source.name]
        missed = missed_boundaries(source, self._calendar, state.closed, state.merged_ms)
        return missed_warnings(missed)

    def _pass(self, step: _Step) -> bool:
        """Take in one bounded set of records; False when there is nothing more to take in."""
        reached = self._next_offsets()
        due = self._intake.due(reached, step.refused, step.scale)
        self._note(step, due)
        if not due.pieces or due.pieces == self._read:
            return False
        try:
            with settings(self._spark, worth_compiling(sum(one.records for one in due.pieces))):
                scan = self._intake.scan(self._spark, due, self._sources, reached)
        except ChangeFileError as error:
            self._refuse(step, due.pieces, error)
            return True
        before = dict(self._states)
        try:
            self._take_in(step, scan)
        finally:
            scan.close()
        self._read = due.pieces
        stands = self._states == before
        if stands:
            step.scale *= 2
        # What is held grows no shorter by reading more behind it.
        return due.more and not step.problems and not (stands and any(self._held.values()))

    def _note(self, step: _Step, due: Due) -> None:
        """Keep, once a step, why an instance cannot be read; the others go on."""
        for instance, problem in due.problems.items():
            if instance not in step.unreadable:
                step.unreadable.add(instance)
                step.problems.append(problem)

    def _refuse(self, step: _Step, chosen: Sequence[Piece], error: ChangeFileError) -> None:
        """Go on without the file and without what comes after it in the same topic."""
        bad = next(piece for piece in chosen if isinstance(piece, ChangeFile) and piece.path == error.path)
        step.refused[bad.instance] = bad.first_offset
        step.problems.append(error)

    def _take_in(self, step: _Step, scan: Scan) -> None:
        step.problems += scan.gaps.values()
        step.warnings += self._unrouted.keep(scan)
        step.warnings += DeadLetters(self._settings.warehouse).keep_messages(scan, self._orphaned(scan))
        watched = watch_scan(scan, self._sources, self._states, self._next_offsets(), self._policy, self._accepted)
        step.beats |= watched.order.newest_beats
        plans = {source.name: self._plan(source, watched) for source in self._sources}
        self._held = {source.name: watched.held(source) for source in self._sources}
        self._waiting = {name: plan.waiting for name, plan in plans.items()}
        step.warnings += [text for plan in plans.values() for text in unnamed_warnings(plan.unnamed)]
        with ThreadPoolExecutor(THREADS, thread_name_prefix="ingest") as pool:
            running = {
                name: pool.submit(self._tables[name].run, scan, watched.order, plan.batches, self._states[name])
                for name, plan in plans.items()
                if plan.batches
            }
        for name, future in running.items():
            self._settle(step, name, future)

    def _orphaned(self, scan: Scan) -> list[MalformedDeclaration]:
        """Unreadable schema changes at which no table stops: nobody captures the table that they are of."""
        return [
            each
            for each in scan.summary.malformed
            if not any(source.holds(each.instance, name) for source in self._sources for name in each.physical)
        ]

    def _plan(self, source: SourceTable, watched: Watched) -> Plan:
        state = self._states[source.name]
        streams = watched.streams(source, state)
        reached = max((mark.newest_ms for one in streams for mark in one.marks), default=0)
        boundaries = open_boundaries(source, self._calendar, state.closed, state.merged_ms, reached)
        waits = [*state.waits, *waits_of(source, boundaries)]
        return make_plan(streams, [*boundaries, *waits], max(state.closed.values(), default=None))

    def _settle(self, step: _Step, name: str, future: Future[TableOutcome]) -> None:
        """Write the names that a table's commits give, and remember where it stands now."""
        try:
            outcome = future.result()
        except Exception as error:  # noqa: BLE001 - the boundary of a table: others go on whatever it was
            known = error if isinstance(error, TidemarkError) else UnexpectedTableError.of(name, error)
            step.problems.append(known)
            # What it committed before it stopped is in its log: look there the next time.
            self._states.pop(name)
            self._load_states(step)
            return
        crash_point("ingest.before_names")
        for version, state in outcome.committed:
            commit = Commit(version, utc_now(), state)
            step.closed += name_commit(self._registry, self._settings.warehouse / name, commit)
            step.changes[name] += state.counts["changes"]
            step.late[name] += state.counts["late"]
            self._versions[name] = version
        if any(state.closes for _, state in outcome.committed):
            keep_newest(self._registry, outcome.table)
        crash_point("ingest.after_names")
        self._states[name] = outcome.state
        step.commits += len(outcome.committed)
        step.warnings += outcome.warnings

    def _next_offsets(self) -> dict[str, int]:
        """Per instance the lowest offset that some table has not seen."""
        return {
            instance: min(
                self._states[source.name].offsets.get(topic_of(instance), 0)
                for source in self._sources
                if instance in source.instances
            )
            for instance in instances_of(self._sources)
        }

    def _findings(self) -> tuple[Finding, ...]:
        return tuple(
            sorted({one for all_ in self._held.values() for one in all_}, key=lambda one: (one.instance, one.offset))
        )

    def _report(self, step: _Step, seconds: float) -> IngestReport:
        waiting = tuple(
            snapshot_waiting(one, self._states[name].watermarks, self._held.get(name, ()))
            for name, all_ in self._waiting.items()
            for one in all_
        )
        return IngestReport(
            changes=dict(step.changes),
            late={name: count for name, count in step.late.items() if count},
            commits=step.commits,
            closed=tuple(step.closed),
            waiting=waiting,
            warnings=tuple(step.warnings),
            seconds=seconds,
            held=self._findings(),
        )
