"""The late changes of a table with restated snapshots, in a Delta table beside it: unmerged rows.

A version cannot be changed, and Delta has no branches. So a restated snapshot is its version and the late changes that
belong to it (`late.snapshot_with_late_changes`). Each late change is stored once, however many snapshots it belongs to.

Late changes are written before the commit that merges them, with its number. If a process dies between the two, rows of
a missing commit are left. No tag refers to them, and the next step removes them first.

This table's commits have numbers too, which begin with the writer's fencing token. So a writer that was fenced in the
middle of a step can neither write rows here nor remove any. Its number is below the newest, or its removal is based on
a version before the new writer's.
"""

from collections.abc import Mapping
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from tidemark.capture.commits.capture_lease import CaptureLease
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.errors import FencedWriteError
from tidemark.capture.heartbeat.slow_clock import Spans
from tidemark.capture.schema.column_names import META_COLUMNS
from tidemark.capture.schema.table_evolution import ensure_table
from tidemark.capture.snapshots.late.late_minutes import is_dated
from tidemark.delta.commit_info import Transaction, commit_with
from tidemark.delta.delta_rs_table import applied_transaction, table_exists
from tidemark.delta.empty_commit import commit_nothing
from tidemark.delta.merge_target import MergeTarget
from tidemark.delta.open_table import open_table
from tidemark.delta.widen_columns import widen_columns
from tidemark.system.crash_points import crash_point
from tidemark.system.table_location import TableLocation

FOLDER = "_late_changes"

_OWN_TYPES = {"_op": "STRING", "_row": "INT", "_batch": "INT", "_event_ms": "BIGINT", "_tagged_ms": "BIGINT"}
"""Columns beside the lake's: `_batch` is the number of the table's commit, `_tagged_ms` the end (epoch ms) of the
newest slice that was tagged before it."""
_APP: Final = "tidemark.late_changes"
_NUMBERS: Final = 1 << 32
"""The number of commits for each fencing token."""


def late_path(warehouse: TableLocation, table: str) -> TableLocation:
    """The location of a captured table's late changes, if it has any."""
    return warehouse / FOLDER / table


class LateChanges:
    """The late changes of one table. `spark` is a session of the caller's own."""

    def __init__(self, spark: SparkSession, warehouse: TableLocation, table: str) -> None:
        self._spark = spark
        self._warehouse = warehouse
        self._path = late_path(warehouse, table)

    def keep(self, rows: DataFrame, state: CommitState, tagged_ms: int, slow: Mapping[str, Spans]) -> None:
        """Write the late rows among a commit's changes (`table_changes_by_batch`), in one commit.

        `state` is the state of the merging commit. Rows of an earlier attempt were removed (`forget_uncommitted`).
        Raises FencedWriteError.
        """
        # Own columns come first: Delta keeps bounds of the first 32 columns, and `forget_uncommitted` reads those of
        # `_batch`.
        columns = state.columns.kinds
        names = [*_OWN_TYPES, *columns, *META_COLUMNS]
        ensure_table(self._spark, MergeTarget(self._path, names, (), "_offset", None, None), {**_OWN_TYPES, **columns})
        told = {
            "_row": sf.col("_row").cast("int"),
            "_batch": sf.lit(state.batch),
            "_tagged_ms": sf.lit(tagged_ms).cast("bigint"),
        }
        late = rows.where("_late AND NOT _bad").where(is_dated(slow)).withColumns(told).select(*names)
        transaction = self._next(state)
        writer = late.coalesce(1).write.format("delta").mode("append")
        commit_with(self._spark, transaction, lambda: writer.save(str(self._path)))
        if self._number() != transaction.number:
            raise FencedWriteError.of(self._path, transaction.number // _NUMBERS, self._number() // _NUMBERS)
        crash_point("late_changes.stored")

    def widen(self, wider: Mapping[str, tuple[str, str]], batch: int) -> None:
        """Widen columns as the table's are widened in its commit `batch` (`delta.widen_columns`)."""
        if table_exists(self._path):
            widen_columns(self._spark, self._path, wider, Transaction(FOLDER, batch, ""))

    def forget_uncommitted(self, state: CommitState) -> None:
        """Remove rows of commits after that of `state`, which were never made.

        Raises FencedWriteError.
        """
        if not table_exists(self._path):
            return
        table = open_table(self._path)
        files = pa.table(table.get_add_actions(flatten=True))
        newest = pc.max(files["max._batch"]).as_py() if files.num_rows else None
        # This check comes after the table was opened: another capture takes the lease before it writes.
        self._refuse_fenced(state)
        if newest is not None and newest > state.late_batch:
            table.delete(f"_batch > {state.late_batch}")

    def take_over(self, state: CommitState) -> None:
        """Refuse all later writes with an older lease. Raises FencedWriteError."""
        if table_exists(self._path) and self._number() // _NUMBERS < _token(state):
            commit_nothing(self._spark, self._path, self._next(state))

    def _next(self, state: CommitState) -> Transaction:
        self._refuse_fenced(state)
        return Transaction(_APP, max(self._number() + 1, _token(state) * _NUMBERS), "")

    def _refuse_fenced(self, state: CommitState) -> None:
        newest = CaptureLease.newest(self._warehouse)
        if newest is not None and newest.fencing_token > _token(state):
            raise FencedWriteError.of(self._path, _token(state), newest.fencing_token)

    def _number(self) -> int:
        """The number of the newest commit."""
        return max(applied_transaction(self._path, _APP)[1] or 0, 0)


def _token(state: CommitState) -> int:
    return state.lease.fencing_token if state.lease else 0
