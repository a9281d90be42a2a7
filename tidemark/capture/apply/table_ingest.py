"""Merges the planned batches of one table and commits them one after the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from tidemark.capture.apply.apply_unlogged_effects import apply_effect, effects_by_batch
from tidemark.capture.apply.columns_by_batch import columns_by_batch, of_one_type
from tidemark.capture.apply.rows_by_minute import rows_by_minute
from tidemark.capture.apply.table_changes_by_batch import BatchStats, batch_stats, held_changes
from tidemark.capture.binlog.finding import FindingKind
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.commits.foreign_writes import write_beneath
from tidemark.capture.commits.holds import HoldEvent, Holds, holds_at
from tidemark.capture.errors import ChangeValueError, ColumnTypeError, ForeignWriteError
from tidemark.capture.initial_load.load_events import pending_loads_at
from tidemark.capture.planning.commit_planner import PlannedBatch, fold_empty
from tidemark.capture.planning.continuity_of_scan import BinlogOrder
from tidemark.capture.planning.cuts_at_unlogged_effects import cut_at
from tidemark.capture.planning.slice_ends import waits_of
from tidemark.capture.planning.table_loads import loads_of_table
from tidemark.capture.planning.unlogged_effects import RowEffect, table_effects
from tidemark.capture.schema.table_columns import TableColumns
from tidemark.capture.schema.table_evolution import ensure_table, merge_target
from tidemark.capture.snapshots.late.late_change_table import LateChanges
from tidemark.capture.snapshots.late.late_minutes import late_minutes
from tidemark.capture.snapshots.late.late_summary import LateSummary
from tidemark.capture.source.dead_letters import DeadLetters
from tidemark.capture.source.scan import Scan
from tidemark.capture.source_table import SourceTable, topic_of
from tidemark.delta.delta_rs_table import table_exists
from tidemark.delta.empty_commit import commit_nothing
from tidemark.delta.merge import merge_changes
from tidemark.delta.widen_columns import widen_columns
from tidemark.dependency_model.time import Calendar
from tidemark.spark.temporary_settings import settings, worth_compiling
from tidemark.system.crash_points import crash_point
from tidemark.system.table_location import TableLocation

_OTHER_FORM = (
    "a DECIMAL came as a number, or a DATETIME in milliseconds: set decimal.handling.mode=string and "
    "time.precision.mode=adaptive_time_microseconds for the connector, restart it, then reload the table "
    "(tidemark capture reload)"
)


@dataclass(frozen=True)
class TableOutcome:
    """The commits of a table as (version, state) in order, and warnings as text.

    `state` may be past the last commit: batches without changes move it on without a commit, and are read again after a
    restart.
    """

    table: SourceTable
    state: CommitState
    committed: tuple[tuple[int, CommitState], ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Work:
    """The contents of some batches: changes, statistics of each shard, and unlogged effects by batch.

    `minutes` holds, by batch, the net number of rows of each minute of the counted column.
    """

    changes: DataFrame
    stats: Sequence[BatchStats]
    effects: Mapping[int, RowEffect]
    minutes: Mapping[int, Mapping[int, int]]

    def stats_of(self, index: int) -> Sequence[BatchStats]:
        """The statistics of one batch."""
        return [stat for stat in self.stats if stat.batch == index]

    def is_in(self, index: int) -> bool:
        """Whether the batch changes rows."""
        return index in self.effects or any(stat.batch == index for stat in self.stats)


class TableIngest:
    """Ingests one table, in one thread at a time.

    It has its own session, because commit metadata is a session setting.
    """

    def __init__(self, spark: SparkSession, table: SourceTable, warehouse: TableLocation, calendar: Calendar) -> None:
        self._spark = spark.newSession()
        # The merged rows are held already (below), so a second copy has no use.
        self._spark.conf.set("spark.databricks.delta.merge.materializeSource", "none")
        self._table = table
        self._warehouse = warehouse
        self._calendar = calendar
        self._kept = LateChanges(self._spark, warehouse, table.name)
        self._version: int | None = None

    def run(
        self,
        scan: Scan,
        order: BinlogOrder,
        batches: Sequence[PlannedBatch],
        state: CommitState,
        version: int | None = None,
    ) -> TableOutcome:
        """Merge `batches`, each in one commit with its offsets, watermarks, counts and tags.

        `version` is the table's current version. Raises ColumnTypeError, ChangeValueError, and ForeignWriteError if
        another program wrote meanwhile. Batches that were committed before the error stay, and are not merged again.
        """
        self._version = version
        with settings(self._spark, worth_compiling(scan.summary.records(self._table.holds))):
            return self._run(scan, order, batches, state)

    def _run(self, scan: Scan, order: BinlogOrder, batches: Sequence[PlannedBatch], state: CommitState) -> TableOutcome:
        effects = table_effects(self._table, scan, order, state)
        order = replace(
            order,
            loads=loads_of_table(self._table, scan.summary, state, order.loads),
            holds=effects.holds,
        )
        batches = cut_at(batches, (effect[:2] for effect in effects.rows))
        columns = columns_by_batch(self._table, scan, order, batches, state)
        self._refuse_quarantined_key(columns[-1])
        if not columns[-1]:
            self._refuse_undeclared(scan, batches)
            return TableOutcome(self._table, state_behind(state, batches[-1], TableColumns(), order))
        outcome = TableOutcome(self._table, state, warnings=self._left_out(state.columns, columns[-1]))
        for part in of_one_type(columns):
            done = self._run_part(scan, order, batches[part], columns[part], outcome.state, effects.rows)
            outcome = replace(
                done, committed=outcome.committed + done.committed, warnings=outcome.warnings + done.warnings
            )
        return outcome

    def _run_part(
        self,
        scan: Scan,
        order: BinlogOrder,
        batches: Sequence[PlannedBatch],
        columns: Sequence[TableColumns],
        state: CommitState,
        effects: Sequence[RowEffect],
    ) -> TableOutcome:
        """Merge batches between which no column becomes wider."""
        changes, stats = self._read(scan, order, batches, columns[-1])
        warnings = self._quarantine(scan, changes, stats)
        late = self._late(changes, stats, state, order)
        state, widened = self._widen(state, columns[0])
        work = _Work(changes, stats, effects_by_batch(effects, batches), self._minutes(changes, stats))
        state, committed = self._commit_all(work, columns, batches, state, order, late)
        warnings += [*self._late_warnings(scan, stats), *self._restated_warnings(committed)]
        return TableOutcome(self._table, state, (*widened, *committed), tuple(warnings))

    def _read(
        self, scan: Scan, order: BinlogOrder, batches: Sequence[PlannedBatch], columns: TableColumns
    ) -> tuple[DataFrame, list[BatchStats]]:
        """The changes of the batches and their statistics. No query runs if the scan has no records of the table."""
        if not scan.summary.records(self._table.holds):
            return self._spark.range(0).toDF("_batch"), []
        changes = held_changes(self._spark, scan, order, self._table, columns, batches)
        return changes, batch_stats(changes)

    def _minutes(self, changes: DataFrame, stats: Sequence[BatchStats]) -> Mapping[int, Mapping[int, int]]:
        counted = self._table.counted
        return rows_by_minute(changes, *counted) if counted and stats else {}

    def _late(
        self, changes: DataFrame, stats: Sequence[BatchStats], state: CommitState, order: BinlogOrder
    ) -> LateSummary:
        """The late changes of this pass. Also removes late changes that an unfinished commit left behind."""
        if self._keeps_late(state):
            self._kept.forget_uncommitted(state)
        if not any(stat.late for stat in stats):
            return LateSummary()
        slow = order.slow_spans(state.behind)
        return LateSummary(late_minutes(changes, slow), slow)

    def _keeps_late(self, state: CommitState) -> bool:
        """Whether late changes go into tagged snapshots, also for entities that were declared to wait earlier."""
        return bool(self._table.restated or self._table.lateness or state.waits)

    def _widen(self, state: CommitState, columns: TableColumns) -> tuple[CommitState, list[tuple[int, CommitState]]]:
        """Widen the lake's columns to the types of `columns`, in a commit that records it for later restarts."""
        wider = columns.wider_columns_since(state.columns)
        path = self._warehouse / self._table.name
        if not wider or not table_exists(path):
            return state, []
        state = replace(state.next(changes=0, late=0), columns=columns, follows=self._version).with_identity(
            self._table.name
        )
        crash_point("ingest.before_widening")
        self._kept.widen(wider, state.batch)
        version = widen_columns(self._spark, path, wider, state.transaction(self._table.name))
        crash_point("ingest.after_widening")
        return state, [(self._made(version, state), state)]

    def _commit_all(
        self,
        work: "_Work",
        columns: Sequence[TableColumns],
        batches: Sequence[PlannedBatch],
        state: CommitState,
        order: BinlogOrder,
        late: LateSummary,
    ) -> tuple[CommitState, list[tuple[int, CommitState]]]:
        committed: list[tuple[int, CommitState]] = []
        before = (state.columns, *columns)
        changed = [work.is_in(index) or columns[index] != before[index] for index in range(len(batches))]
        for index, batch in fold_empty(batches, changed):
            after = state_behind(state, batch, columns[index], order)
            is_told = (
                work.is_in(index)
                or batch.closes
                or batch.settles
                or after.initial_load_pending != state.initial_load_pending
                or after.holds != state.holds
            )
            if not columns[index] or not is_told:
                state = after
                continue
            earlier, after = state, next_state(self._table, state, batch, work.stats_of(index), columns[index], order)
            after = replace(after, follows=self._version, minutes=work.minutes.get(index, {}))
            state = late.add_to_state(index, earlier, after, self._table, self._calendar).with_identity(
                self._table.name
            )
            if state.restates:
                rows = work.changes.where(sf.col("_batch") == index)
                self._kept.keep(rows, state, earlier.tagged_until or 0, late.slow)
            committed.append((self._commit(work, index, state), state))
        return state, committed

    def _commit(self, work: "_Work", index: int, state: CommitState) -> int:
        target = merge_target(self._table, state.columns.kinds, self._warehouse)
        ensure_table(self._spark, target, state.columns.kinds)
        transaction = state.transaction(self._table.name)
        crash_point("ingest.before_commit")
        stats, effect = work.stats_of(index), work.effects.get(index)
        if effect is not None:
            version = apply_effect(self._spark, target.path, effect, state.columns, transaction)
        elif stats:
            rows = work.changes.where((sf.col("_batch") == index) & sf.col("_last")).select("_op", *target.columns)
            version = merge_changes(rows, target, _partitions(stats), transaction).version
        else:
            version = commit_nothing(self._spark, target.path, transaction)
        crash_point("ingest.after_commit")
        return self._made(version, state)

    def _made(self, version: int, state: CommitState) -> int:
        """The version of a new commit, on which the next one is planned. Raises ForeignWriteError."""
        foreign = write_beneath(self._warehouse / self._table.name, version, state.follows)
        if foreign is not None:
            raise ForeignWriteError.beneath(self._table.name, version, *foreign)
        self._version = version
        return version

    def _refuse_undeclared(self, scan: Scan, batches: Sequence[PlannedBatch]) -> None:
        for (instance, physical), offset in scan.summary.first_changes.items():
            if self._table.holds(instance, physical or "") and any(
                offset in batch.spans[instance] for batch in batches
            ):
                raise ColumnTypeError.undeclared(self._table.name, scan.place(instance, offset))

    def _quarantine(self, scan: Scan, changes: DataFrame, stats: Sequence[BatchStats]) -> list[str]:
        """Keeps changes with unfit values in the dead-letter queue, if the source cannot be corrected.

        Returns warnings.
        """
        if scan.poison is None:
            self._refuse_bad(scan, stats)
            return []
        if any(stat.bad for stat in stats):
            bad = changes.where("_bad").select("_shard", "_offset", "_row").distinct()
            DeadLetters(self._warehouse).keep_changes(scan, self._table, bad)
        return [
            f"{stat.shard}: {stat.bad} changes with a value that does not fit its column's type, the first at "
            f"{scan.place(_instance(stat.shard), stat.first_bad)}: kept in the dead-letter queue, see tidemark dlq list"
            for stat in stats
            if stat.first_bad is not None
        ]

    def _refuse_quarantined_key(self, columns: TableColumns) -> None:
        partition_by = [self._table.partition_by] if self._table.partition_by else []
        for name in (*self._table.key, *partition_by):
            if name in columns.quarantined:
                raise ColumnTypeError.unknown(self._table.name, "", columns.quarantined[name])

    def _left_out(self, before: TableColumns, columns: TableColumns) -> tuple[str, ...]:
        """One warning for each column that the lake newly leaves out."""
        new = [words for name, words in columns.quarantined.items() if name not in before.quarantined]
        return tuple(
            f"{self._table.name}: the column {words} is quarantined, because the lake lacks its type; others are merged"
            for words in new
        )

    def _refuse_bad(self, scan: Scan, stats: Sequence[BatchStats]) -> None:
        for stat in stats:
            if stat.first_bad is not None:
                place = scan.place(_instance(stat.shard), stat.first_bad)
                raise ChangeValueError.of(stat.shard, place, f"record at offset {stat.first_bad}")

    def _late_warnings(self, scan: Scan, stats: Sequence[BatchStats]) -> list[str]:
        return [
            f"{stat.shard}: {stat.late} late change{'s' * (stat.late > 1)}, the first at "
            f"{scan.place(_instance(stat.shard), stat.first_late)}: the snapshot of that time was tagged before"
            f"{'' if self._table.restated or self._table.lateness else ', the next one has the change'}"
            for stat in stats
            if stat.first_late is not None
        ]

    def _restated_warnings(self, committed: Sequence[tuple[int, CommitState]]) -> list[str]:
        return [
            f"{self._table.name}: late changes of commit {state.batch} were added to snapshots that were restated or "
            f"waited for them: {len(state.restates)}, the first {state.restates[0].entity} {state.restates[0].slice}"
            for _, state in committed
            if state.restates
        ]


def next_state(
    table: SourceTable,
    state: CommitState,
    batch: PlannedBatch,
    stats: Sequence[BatchStats],
    columns: TableColumns,
    order: BinlogOrder,
) -> CommitState:
    """The state in a commit of `batch`. Its snapshots wait for late changes as long as is declared now."""
    newest = {stat.shard: max(stat.newest_ms, state.watermarks.get(stat.shard, 0)) for stat in stats}
    after = state_behind(state, batch, columns, order)
    holds = after.holds
    for event in (*_quarantined(stats), *_altered(stats, state.holds)):
        holds = holds.after(event)
    return replace(
        after,
        holds=holds,
        batch=state.batch + 1,
        watermarks={**after.watermarks, **newest},
        counts={
            "changes": sum(stat.changes for stat in stats),
            "late": sum(stat.late for stat in stats),
            **{stat.shard: stat.changes for stat in stats},
        },
        closes=tuple(replace(slice_end, late_ms=table.lateness.get(slice_end.entity, 0)) for slice_end in batch.closes),
        restates=(),
        settles=batch.settles,
        waits=tuple(
            slice_end for slice_end in (*state.waits, *waits_of(table, batch.closes)) if slice_end not in batch.settles
        ),
        closed={**state.closed, **{slice_end.entity: slice_end.end_ms for slice_end in sorted(batch.closes)}},
    )


def state_behind(state: CommitState, batch: PlannedBatch, columns: TableColumns, order: BinlogOrder) -> CommitState:
    """The state after a batch that did not change the table."""
    read = {name: order.progress_at(name, span.end, state.positions.get(name)) for name, span in batch.spans.items()}
    starts = {name: span.start for name, span in batch.spans.items()}
    ends = {name: span.end for name, span in batch.spans.items()}
    loads = [event for event in order.loads if event.offset >= batch.spans[event.instance].start]
    beats = {name: order.beat_at(name, span.end, state.beats.get(name)) for name, span in batch.spans.items()}
    behind = {
        name for name, span in batch.spans.items() if order.is_behind_at(name, span.end, before=name in state.behind)
    }
    return replace(
        state,
        offsets={topic_of(instance): span.end for instance, span in batch.spans.items()},
        watermarks={**state.watermarks, **batch.watermarks},
        columns=columns,
        positions={**state.positions, **{name: progress for name, progress in read.items() if progress is not None}},
        beats={**state.beats, **{name: beat for name, beat in beats.items() if beat is not None}},
        behind=tuple(sorted(behind)),
        initial_load_pending=pending_loads_at(state.initial_load_pending, loads, ends),
        holds=holds_at(state.holds.without(order.accepted), order.holds, starts, ends),
    )


def _quarantined(stats: Sequence[BatchStats]) -> list[HoldEvent]:
    """A change that was not merged holds back tags until a user accepts that it is missing."""
    return [
        HoldEvent(
            _instance(stat.shard),
            stat.first_bad,
            stat.shard,
            "held",
            FindingKind.QUARANTINED,
            f"{stat.bad} in the dead-letter queue (tidemark dlq list)",
        )
        for stat in stats
        if stat.first_bad is not None
    ]


def _altered(stats: Sequence[BatchStats], holds: Holds) -> list[HoldEvent]:
    """A value in the form of another connector setting is merged, but holds back tags until its shard is reloaded."""
    kind = FindingKind.VALUES_ALTERED
    held = {hold.shard for hold in holds.open if hold.kind is kind}
    return [
        HoldEvent(_instance(stat.shard), stat.first_altered, stat.shard, "held", kind, _OTHER_FORM)
        for stat in stats
        if stat.first_altered is not None and stat.shard not in held
    ]


def _partitions(stats: Sequence[BatchStats]) -> frozenset[str | None] | None:
    """The partitions that the shards touch; None if one shard's are unknown."""
    known = [stat.partitions for stat in stats if stat.partitions is not None]
    return frozenset().union(*known) if len(known) == len(stats) else None


def _instance(shard: str) -> str:
    return shard.partition(".")[0]
