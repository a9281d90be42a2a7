"""The late changes of a table whose snapshots are restated, kept beside it: a Delta table of rows as they came.

A version cannot be changed and Delta has no branches. So a restated snapshot is its version and the late changes that
belong to it (`late.snapshot_with_late_changes`); these are kept here once, however many snapshots they belong to.

They are written before the commit that merges them and carry its number. A process that dies between the two leaves
rows of a commit that is not there: no tag refers to them, and the next step removes them first.

Its commits are numbered as well, from the writer's fencing token on. So who was fenced in the middle of a step writes
no row here, and removes none: its number is lower than the newest, or what it removes is of a version before the other.
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
"""Beside the lake's columns: `_batch` is the number of the table's commit, `_tagged_ms` the end (epoch ms) of the
newest slice that was tagged before it."""
_APP: Final = "tidemark.late_changes"
_NUMBERS: Final = 1 << 32
"""So many commits has each fencing token."""


def late_path(warehouse: TableLocation, table: str) -> TableLocation:
    """Where the late changes of a captured table are, if it has any."""
    return warehouse / FOLDER / table


class LateChanges:
    """Those of one table, in a session of its user's own."""

    def __init__(self, spark: SparkSession, warehouse: TableLocation, table: str) -> None:
        self._spark = spark
        self._warehouse = warehouse
        self._path = late_path(warehouse, table)

    def keep(self, rows: DataFrame, state: CommitState, tagged_ms: int, slow: Mapping[str, Spans]) -> None:
        """Write the late ones among a commit's changes (`changes.table_changes`), in one commit of their own.

        `state` is that of the commit. What an earlier attempt of it wrote is gone (`forget_uncommitted`).
        Raises FencedWriteError.
        """
        # Its own columns first: Delta keeps bounds of the first 32, and `_forget` looks at those of `_batch`.
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
        """Give columns the types that the table's get with its commit `batch` (`delta.widen_columns`)."""
        if table_exists(self._path):
            widen_columns(self._spark, self._path, wider, Transaction(FOLDER, batch, ""))

    def forget_uncommitted(self, state: CommitState) -> None:
        """Remove what was written for commits after that of `state`, which were never made.

        Raises FencedWriteError.
        """
        if not table_exists(self._path):
            return
        table = open_table(self._path)
        files = pa.table(table.get_add_actions(flatten=True))
        newest = pc.max(files["max._batch"]).as_py() if files.num_rows else None
        # What another capture writes from here on is not in what was opened, and before it wrote it took the lease.
        self._refuse_fenced(state)
        if newest is not None and newest > state.late_batch:
            table.delete(f"_batch > {state.late_batch}")

    def take_over(self, state: CommitState) -> None:
        """Let nobody with an older lease write here any more. Raises FencedWriteError."""
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
        """That of the newest commit."""
        return max(applied_transaction(self._path, _APP)[1] or 0, 0)


def _token(state: CommitState) -> int:
    return state.lease.fencing_token if state.lease else 0
