"""Replays the dead-letter queue after a cause was corrected: a setting, an adapter or a column's type.

A letter that is readable now has the effect that it would have had when it came. Its topic is read again, from the
letter up to its table's position, into today's columns. For each key among the letters, the newest change is merged, so
later changes and deletes stay. Tagged snapshots stay unchanged, as with any late change. A letter that is still
unreadable, or is no longer in the topic, stays a dead letter.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from tidemark.capture.apply.columns_by_batch import columns_by_batch
from tidemark.capture.apply.table_changes_by_batch import held_changes
from tidemark.capture.binlog.accepted_findings import AcceptedFindings
from tidemark.capture.binlog.gtid_policy import SPARSE
from tidemark.capture.commits.capture_lease import CaptureLease
from tidemark.capture.commits.commit_state import CommitState, last_commit
from tidemark.capture.commits.foreign_writes import write_of_others
from tidemark.capture.errors import ReplayUnreadableError
from tidemark.capture.operations.instance_leases import taking_in
from tidemark.capture.planning.commit_planner import PlannedBatch, Span
from tidemark.capture.planning.continuity_of_scan import BinlogOrder, judge_binlogs
from tidemark.capture.schema.table_evolution import ensure_table, merge_target
from tidemark.capture.source.dead_letters import DeadLetter, DeadLetters
from tidemark.capture.source.intake import Due
from tidemark.capture.source.kafka.intake import KafkaIntake, OffsetRange
from tidemark.capture.source.scan import Scan
from tidemark.capture.source_table import SourceTable, topic_of
from tidemark.delta.delta_rs_table import current_version
from tidemark.delta.merge import merge_changes
from tidemark.spark.held_rows import held
from tidemark.state_store.database import Database
from tidemark.system.settings import Settings

Place = tuple[int, int]
"""Offset and row."""


@dataclass(frozen=True)
class Replayed:
    """The result for a letter: `problem` is why it stays dead, None if it was merged."""

    letter: DeadLetter
    problem: str | None


class DeadLetterReplay:
    """Replays records from `intake` into the tables of `sources`."""

    def __init__(
        self,
        spark: SparkSession,
        settings: Settings,
        sources: Sequence[SourceTable],
        intake: KafkaIntake,
        database: Database,
    ) -> None:
        # A separate session, because commit metadata is a session setting.
        self._spark = spark.newSession()
        self._settings = settings
        self._sources = tuple(sources)
        self._intake = intake
        self._database = database

    def run(self, now: datetime) -> tuple[Replayed, ...]:
        """Replay every waiting letter, and mark the merged ones with `now`.

        If the process dies before the mark, they are replayed again, which changes nothing. Raises AlreadyRunningError,
        FencedCaptureError, ForeignWriteError, BrokerDownError, TopicMissingError, ColumnTypeError.
        """
        letters = DeadLetters(self._settings.warehouse)
        by_topic: dict[str, list[DeadLetter]] = defaultdict(list)
        for letter in letters.waiting():
            by_topic[letter.topic].append(letter)
        with taking_in(self._settings, self._database, self._sources):
            lease = CaptureLease.obtain(self._settings, self._database, now)
            results = [result for topic, waiting in by_topic.items() for result in self._topic(topic, waiting, lease)]
            letters.note_replayed([replayed.letter for replayed in results if replayed.problem is None], now)
        return tuple(results)

    def _topic(self, topic: str, waiting: Sequence[DeadLetter], lease: CaptureLease) -> list[Replayed]:
        instance = topic.removeprefix(topic_of(""))
        tables = {source.name: source for source in self._sources if instance in source.instances}
        states = {name: replace(self._state(name), lease=lease) for name in tables}
        span = Span(waiting[0].offset, max((state.offsets.get(topic, 0) for state in states.values()), default=0))
        problem = self._intake.due({instance: span.start}, {}, 1).problems.get(instance)
        if problem is not None:
            return [Replayed(letter, str(problem)) for letter in waiting]
        if span.end <= span.start:
            return [Replayed(letter, "no table of its instance has been read so far") for letter in waiting]
        tables_now = [(tables[name], state) for name, state in states.items()]
        try:
            effective = self._read_again(instance, span, tables_now, waiting)
        except ReplayUnreadableError as error:
            return [Replayed(letter, str(error)) for letter in waiting]
        return [
            Replayed(letter, None if (letter.offset, letter.row) in effective else letter.reason) for letter in waiting
        ]

    def _state(self, name: str) -> CommitState:
        path = self._settings.warehouse / name
        last = last_commit(path)
        if last is None:
            return CommitState()
        foreign = write_of_others(path, last, current_version(path) or 0)
        if foreign is not None:
            # A commit on top of the foreign write would hide it.
            raise foreign
        return last.state

    def _read_again(
        self,
        instance: str,
        span: Span,
        tables: Sequence[tuple[SourceTable, CommitState]],
        waiting: Sequence[DeadLetter],
    ) -> set[Place]:
        due = Due([OffsetRange(instance, span.start, span.end)])
        scan = self._intake.scan(self._spark, due, self._sources, {})
        places = [(letter.offset, letter.row) for letter in waiting]
        try:
            _check_others(scan, topic_of(instance), places)
            order = judge_binlogs(scan.summary, {}, SPARSE, AcceptedFindings(self._database).offsets())
            return {place for table in tables for place in self._table(*table, scan, order, places)}
        finally:
            scan.close()

    def _table(
        self, table: SourceTable, state: CommitState, scan: Scan, order: BinlogOrder, places: Sequence[Place]
    ) -> set[Place]:
        """Merge the newest changes of the letters' keys. Returns the places of readable letters."""
        spans = {name: Span(0, state.offsets.get(topic_of(name), 0)) for name in table.instances}
        batch = PlannedBatch(spans, {}, (), None)
        (columns,) = columns_by_batch(table, scan, order, [batch], state)
        if not columns:
            return set()
        changes = held_changes(self._spark, scan, order, table, columns, [batch])
        there = self._spark.createDataFrame(places, "_offset BIGINT, _row INT")
        readable = changes.where("NOT _bad").join(sf.broadcast(there), ["_offset", "_row"], "left_semi")
        readable_places = {(row["_offset"], row["_row"]) for row in readable.select("_offset", "_row").collect()}
        if readable_places:
            keys = readable.select("_shard", *table.key).distinct()
            newest = held(changes.where("_last").join(keys, ["_shard", *table.key], "left_semi"))
            self._merge(table, replace(state, columns=columns), newest)
        return readable_places

    def _merge(self, table: SourceTable, state: CommitState, newest: DataFrame) -> None:
        target = merge_target(table, state.columns.kinds, self._settings.warehouse)
        ensure_table(self._spark, target, state.columns.kinds)
        after = state.next(changes=newest.count(), late=0).with_identity(table.name)
        merge_changes(newest.select("_op", *target.columns), target, None, after.transaction(table.name))


def _check_others(scan: Scan, topic: str, places: Collection[Place]) -> None:
    """Raise ReplayUnreadableError if other records are unreadable now. They may delete what a letter would restore."""
    if not scan.poison:
        return
    unread = scan.records.where("problem IS NOT NULL").select("offset", "row").collect()
    others = sorted({row["offset"] for row in unread if (row["offset"], row["row"]) not in places})
    if others:
        raise ReplayUnreadableError.of(topic, others[0], len(others))
